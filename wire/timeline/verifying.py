"""Recomputes releases: of the database, or of a directory that was dumped. Also takes a dumped release over as it was signed."""

import datetime as dt
from collections.abc import Callable, Iterator
from typing import Any

import orjson
import rfc8785

from wire.models import WireState
from wire.snapshots.signing import is_valid
from wire.timeline import canonical, counting, releasing
from wire.timeline.corpusfile import of
from wire.timeline.models import MODELS, Corpus, CorpusRelease
from wire.timeline.reading import RELEASE, TABLES, Problem, Refused, Written


def faults(corpus: Corpus) -> Iterator[str]:
    """A sentence for everything of a corpus that is not as it was released, oldest release first."""
    for model in MODELS.values():
        for row in model.objects.filter(corpus=corpus).exclude(since=None).iterator(2_000):
            if canonical.sha256(row.row) != row.sha256:
                yield f"{model._meta.verbose_name} {row.key} (release {row.since} on): its text does not have its hash."
    previous = None
    for release in corpus.releases.order_by("number"):
        if previous is None and release.number > 1 and release.previous_sha256:
            previous = release.previous_sha256  # of a restored corpus: what came before is elsewhere
        wrong = _wrong(corpus, release, previous or "")
        if wrong:
            yield f"Release {release.number}: {wrong}."
        previous = release.sha256


def _wrong(corpus: Corpus, release: CorpusRelease, previous: str) -> str:
    if release.previous_sha256 != previous:
        return "it does not link to the one before"
    manifest = releasing.manifest_of(corpus, release.number, previous, release.written, release.meta)
    if rfc8785.dumps(manifest).decode() != release.manifest or canonical.sha256(manifest) != release.sha256:
        return "its rows do not have its hash"
    if not is_valid(release.signature, release.sha256, release.public_key):
        return f"its signature is not that of key {release.key_id}"
    counted = counting.counts(corpus.pk, release.number, of(orjson.loads(release.written)))
    if counted != orjson.loads(release.counts):
        return "its statistics are not those of its rows"
    return ""


def faults_of_files(written: Written, key: str | None = None) -> Iterator[str]:
    """The same for a dumped directory; `key` is the public key (base64) that is trusted, else the one in release.json."""
    release = written.release
    if release is None:
        yield "There is no release.json, so nothing says what the files should be."
        return
    manifest = release.get("manifest")
    if not isinstance(manifest, dict) or canonical.sha256(manifest) != release.get("sha256"):
        yield "release.json: the manifest does not have the hash."
        return
    if not is_valid(str(release.get("signature")), str(release["sha256"]), key or str(release.get("public_key"))):
        yield "release.json: the signature is not that of the key."
    if canonical.sha256(written.corpus) != manifest.get("corpus_sha256"):
        yield "corpus.json is not what was released."
    if canonical.sha256(written.meta) != manifest.get("meta_sha256"):
        yield "A file's meta is not what was released."
    for table in TABLES:
        counted = canonical.table(canonical.sha256(row) for row in written.rows[table.name])
        if counted != manifest.get("tables", {}).get(table.name):
            yield f"{table.file}: {table.member} are not what was released."


def restored(corpus: Corpus, written: Written, told: Callable[[int], object]) -> CorpusRelease:
    """The draft of a corpus that is new here as the release that it was dumped from, with its number and signature.

    Raises: Refused for a dump that is not as it was signed.
    """
    if wrong := list(faults_of_files(written)):
        raise Refused([Problem(RELEASE, 0, message) for message in wrong])
    release: dict[str, Any] = written.release or {}
    try:
        number, at = int(release["number"]), dt.datetime.fromisoformat(release["released_at"])
        proof = {"key_id": str(release["key_id"]), "public_key": str(release["public_key"])}
    except (KeyError, ValueError, TypeError) as error:
        raise Refused([Problem(RELEASE, 0, f"{error} is missing or unreadable")]) from error
    if (release["manifest"].get("corpus"), release["manifest"].get("release")) != (corpus.slug, number):
        raise Refused([Problem(RELEASE, 0, "is of another corpus or release")])
    releasing.index(corpus, number, told)
    made = CorpusRelease.objects.create(
        corpus=corpus,
        number=number,
        released_at=at,
        note=release.get("note", ""),
        previous_sha256=release.get("previous_sha256") or "",
        sha256=release["sha256"],
        manifest=rfc8785.dumps(release["manifest"]).decode(),
        signature=release["signature"],
        **proof,
        written=corpus.written,
        meta=corpus.meta,
        counts=orjson.dumps(counting.counts(corpus.pk, number, of(orjson.loads(corpus.written)))).decode(),
    )
    Corpus.objects.filter(pk=corpus.pk).update(release=number)
    corpus.release = number
    WireState.raise_version()
    return made
