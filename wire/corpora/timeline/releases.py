"""Makes releases of a corpus's draft: the hash, linked to the one before, signed with the wire's key, and the search index.

Nothing that answers the public may import this.
"""

import datetime as dt
import hashlib
from collections.abc import Iterable
from itertools import groupby
from typing import Any, Final

import orjson
from django.db import transaction
from django.utils import timezone

from wire.corpora.timeline import search, statistics, store
from wire.corpora.timeline.corpus_config import parse_corpus
from wire.corpora.timeline.models import MODELS, Corpus, CorpusRelease, Report
from wire.corpora.timeline.reader import Written
from wire.corpora.timeline.validation import expect
from wire.models import WireState
from wire.publishing.signing import sign
from wire.search import index as postings
from wire.text.provenance import canonical, digest

MAX_NOTE: Final = 500


def release(corpus: Corpus, note: str = "", *, checked: bool = False) -> CorpusRelease | None:
    """Release the draft; None if it is as the last one. Unless it is `checked`, the draft must keep every rule.

    Raises: RefusedCorpus, which leaves everything as it was; WireError when it cannot be signed.
    """
    with transaction.atomic():
        WireState.lock()
        corpus.refresh_from_db()
        if not store.has_changes(corpus):
            return None
        if not checked:
            expect(draft(corpus), parse_corpus(corpus.written))
        number, before = corpus.release + 1, corpus.releases.first()
        index(corpus, number)
        manifest = build_manifest(corpus, number, before.sha256 if before else "", corpus.written, corpus.meta)
        sha256 = digest(manifest)
        signature, key = sign(sha256)
        return store_release(
            corpus,
            manifest,
            released_at=timezone.now().replace(microsecond=0),
            note=note[:MAX_NOTE],
            sha256=sha256,
            signature=signature,
            key_id=key.key_id,
            public_key=key.public_key,
        )


def draft(corpus: Corpus) -> Written:
    """Return the draft in the form of files, to be checked."""
    rows = {name: [row.row for row in model.objects.draft(corpus.pk).in_order()] for name, model in MODELS.items()}
    return Written(rows=rows, corpus=orjson.loads(corpus.written))


def build_manifest(corpus: Corpus, number: int, previous: str, written: str, meta: str) -> dict[str, Any]:
    """Return the value whose hash is a release's, from its rows as they are stored; `previous` is "" for the first."""
    rows = {name: model.objects.in_release(corpus.pk, number).in_order() for name, model in MODELS.items()}
    return {
        "v": 1,
        "corpus": corpus.slug,
        "release": number,
        "previous_sha256": previous or None,
        "corpus_sha256": digest(orjson.loads(written)),
        "meta_sha256": digest(orjson.loads(meta)),
        "tables": {name: hash_table(some.values_list("sha256", flat=True)) for name, some in rows.items()},
    }


def hash_table(rows: Iterable[str]) -> dict[str, Any]:
    """Return the number of a table's rows, and the SHA-256 of their hashes, one a line, in order."""
    lines = [f"{row}\n" for row in rows]
    return {"rows": len(lines), "sha256": hashlib.sha256("".join(lines).encode()).hexdigest()}


def store_release(corpus: Corpus, manifest: dict[str, Any], *, released_at: dt.datetime, **fields: str) -> CorpusRelease:
    """Store the release, and make it the newest."""
    number = corpus.release = manifest["release"]
    counts = statistics.counts(corpus.pk, number, parse_corpus(corpus.written))
    release = CorpusRelease.objects.create(
        corpus=corpus,
        number=number,
        released_at=released_at,
        previous_sha256=manifest["previous_sha256"] or "",
        manifest=canonical(manifest).decode(),
        written=corpus.written,
        meta=corpus.meta,
        counts=orjson.dumps(counts).decode(),
        **fields,
    )
    corpus.save(update_fields=["release"])
    WireState.raise_version()
    return release


def index(corpus: Corpus, number: int) -> None:
    """Make the draft the rows of this release: new reports are indexed, and what left keeps its last release."""
    words, lives = search.index_of(corpus.pk), search.lives_of(corpus.pk)
    gone = Report.objects.filter(corpus=corpus, dropped=True, until=None).values_list("number", "since")
    postings.set_values(lives, {place: search.life(since, number) for place, since in gone})
    fresh = Report.objects.filter(corpus=corpus, since=None).order_by("number")
    columns = fresh.values_list("number", "date_observed", "position", "body").iterator(store.BATCH)
    for block, rows in groupby(columns, key=lambda row: row[0] // postings.BLOCK):
        documents, ranks, ages = {}, {}, {}
        for place, date, position, body in rows:
            documents[place] = search.tokens_of(orjson.loads(body))
            ranks[place] = search.rank_of(date, position)
            ages[place] = search.life(number, None)
        if postings.is_filled(words, block):
            postings.add(words, documents)
        else:
            postings.fill(words, block, documents)
        postings.set_values(words, ranks)
        postings.set_values(lives, ages)
    for model in MODELS.values():
        model.objects.filter(corpus=corpus, since=None).update(since=number)
        model.objects.filter(corpus=corpus, dropped=True, until=None).update(until=number, dropped=False)
