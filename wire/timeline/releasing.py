"""Makes a release of a corpus's draft: its hash, linked to the one before, signed with the wire's key, and its search index.

Nothing that answers the public may import this.
"""

import datetime as dt
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
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
_PIECE: Final = postings.BLOCK // 2  # reports that are indexed at a time: what is held in memory


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
    """Make the draft the rows of this release: new reports get their numbers and are indexed, and what left keeps its last one."""
    words, lives = searching.index_of(corpus.pk), searching.lives_of(corpus.pk)
    gone = Report.objects.filter(corpus=corpus, dropped=True, until=None).values_list("number", "since")
    postings.put(lives, {place: searching.life(since, number) for place, since in gone if place is not None})
    fresh = Report.objects.filter(corpus=corpus, since=None).in_order()
    for reports in _pieces(fresh.only("pk", "body", "date_observed", "position").iterator(_PIECE)):
        first = corpus.next_number
        corpus.next_number += len(reports)
        documents = {}
        for place, report in enumerate(reports, first):
            report.number = place
            documents[place] = searching.tokens_of(report.row)
        Report.objects.bulk_update(reports, ["number"], batch_size=storing.BATCH)
        postings.add(words, documents)
        postings.put(words, {one.number: searching.rank_of(one.date_observed, one.position) for one in reports})
        postings.put(lives, {one.number: searching.life(number, None) for one in reports})
        told(len(reports))
    Corpus.objects.filter(pk=corpus.pk).update(next_number=corpus.next_number)
    for model in MODELS.values():
        model.objects.filter(corpus=corpus, since=None).update(since=number)
        model.objects.filter(corpus=corpus, dropped=True, until=None).update(until=number, dropped=False)


def _pieces(reports: Iterable[Report]) -> Iterator[list[Report]]:
    left = iter(reports)
    while piece := list(islice(left, _PIECE)):
        yield piece
