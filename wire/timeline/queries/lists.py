"""Events, threads and the catalogue: each a list with the filters that all lists have.

Motifs and words are looked for in the row itself. Types, stance and grade ask for rows with such a report: one that the thread or
the item names, or that refers to the event. Dates are an event's own, of threads and items those of their reports.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db.models import Q

from wire.search.cursor import invalid
from wire.timeline import wording
from wire.timeline.errors import UnknownThread
from wire.timeline.models import Anchor, CatalogItem, Mention, Report, Thread, TimelineEvent
from wire.timeline.queries.scope import (
    LISTED,
    MOST_NAMES,
    Scope,
    Walk,
    expect_motifs,
    expect_one,
    filters_of,
    hint_for,
    linked_reports,
    scope_of,
    searched,
    told,
)
from wire.timeline.schemas import (
    CatalogueOut,
    FramesOut,
    ItemOut,
    ThreadAnchorOut,
    ThreadOut,
    ThreadReportOut,
    ThreadsOut,
    TimelineEventOut,
    TimelineEventsOut,
)
from wire.timeline.searching import Filters
from wire.timeline.vocabulary import FRAMES, Frame

MAX_REPORTS: Final = 100  # of a thread that are listed with it


def events(
    slug: str, layer: str | None = None, limit: int = LISTED, cursor: str | None = None, as_of: int | None = None, **given: Any
) -> TimelineEventsOut:
    """Events, oldest first. Raises: NotFound, InvalidArgument."""
    walk = Walk("events", slug, as_of, [layer, *_told(given)], cursor, 2)
    scope = scope_of(slug, walk.as_of)
    layers = scope.settings.vocabularies.layers
    expect_one("layer", layer, [one.id for one in layers])
    filters = filters_of(scope, **given)
    rows = searched(scope.rows(TimelineEvent), filters)
    if layer:
        rows = rows.filter(layer=layer)
    if filters.date_start:
        rows = rows.filter(date__gte=filters.date_start)
    if filters.date_end:
        rows = rows.filter(date__lte=filters.date_end)
    if (linked := linked_reports(scope, filters, with_dates=False)) is not None:
        rows = rows.filter(key__in=Anchor.objects.filter(report__in=linked.values("pk")).values("anchor_id"))
    total = rows.count()
    if walk.before:
        day, position = walk.before
        rows = rows.filter(Q(date__gt=_date(day)) | Q(date=_date(day), position__gt=position))
    found = list(rows.order_by("date", "position")[: limit + 1])
    last = found[limit - 1] if len(found) > limit else None
    return TimelineEventsOut(
        **scope.answered,
        total=total,
        returned=len(found[:limit]),
        next_cursor=walk.cursor(scope, last.date.toordinal(), last.position) if last else None,
        layer_rules={one.id: one.rule for one in layers},
        events=[TimelineEventOut(**one.row) for one in found[:limit]],
        **hint_for(total, bool(layer) or not filters.are_empty()),
    )


def mandela_catalog(
    slug: str,
    category: str | None = None,
    status: str | None = None,
    motif: str | None = None,
    limit: int = LISTED,
    cursor: str | None = None,
    as_of: int | None = None,
    **given: Any,
) -> CatalogueOut:
    """Items of the catalogue in its order. Raises: NotFound, InvalidArgument."""
    walk = Walk("items", slug, as_of, [category, status, motif, *_told(given)], cursor, 1)
    scope = scope_of(slug, walk.as_of)
    words = scope.settings.vocabularies
    expect_one("category", category, words.categories)
    expect_one("status", status, words.item_statuses)
    expect_motifs(scope, [motif] if motif else ())
    filters = filters_of(scope, **given)
    rows = searched(scope.rows(CatalogItem), filters)
    rows = rows.filter(category=category) if category else rows
    rows = rows.filter(status=status) if status else rows
    rows = rows.filter(motifs__contains=f"|{motif}|") if motif else rows
    rows = _naming(scope, rows, filters, "item_id")
    total, found, last = _paged(rows, limit, walk)
    return CatalogueOut(
        **scope.answered,
        total=total,
        returned=len(found),
        next_cursor=walk.cursor(scope, last) if last is not None else None,
        framing=wording.CATALOGUE,
        items=[ItemOut(**one.row) for one in found],
        **hint_for(total, bool(category or status or motif) or not filters.are_empty()),
    )


def story_threads(
    slug: str,
    thread_id: str | None = None,
    lens: Frame | None = None,
    limit: int = LISTED,
    cursor: str | None = None,
    as_of: int | None = None,
    **given: Any,
) -> ThreadsOut:
    """Threads in the corpus's order, or one. Raises: NotFound, InvalidArgument."""
    walk = Walk("threads", slug, as_of, [thread_id, lens, *_told(given)], cursor, 1)
    scope = scope_of(slug, walk.as_of)
    filters = filters_of(scope, **given)
    rows = searched(scope.rows(Thread), filters)
    if thread_id:
        thread_of(scope, thread_id)
        rows = rows.filter(key=thread_id)
    rows = _naming(scope, rows, filters, "thread_id")
    total, found, last = _paged(rows, limit, walk)
    return ThreadsOut(
        **scope.answered,
        total=total,
        returned=len(found),
        next_cursor=walk.cursor(scope, last) if last is not None else None,
        active_lens=lens,
        threads=_threads(scope, [one.row for one in found], lens),
        **hint_for(total, bool(thread_id) or not filters.are_empty()),
    )


def thread_of(scope: Scope, thread_id: str, *, briefly: bool = False) -> dict[str, Any]:
    """Raises: UnknownThread."""
    found = scope.rows(Thread).filter(key=thread_id).first()
    if found is None:
        known = thread_names(scope)
        if briefly:
            raise UnknownThread(f"No thread {told(thread_id)}.", f"Valid: {known}.")
        raise UnknownThread(f"No thread named {told(thread_id)}.", f"Valid ids: {known}.")
    row: dict[str, Any] = found.row
    return row


def thread_names(scope: Scope) -> str:
    """Ids of the first threads, for hints."""
    names = list(scope.rows(Thread).in_order().values_list("key", flat=True)[: MOST_NAMES + 1])
    return ", ".join([*names[:MOST_NAMES], *(["…"] if len(names) > MOST_NAMES else [])]) or "none so far"


def events_named(scope: Scope, ids: Sequence[str]) -> list[Any]:
    """Rows of these events in this order."""
    found = {event.key: event.row for event in scope.rows(TimelineEvent).filter(key__in=ids)}
    return [found[one] for one in ids if one in found]


def _threads(scope: Scope, rows: Sequence[Any], lens: Frame | None) -> list[ThreadOut]:
    """With the events and reports that they name; those are read for all threads at once."""
    named = {key for row in rows for key in row["report_ids"][:MAX_REPORTS]}
    reports = {one.key: one.row for one in scope.rows(Report).filter(key__in=named)}
    anchored = {one["id"]: one for one in events_named(scope, list({key for row in rows for key in row["anchor_ids"]}))}
    return [_thread(row, reports, anchored, lens) for row in rows]


def _thread(row: Any, reports: Mapping[str, Any], anchored: Mapping[str, Any], lens: Frame | None) -> ThreadOut:
    frames = {name: row.get(f"{name}_frame") or None for name in FRAMES}
    shown = [anchored[key] for key in row["anchor_ids"] if key in anchored]
    members = [reports[key] for key in row["report_ids"][:MAX_REPORTS] if key in reports]
    return ThreadOut(
        id=row["id"],
        title=row["title"],
        anchor_label=row.get("anchor_label"),
        needs_source=bool(row.get("flag")),
        public_summary=row["public_summary"],
        frames=FramesOut(**frames),
        active_frame=frames[lens] if lens else None,
        motifs=row["motifs"],
        anchors=[
            ThreadAnchorOut(
                id=one["id"], title=one["title"], date=one["date"], layer=one["layer"], source_url=one.get("source_url")
            )
            for one in shown
        ],
        reports=[ThreadReportOut(id=one["id"], title=one["title"], evidence_grade=one["evidence_grade"]) for one in members],
        research_prompts=row["suggested_questions"],
    )


def _naming(scope: Scope, rows: Any, filters: Filters, owner: str) -> Any:
    """Of threads or items, those that name a report which the filters leave."""
    linked = linked_reports(scope, filters, with_dates=True)
    if linked is None:
        return rows
    mentions = Mention.objects.filter(report_key__in=linked.values("key")).exclude(**{owner: None})
    return rows.filter(pk__in=mentions.values(owner))


def _paged(rows: Any, limit: int, walk: Walk) -> tuple[int, list[Any], int | None]:
    """How many there are, a page of them, and the last one's position if more follow."""
    total = rows.count()
    if walk.before:
        rows = rows.filter(position__gt=walk.before[0])
    found = list(rows.in_order()[: limit + 1])
    return total, found[:limit], found[limit - 1].position if len(found) > limit else None


def _date(day: int) -> dt.date:
    try:
        return dt.date.fromordinal(day)
    except (ValueError, OverflowError):
        raise invalid() from None


def _told(given: Mapping[str, Any]) -> list[Any]:
    return [
        [name, sorted(set(value)) if isinstance(value, list | tuple) else value] for name, value in sorted(given.items()) if value
    ]
