"""Events, threads and the catalogue: each a list with the filters that all lists have.

Motifs and words are looked for in the row itself. Types, stance and grade ask for rows with such a report: one that the thread or
the item names, or that refers to the event. Dates are an event's own, of threads and items those of their reports.
"""

import datetime as dt
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from django.db.models import Count, Q

from wire.corpora.timeline.errors import UnknownThread
from wire.corpora.timeline.models import Anchor, CatalogItem, Mention, Report, RowQuerySet, Thread, TimelineEvent
from wire.corpora.timeline.queries.scope import MOST_NAMES, Scope, Walk, expect_motifs, expect_words, narrow_rows, quote, to_filters
from wire.corpora.timeline.row_schemas import FRAMES, OFFICIAL, Frame
from wire.corpora.timeline.schemas import CatalogueOut, ItemOut, ThreadOut, ThreadsOut, TimelineEventOut, TimelineEventsOut
from wire.corpora.timeline.search import Filters
from wire.search.cursor import build_cursor_error

MAX_REPORTS: Final = 100  # of a thread that are listed with it


def events(slug: str, layer: str | None = None, *, newest_first: bool = False, **given: Any) -> TimelineEventsOut:
    """Return events, oldest first unless asked otherwise. Raises: NotFound, InvalidArgument."""
    walk = Walk("newest events" if newest_first else "events", slug, layer, size=2, **given)
    rows = _select_events(walk, layer)
    total = rows.count()
    if walk.before:
        try:
            date, position = dt.date.fromordinal(walk.before[0]), walk.before[1]
        except (ValueError, OverflowError):
            raise build_cursor_error() from None
        beyond = Q(date__lt=date) if newest_first else Q(date__gt=date)
        rows = rows.filter(beyond | Q(date=date, position__gt=position))
    found = list(rows.order_by("-date" if newest_first else "date", "position")[: walk.limit + 1])
    last = found[walk.limit - 1] if len(found) > walk.limit else None
    shown = found[: walk.limit]
    return TimelineEventsOut(
        **walk.build_head(total, shown, (last.date.toordinal(), last.position) if last else None),
        layer_rules={one.id: one.rule for one in walk.scope.settings.vocabularies.layers},
        events=[TimelineEventOut.model_construct(**one.row) for one in shown],
    )


def count_events(slug: str, layer: str | None = None, **given: Any) -> list[tuple[dt.date, bool, int]]:
    """Count events by day and lane, oldest first: the day, whether the lane is official, how many. Raises: as `events`."""
    walk = Walk("events", slug, layer, size=2, **given)
    lanes = walk.scope.settings.vocabularies.lanes()
    counted = Counter[tuple[dt.date, bool]]()
    for date, of_layer, number in _select_events(walk, layer).values_list("date", "layer").annotate(Count("pk")).order_by("date"):
        counted[date, lanes[of_layer] == OFFICIAL] += number
    return [(date, is_official, number) for (date, is_official), number in counted.items()]


def _select_events(walk: Walk, layer: str | None) -> RowQuerySet:
    scope = walk.scope
    expect_words("layer", layer, list(scope.settings.vocabularies.lanes()))
    filters = to_filters(scope, **walk.given)
    rows = narrow_rows(scope.rows(TimelineEvent), filters, layer=layer, date__gte=filters.date_start, date__lte=filters.date_end)
    if (linked := _select_linked_reports(scope, replace(filters, date_start=None, date_end=None))) is not None:
        rows = rows.filter(key__in=Anchor.objects.filter(report__in=linked.values("pk")).values("anchor_id"))
    return rows


def mandela_catalog(
    slug: str, category: str | None = None, status: str | None = None, motif: str | None = None, **given: Any
) -> CatalogueOut:
    """Return items of the catalogue in its order. Raises: NotFound, InvalidArgument."""
    walk = Walk("items", slug, category, status, motif, **given)
    words = walk.scope.settings.vocabularies
    expect_words("category", category, words.categories)
    expect_words("status", status, words.item_statuses)
    expect_motifs(walk.scope, [motif] if motif else ())
    filters = to_filters(walk.scope, **walk.given)
    motif_columns = f"|{motif}|" if motif else None
    rows = narrow_rows(walk.scope.rows(CatalogItem), filters, category=category, status=status, motifs__contains=motif_columns)
    listed, found = _read_filtered_page(walk, rows, filters, "item_id")
    items = [ItemOut.model_construct(**row) for row in found]
    return CatalogueOut(**listed, framing=walk.scope.settings.phrases.catalogue, items=items)


def story_threads(slug: str, thread_id: str | None = None, lens: Frame | None = None, **given: Any) -> ThreadsOut:
    """Return threads in the corpus's order, or one. Raises: NotFound, InvalidArgument."""
    walk = Walk("threads", slug, thread_id, lens, **given)
    scope = walk.scope
    filters = to_filters(scope, **walk.given)
    if thread_id:
        get_thread(scope, thread_id)
    rows = narrow_rows(scope.rows(Thread), filters, key=thread_id)
    listed, found = _read_filtered_page(walk, rows, filters, "thread_id")
    reports = scope.get_rows(Report, [key for row in found for key in row["report_ids"][:MAX_REPORTS]])
    anchors = scope.get_rows(TimelineEvent, [key for row in found for key in row["anchor_ids"]])
    return ThreadsOut(**listed, active_lens=lens, threads=[_to_thread(row, reports, anchors, lens) for row in found])


def _read_filtered_page(walk: Walk, rows: Any, filters: Filters, owner: str) -> tuple[dict[str, Any], list[Any]]:
    """Read a page of threads or items that name a report which the filters leave, with the fields that every list begins with."""
    if (linked := _select_linked_reports(walk.scope, filters)) is not None:
        mentions = Mention.objects.filter(report_key__in=linked.values("key")).exclude(**{owner: None})
        rows = rows.filter(pk__in=mentions.values(owner))
    total = rows.count()
    if walk.before:
        rows = rows.filter(position__gt=walk.before[0])
    found = list(rows.in_order()[: walk.limit + 1])
    shown = found[: walk.limit]
    return walk.build_head(total, shown, (shown[-1].position,) if len(found) > walk.limit else None), [one.row for one in shown]


def _select_linked_reports(scope: Scope, filters: Filters) -> RowQuerySet | None:
    """Select the reports that the filters about reports leave; None if there are no such filters."""
    if filters == Filters(query=filters.query, motifs=filters.motifs):
        return None
    return narrow_rows(
        scope.rows(Report),
        Filters(),
        phenomenon_type__in=filters.phenomenon_types,
        source_type__in=filters.source_types,
        stance=filters.stance,
        evidence_grade=filters.evidence_grade,
        date_observed__gte=filters.date_start,
        date_observed__lte=filters.date_end,
    )


def _to_thread(row: Any, reports: Mapping[str, Any], anchors: Mapping[str, Any], lens: Frame | None) -> ThreadOut:
    frames = {name: row.get(f"{name}_frame") or None for name in FRAMES}
    named = {
        "needs_source": bool(row.get("flag")),
        "frames": frames,
        "active_frame": frames[lens] if lens else None,
        "anchors": [{"source_url": None} | anchors[key] for key in row["anchor_ids"] if key in anchors],
        "reports": [reports[key] for key in row["report_ids"][:MAX_REPORTS] if key in reports],
        "research_prompts": row["suggested_questions"],
    }
    return ThreadOut.model_validate({"anchor_label": None} | row | named)


def get_thread(scope: Scope, thread_id: str, *, briefly: bool = False) -> Any:
    if found := scope.list_rows(Thread, [thread_id]):
        return found[0]
    ids = list(scope.rows(Thread).in_order().values_list("key", flat=True)[: MOST_NAMES + 1])
    known = ", ".join([*ids[:MOST_NAMES], *(["…"] if len(ids) > MOST_NAMES else [])]) or "none so far"
    if briefly:
        raise UnknownThread(f"No thread {quote(thread_id)}.", f"Valid: {known}.")
    raise UnknownThread(f"No thread named {quote(thread_id)}.", f"Valid ids: {known}.")


def list_official_events(scope: Scope, ids: Sequence[str]) -> list[Any]:
    """Return what the official ones of these events say, in this order."""
    lanes = scope.settings.vocabularies.lanes()
    return [event for event in scope.list_rows(TimelineEvent, ids) if lanes[event["layer"]] == OFFICIAL]
