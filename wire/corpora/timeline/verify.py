"""Recomputes releases: of the database, or of a directory that was dumped. Also restores a dumped release as it was signed."""

import datetime as dt
from collections.abc import Iterator
from typing import Any, Final

import orjson
from django.db import models

from wire.corpora.timeline import omitted_names, releases, store
from wire.corpora.timeline.corpus_config import parse_corpus
from wire.corpora.timeline.corpus_files import RELEASE, TABLES, Problem, RefusedCorpus, Written
from wire.corpora.timeline.models import MODELS, Corpus, CorpusRelease, Row
from wire.corpora.timeline.validation import build_row_key
from wire.ops.doctor.finding import Finding, fail
from wire.publishing.signing import is_valid_signature
from wire.text.provenance_manifest import canonicalize_json, hash_json

RELATED: Final = {"reports": "anchors", "threads": "mentions", "items": "mentions"}  # rows that a table's rows refer to others by
COLUMNS_OF_RELEASES: Final = {"id", "since", "until", "dropped", "number", "body", "corpus", "sha256", "position"}


def list_faults() -> Iterator[str]:
    """Yield a sentence for everything of any corpus that is not as it was released."""
    for corpus in Corpus.objects.order_by("slug"):
        newest = corpus.releases.order_by("number").last()
        if corpus.release != (newest.number if newest else 0):
            yield f"timeline_corpus {corpus.pk}: release is {corpus.release}, which is not its newest."
        if newest and corpus.name != orjson.loads(corpus.written).get("name", corpus.name):
            yield f"timeline_corpus {corpus.pk}: name is not that of its corpus.json."
        yield from (f"timeline {corpus.slug}: {fault}" for fault in list_corpus_faults(corpus))


def list_corpus_faults(corpus: Corpus) -> Iterator[str]:
    """Yield a sentence for everything of a corpus that is not as it was released, oldest release first."""
    for table, model in MODELS.items():
        yield from _check_rows(corpus, table, model)
    previous = ""
    for release in corpus.releases.order_by("number"):
        if not previous and release.number > 1:
            previous = release.previous_sha256  # of a restored corpus: what came before is elsewhere
        if wrong := _check_release(corpus, release, previous):
            yield f"Release {release.number}: {wrong}."
        previous = release.sha256


def _check_rows(corpus: Corpus, table: str, model: type[Row]) -> Iterator[str]:
    """Yield a sentence for each released row whose hash, columns or rows of its references are not what its text says."""
    names = [field.attname for field in model._meta.concrete_fields if field.name not in COLUMNS_OF_RELEASES]
    related = [RELATED[table]] if table in RELATED else []
    rows = model.objects.filter(corpus=corpus).exclude(since=None).order_by("pk").prefetch_related(*related)
    for row in rows.iterator(store.BATCH):
        if hash_json(row.row) != row.sha256:
            yield f"{model._meta.verbose_name} {row.key} (release {row.since} on): its text does not match its hash."
        right = store.build_row(corpus, table, build_row_key(table, row.row), row.position, row.row, row.sha256)
        if wrong := [name for name in names if getattr(row, name) != getattr(right, name)]:
            yield f"{model._meta.db_table} {row.pk} ({row.key}): {', '.join(wrong)} is not what its text says."
        for name in related:
            stored = [_read_columns(one) for one in sorted(getattr(row, name).all(), key=lambda one: one.pk)]
            if stored != [_read_columns(one) for one in store.build_references(table, row.row, row.pk)]:
                yield f"timeline_{name.removesuffix('s')} of {table} {row.key}: they are not what its text says."


def find_lost_keys(_now: dt.datetime) -> Iterator[Finding]:
    """Yield a finding of the doctor if names that corpora leave out can no longer be recognised."""
    if omitted_names.key_file().exists():
        return
    with_names = [row.slug for row in Corpus.objects.all() if parse_corpus(row.written).left_out_names]
    if with_names:
        found = (
            f"The key file {omitted_names.key_file()} is missing, so no name is recognised that {', '.join(with_names)} leaves out."
        )
        yield fail("left-out names", found, "Put the file back from a backup, or write left_out_names anew with `timeline name`.")


def _read_columns(one: models.Model) -> tuple[Any, ...]:
    return tuple(getattr(one, field.attname) for field in one._meta.concrete_fields if not field.primary_key)


def _check_release(corpus: Corpus, release: CorpusRelease, previous: str) -> str:
    """Return a sentence about what is wrong, "" if nothing is."""
    if release.previous_sha256 != previous:
        return "it does not link to the one before"
    manifest = releases.build_manifest(corpus, release.number, previous, release.written, release.meta)
    if canonicalize_json(manifest).decode() != release.manifest or hash_json(manifest) != release.sha256:
        return "its rows do not match its hash"
    if not is_valid_signature(release.signature, release.sha256, release.public_key):
        return f"its signature does not match key {release.key_id}"
    counted = releases.compute_release_stats(corpus.pk, release.number, parse_corpus(release.written))
    if counted != orjson.loads(release.counts):
        return "its statistics are not those of its rows"
    return ""


def list_file_faults(written: Written, key: str | None = None) -> Iterator[str]:
    """Yield the same for a dumped directory; `key` is the public key (base64) that is trusted, else the one in release.json."""
    release = written.release
    if release is None:
        yield "There is no release.json, so nothing says what the files should be."
        return
    manifest = release.get("manifest")
    if not isinstance(manifest, dict) or hash_json(manifest) != release.get("sha256"):
        yield "release.json: the manifest does not match the hash."
        return
    if not is_valid_signature(str(release.get("signature")), str(release["sha256"]), key or str(release.get("public_key"))):
        yield "release.json: the signature does not match the key."
    if hash_json(written.corpus) != manifest.get("corpus_sha256"):
        yield "corpus.json is not what was released."
    if hash_json(written.meta) != manifest.get("meta_sha256"):
        yield "A file's meta is not what was released."
    for table in TABLES:
        counted = releases.hash_table(hash_json(row) for row in written.rows[table.name])
        if counted != manifest.get("tables", {}).get(table.name):
            yield f"{table.file}: {table.member} are not what was released."


def restore_draft(corpus: Corpus, written: Written) -> CorpusRelease:
    """Make a new corpus's draft the release that it was dumped from. Raises: RefusedCorpus for a dump that is not as signed."""
    if wrong := list(list_file_faults(written)):
        raise RefusedCorpus([Problem(RELEASE, 0, message) for message in wrong])
    release: dict[str, Any] = written.release or {}
    manifest = release["manifest"]
    number = manifest.get("release")
    if not isinstance(number, int) or (manifest.get("corpus"), number) != (corpus.slug, release.get("number")):
        raise RefusedCorpus([Problem(RELEASE, 0, "is of another corpus or release")])
    try:
        at = dt.datetime.fromisoformat(release["released_at"])
        fields = {name: str(release[name]) for name in ("sha256", "signature", "key_id", "public_key")}
    except (KeyError, ValueError, TypeError) as error:
        raise RefusedCorpus([Problem(RELEASE, 0, f"{error} is missing or unreadable")]) from error
    releases.build_release_rows(corpus, number)
    return releases.store_release(corpus, manifest, released_at=at, note=release.get("note", ""), **fields)
