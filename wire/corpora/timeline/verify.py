"""Recomputes releases: of the database, or of a directory that was dumped. Also takes a dumped release over as it was signed."""

import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any, Final

import orjson
import rfc8785
from django.db import models

from wire.corpora.timeline import canonical_json, releases, statistics, store
from wire.corpora.timeline.corpus_config import parse_corpus_file
from wire.corpora.timeline.models import MODELS, Anchor, Corpus, CorpusRelease, Mention, Row
from wire.corpora.timeline.reader import RELEASE, TABLES, Problem, RefusedCorpus, Written
from wire.corpora.timeline.validation import key_of
from wire.publishing.signing import is_valid

# The table of what a row refers to, and the column that names the row.
REFERENCES: Final[dict[str, tuple[type[models.Model], str]]] = {
    "reports": (Anchor, "report_id"),
    "threads": (Mention, "thread_id"),
    "items": (Mention, "item_id"),
}
COLUMNS_OF_RELEASES: Final = {"id", "since", "until", "dropped", "number", "body", "corpus", "sha256", "position"}


def list_faults() -> Iterator[str]:
    """Yield a sentence for everything of any corpus that is not as it was released."""
    for corpus in Corpus.objects.order_by("slug"):
        newest = corpus.releases.order_by("number").last()
        if corpus.release != (newest.number if newest else 0):
            yield f"timeline_corpus {corpus.pk}: release is {corpus.release}, which is not its newest."
        if newest and corpus.name != orjson.loads(corpus.written).get("name", corpus.name):
            yield f"timeline_corpus {corpus.pk}: name is not that of its corpus.json."
        yield from (f"timeline {corpus.slug}: {fault}" for fault in faults(corpus))


def faults(corpus: Corpus) -> Iterator[str]:
    """Yield a sentence for everything of a corpus that is not as it was released, oldest release first."""
    for model in MODELS.values():
        for row in model.objects.filter(corpus=corpus).exclude(since=None).iterator(2_000):
            if canonical_json.sha256(row.row) != row.sha256:
                yield f"{model._meta.verbose_name} {row.key} (release {row.since} on): its text does not have its hash."
    for table, model in MODELS.items():
        yield from _check_columns(corpus, table, model)
    previous = None
    for release in corpus.releases.order_by("number"):
        if previous is None and release.number > 1 and release.previous_sha256:
            previous = release.previous_sha256  # of a restored corpus: what came before is elsewhere
        if wrong := _check_release(corpus, release, previous or ""):
            yield f"Release {release.number}: {wrong}."
        previous = release.sha256


def _check_columns(corpus: Corpus, table: str, model: type[Row]) -> Iterator[str]:
    """Yield a sentence for each released row whose columns, or the rows of its references, are not what its text says."""
    names = [field.attname for field in model._meta.concrete_fields if field.name not in COLUMNS_OF_RELEASES]
    last = 0
    rows = model.objects.filter(corpus=corpus).exclude(since=None).order_by("pk")
    while some := list(rows.filter(pk__gt=last)[: store.BATCH]):
        last = some[-1].pk
        stored = defaultdict[int, list[tuple[Any, ...]]](list)
        if table in REFERENCES:
            reference, column = REFERENCES[table]
            for one in reference._default_manager.filter(**{f"{column}__in": [row.pk for row in some]}).order_by("pk"):
                stored[getattr(one, column)].append(_values(one))
        for row in some:
            right = store.build_row(corpus, table, key_of(table, row.row), row.position, row.row, row.sha256)
            if wrong := [name for name in names if getattr(row, name) != getattr(right, name)]:
                yield f"{model._meta.db_table} {row.pk} ({row.key}): {', '.join(wrong)} is not what its text says."
            if table in REFERENCES and stored[row.pk] != [_values(one) for one in store.references_of(table, row.row, row.pk)]:
                yield f"{reference._meta.db_table} of {table} {row.key}: they are not what its text says."


def _values(one: models.Model) -> tuple[Any, ...]:
    return tuple(getattr(one, field.attname) for field in one._meta.concrete_fields if not field.primary_key)


def _check_release(corpus: Corpus, release: CorpusRelease, previous: str) -> str:
    """Return a sentence about what is wrong, "" if nothing is."""
    if release.previous_sha256 != previous:
        return "it does not link to the one before"
    manifest = releases.build_manifest(corpus, release.number, previous, release.written, release.meta)
    if rfc8785.dumps(manifest).decode() != release.manifest or canonical_json.sha256(manifest) != release.sha256:
        return "its rows do not have its hash"
    if not is_valid(release.signature, release.sha256, release.public_key):
        return f"its signature is not that of key {release.key_id}"
    counted = statistics.counts(corpus.pk, release.number, parse_corpus_file(orjson.loads(release.written)))
    if counted != orjson.loads(release.counts):
        return "its statistics are not those of its rows"
    return ""


def faults_of_files(written: Written, key: str | None = None) -> Iterator[str]:
    """Yield the same for a dumped directory; `key` is the public key (base64) that is trusted, else the one in release.json."""
    release = written.release
    if release is None:
        yield "There is no release.json, so nothing says what the files should be."
        return
    manifest = release.get("manifest")
    if not isinstance(manifest, dict) or canonical_json.sha256(manifest) != release.get("sha256"):
        yield "release.json: the manifest does not have the hash."
        return
    if not is_valid(str(release.get("signature")), str(release["sha256"]), key or str(release.get("public_key"))):
        yield "release.json: the signature is not that of the key."
    if canonical_json.sha256(written.corpus) != manifest.get("corpus_sha256"):
        yield "corpus.json is not what was released."
    if canonical_json.sha256(written.meta) != manifest.get("meta_sha256"):
        yield "A file's meta is not what was released."
    for table in TABLES:
        counted = canonical_json.table(canonical_json.sha256(row) for row in written.rows[table.name])
        if counted != manifest.get("tables", {}).get(table.name):
            yield f"{table.file}: {table.member} are not what was released."


def restore(corpus: Corpus, written: Written, progress: Callable[[int], object]) -> CorpusRelease:
    """Make the draft of a corpus that is new here the release that it was dumped from, with its number and signature.

    Raises: RefusedCorpus for a dump that is not as it was signed.
    """
    if wrong := list(faults_of_files(written)):
        raise RefusedCorpus([Problem(RELEASE, 0, message) for message in wrong])
    release: dict[str, Any] = written.release or {}
    try:
        number, at = int(release["number"]), dt.datetime.fromisoformat(release["released_at"])
        proof = {"key_id": str(release["key_id"]), "public_key": str(release["public_key"])}
    except (KeyError, ValueError, TypeError) as error:
        raise RefusedCorpus([Problem(RELEASE, 0, f"{error} is missing or unreadable")]) from error
    if (release["manifest"].get("corpus"), release["manifest"].get("release")) != (corpus.slug, number):
        raise RefusedCorpus([Problem(RELEASE, 0, "is of another corpus or release")])
    releases.index(corpus, number, progress)
    return releases.store_release(
        corpus,
        number,
        release["manifest"],
        released_at=at,
        note=release.get("note", ""),
        previous_sha256=release.get("previous_sha256") or "",
        sha256=release["sha256"],
        signature=release["signature"],
        **proof,
    )
