"""Events, threads and the catalogue: each a list with the filters that all lists have.

Motifs and words are looked for in the row itself. Types, stance and grade ask for rows with such a report: one that the thread or
the item names, or that refers to the event. Dates are an event's own, of threads and items those of their reports.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any, Final

from django.db.models import Q

from wire.corpora.timeline import answer_phrases
from wire.corpora.timeline.errors import UnknownThread
from wire.corpora.timeline.models import Anchor, CatalogItem, Mention, Report, Thread, TimelineEvent
from wire.corpora.timeline.queries.scope import (
    LISTED,
    MOST_NAMES,
    Scope,
    Walk,
    expect_motifs,
    expect_words,
    filter_rows,
    filters_of,
    linked_reports,
    quote,
    scope_of,
)
from wire.corpora.timeline.schemas import (
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
from wire.corpora.timeline.search import Filters
from wire.corpora.timeline.vocabulary import FRAMES, Frame
from wire.search.cursor import invalid

MAX_REPORTS: Final = 100  # of a thread that are listed with it


def events(
    slug: str, layer: str | None = None, limit: int = LISTED, cursor: str | None = None, as_of: int | None = None, **given: Any
) -> TimelineEventsOut:
    """Return events, oldest first. Raises: NotFound, InvalidArgument."""
    walk = Walk("events", slug, as_of, [layer], cursor, 2, **given)
    scope = scope_of(slug, walk.as_of)
    layers = scope.settings.vocabularies.layers
    expect_words("layer", [layer] if layer is not None else None, [one.id for one in layers])
    filters = filters_of(scope, **given)
    rows = filter_rows(scope.rows(TimelineEvent), filters)
    wanted = {"layer": layer, "date__gte": filters.date_start, "date__lte": filters.date_end}
    rows = rows.filter(**{name: value for name, value in wanted.items() if value})
    if (linked := linked_reports(scope, filters, with_dates=False)) is not None:
        rows = rows.filter(key__in=Anchor.objects.filter(report__in=linked.values("pk")).values("anchor_id"))
    total = rows.count()
    if walk.before:
        try:
            date, position = dt.date.fromordinal(walk.before[0]), walk.before[1]
        except (ValueError, OverflowError):
            raise invalid() from None
        rows = rows.filter(Q(date__gt=date) | Q(date=date, position__gt=position))
    found = list(rows.order_by("date", "position")[: limit + 1])
    last = found[limit - 1] if len(found) > limit else None
    place = (last.date.toordinal(), last.position) if last else None
    return TimelineEventsOut(
        **walk.page(scope, total, found[:limit], place, is_narrowed=bool(layer) or not filters.are_empty()),
        layer_rules={one.id: one.rule for one in layers},
        events=[TimelineEventOut(**one.row) for one in found[:limit]],
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
    """Return items of the catalogue in its order. Raises: NotFound, InvalidArgument."""
    walk = Walk("items", slug, as_of, [category, status, motif], cursor, **given)
    scope = scope_of(slug, walk.as_of)
    words = scope.settings.vocabularies
    expect_words("category", [category] if category is not None else None, words.categories)
    expect_words("status", [status] if status is not None else None, words.item_statuses)
    expect_motifs(scope, [motif] if motif else ())
    filters = filters_of(scope, **given)
    wanted = {"category": category, "status": status, "motifs__contains": f"|{motif}|" if motif else None}
    rows = filter_rows(scope.rows(CatalogItem), filters).filter(**{name: value for name, value in wanted.items() if value})
    total, found, place = _read_page(scope, rows, filters, "item_id", limit, walk)
    is_narrowed = bool(category or status or motif) or not filters.are_empty()
    return CatalogueOut(
        **walk.page(scope, total, found, place, is_narrowed=is_narrowed),
        framing=answer_phrases.CATALOGUE,
        items=[ItemOut(**row) for row in found],
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
    """Return threads in the corpus's order, or one. Raises: NotFound, InvalidArgument."""
    walk = Walk("threads", slug, as_of, [thread_id, lens], cursor, **given)
    scope = scope_of(slug, walk.as_of)
    filters = filters_of(scope, **given)
    rows = filter_rows(scope.rows(Thread), filters)
    if thread_id:
        thread_of(scope, thread_id)
        rows = rows.filter(key=thread_id)
    total, found, place = _read_page(scope, rows, filters, "thread_id", limit, walk)
    named = {key for row in found for key in row["report_ids"][:MAX_REPORTS]}
    reports = {one.key: one.row for one in scope.rows(Report).filter(key__in=named)}
    anchored = {one["id"]: one for one in events_named(scope, list({key for row in found for key in row["anchor_ids"]}))}
    return ThreadsOut(
        **walk.page(scope, total, found, place, is_narrowed=bool(thread_id) or not filters.are_empty()),
        active_lens=lens,
        threads=[_to_thread(row, reports, anchored, lens) for row in found],
    )


def _read_page(
    scope: Scope, rows: Any, filters: Filters, owner: str, limit: int, walk: Walk
) -> tuple[int, list[Any], tuple[int] | None]:
    """Count threads or items that name a report which the filters leave, and read a page of them; with the last one's position if
    more follow.
    """
    linked = linked_reports(scope, filters, with_dates=True)
    if linked is not None:
        mentions = Mention.objects.filter(report_key__in=linked.values("key")).exclude(**{owner: None})
        rows = rows.filter(pk__in=mentions.values(owner))
    total = rows.count()
    if walk.before:
        rows = rows.filter(position__gt=walk.before[0])
    found = list(rows.in_order()[: limit + 1])
    return total, [one.row for one in found[:limit]], (found[limit - 1].position,) if len(found) > limit else None


def _to_thread(row: Any, reports: Mapping[str, Any], anchored: Mapping[str, Any], lens: Frame | None) -> ThreadOut:
    frames = {name: row.get(f"{name}_frame") or None for name in FRAMES}
    anchors = [anchored[key] for key in row["anchor_ids"] if key in anchored]
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
            ThreadAnchorOut(source_url=one.get("source_url"), **{name: one[name] for name in ("id", "title", "date", "layer")})
            for one in anchors
        ],
        reports=[ThreadReportOut(id=one["id"], title=one["title"], evidence_grade=one["evidence_grade"]) for one in members],
        research_prompts=row["suggested_questions"],
    )


def thread_of(scope: Scope, thread_id: str, *, briefly: bool = False) -> dict[str, Any]:
    found = scope.rows(Thread).filter(key=thread_id).first()
    if found is None:
        known = thread_names(scope)
        if briefly:
            raise UnknownThread(f"No thread {quote(thread_id)}.", f"Valid: {known}.")
        raise UnknownThread(f"No thread named {quote(thread_id)}.", f"Valid ids: {known}.")
    row: dict[str, Any] = found.row
    return row


def thread_names(scope: Scope) -> str:
    names = list(scope.rows(Thread).in_order().values_list("key", flat=True)[: MOST_NAMES + 1])
    return ", ".join([*names[:MOST_NAMES], *(["…"] if len(names) > MOST_NAMES else [])]) or "none so far"


def events_named(scope: Scope, ids: Sequence[str]) -> list[Any]:
    """Return rows of these events in this order."""
    found = {event.key: event.row for event in scope.rows(TimelineEvent).filter(key__in=ids)}
    return [found[one] for one in ids if one in found]
