"""Makes a release of a corpus's draft: its hash, linked to the one before, signed with the wire's key, and its search index.

Nothing that answers the public may import this.
"""

import datetime as dt
from collections.abc import Callable
from itertools import groupby
from typing import Any, Final

import orjson
import rfc8785
from django.db import transaction
from django.utils import timezone

from wire import postings
from wire.models import WireState
from wire.snapshots.signing import sign
from wire.timeline import canonical, counting, searching, storing
from wire.timeline.corpusfile import of
from wire.timeline.models import MODELS, Corpus, CorpusRelease, Report
from wire.timeline.reading import TABLES, Written
from wire.timeline.rules import expect

MAX_NOTE: Final = 500


def release(
    corpus: Corpus,
    note: str = "",
    now: dt.datetime | None = None,
    told: Callable[[int], object] = lambda _: None,
    *,
    checked: bool = False,
) -> CorpusRelease | None:
    """The draft as the next release; None if it is as the last one. Unless it is `checked`, the draft must keep every rule.

    Raises: Refused, which leaves everything as it was; WireError when it cannot be signed.
    """
    with transaction.atomic():
        WireState.lock()
        corpus.refresh_from_db()
        if not storing.has_changes(corpus):
            return None
        if not checked:
            expect(draft(corpus), of(orjson.loads(corpus.written)))
        number = corpus.release + 1
        index(corpus, number, told)
        made = _signed(corpus, number, note[:MAX_NOTE], now or timezone.now())
        Corpus.objects.filter(pk=corpus.pk).update(release=number)
        corpus.release = number
        WireState.raise_version()
        return made


def draft(corpus: Corpus) -> Written:
    """The draft in the form of files, for who checks it."""
    rows = {table.name: [row.row for row in MODELS[table.name].objects.draft(corpus.pk).in_order()] for table in TABLES}
    return Written(rows=rows, meta={}, corpus=orjson.loads(corpus.written))


def manifest_of(corpus: Corpus, number: int, previous: str, written: str, meta: str) -> dict[str, Any]:
    """What the hash of a release is the hash of, from its rows as they are stored."""
    tables = {
        table.name: canonical.table(
            MODELS[table.name].objects.in_release(corpus.pk, number).in_order().values_list("sha256", flat=True)
        )
        for table in TABLES
    }
    return canonical.manifest(corpus.slug, number, previous, orjson.loads(written), orjson.loads(meta), tables)


def _signed(corpus: Corpus, number: int, note: str, now: dt.datetime) -> CorpusRelease:
    before = corpus.releases.first()
    manifest = manifest_of(corpus, number, before.sha256 if before else "", corpus.written, corpus.meta)
    sha256 = canonical.sha256(manifest)
    signature, key = sign(sha256)
    return CorpusRelease.objects.create(
        corpus=corpus,
        number=number,
        released_at=now.replace(microsecond=0),
        note=note,
        previous_sha256=before.sha256 if before else "",
        sha256=sha256,
        manifest=rfc8785.dumps(manifest).decode(),
        signature=signature,
        key_id=key.key_id,
        public_key=key.public_key,
        written=corpus.written,
        meta=corpus.meta,
        counts=orjson.dumps(counting.counts(corpus.pk, number, of(orjson.loads(corpus.written)))).decode(),
    )


def index(corpus: Corpus, number: int, told: Callable[[int], object]) -> None:
    """Make the draft the rows of this release: new reports are indexed, and what left keeps its last release."""
    words, lives = searching.index_of(corpus.pk), searching.lives_of(corpus.pk)
    gone = Report.objects.filter(corpus=corpus, dropped=True, until=None).values_list("number", "since")
    postings.put(lives, {place: searching.life(since, number) for place, since in gone})
    fresh = Report.objects.filter(corpus=corpus, since=None).order_by("number")
    columns = fresh.values_list("number", "date_observed", "position", "body").iterator(storing.BATCH)
    for block, rows in groupby(columns, key=lambda row: row[0] // postings.BLOCK):
        documents, ranks, ages = {}, {}, {}
        for place, date, position, body in rows:
            documents[place] = searching.tokens_of(orjson.loads(body))
            ranks[place] = searching.rank_of(date, position)
            ages[place] = searching.life(number, None)
        if postings.is_filled(words, block):
            postings.add(words, documents)
        else:
            postings.fill(words, block, documents)
        postings.put(words, ranks)
        postings.put(lives, ages)
        told(len(documents))
    for model in MODELS.values():
        model.objects.filter(corpus=corpus, since=None).update(since=number)
        model.objects.filter(corpus=corpus, dropped=True, until=None).update(until=number, dropped=False)
