"""Store which event each story belongs to: `cluster` decides, except what editors settled."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from django.db import transaction
from django.db.models import Exists, Min, OuterRef, Q

from wire.models import Event, Story, StoryPair, StoryRevision, StoryVector, WireState
from wire.models.story import StoryQuerySet
from wire.publishing.grouping import cluster, storyline_store, storylines
from wire.publishing.grouping.candidates import WINDOW, Item
from wire.search.vectors import load_embedder
from wire.text.choices import Status
from wire.text.filters import is_roundup


@transaction.atomic
def group_day(day: dt.date) -> bool:
    """Give every story of the day that has none an event: a known one within four days, or one of its own. Return whether any had
    none.
    """
    WireState.lock()
    near = Story.objects.filter(wire_date__range=(day - WINDOW, day + WINDOW))
    near = near.filter(Q(event__isnull=False) | Q(wire_date=day))
    free = Story.objects.on(day).filter(event=None)
    is_needed = free.exists()
    if is_needed:
        _regroup_stories(free, near, dt.date.max)
    return is_needed


def regroup_days(first: dt.date) -> set[dt.date]:
    """Find the event of each story of the UTC day `first` and later anew; return the days of stories that moved or were left
    behind. Needs a transaction in which the days are published too, for a story and its day's snapshot name the same event.
    """
    free, near = Story.objects.filter(wire_date__gte=first, event_pinned=False), Story.objects.filter(wire_date__gte=first - WINDOW)
    return _regroup_stories(free, near, first)


@transaction.atomic
def reopen_events(days: Collection[dt.date]) -> set[dt.date]:
    """Mark all stories of each event that has a pending story on these days as pending; return the days of those that were not."""
    WireState.lock()
    pending = Story.objects.pending().filter(wire_date__in=days)
    return _mark_pending(Story.objects.filter(event__in=pending.values("event")))


def link_storylines(days: Collection[dt.date]) -> bool:
    """Find the storyline of each event that began on these UTC days; return whether any changed. Needs the lock of WireState."""
    of_days = Story.objects.filter(wire_date__in=days, event__isnull=False).values("event")
    shown = Story.objects.exclude(status=Status.WITHDRAWN)
    began = shown.filter(event__in=of_days).order_by().values("event").annotate(began=Min("wire_date")).filter(began__in=days)
    # An event that began the storyline of events of other days keeps it, or they would lose their first one.
    others = Event.objects.filter(Exists(shown.filter(event=OuterRef("pk"))), storyline__in=of_days)
    first = others.exclude(pk__in=began.values("event")).values("storyline")
    free = Event.objects.filter(pk__in=began.values("event"), storyline_pinned=False).exclude(pk__in=first)
    fresh = {event.pk: event for event in free}
    if not fresh:
        return False
    near = Story.objects.filter(event__isnull=False, wire_date__range=(min(days) - storylines.REACH, max(days)))
    items = _read_items(near, open_from=dt.date.max)
    settled = Event.objects.filter(Exists(near.filter(event=OuterRef("pk")))).exclude(pk__in=fresh)
    names = settled.exclude(storyline=None).values_list("pk", "storyline")
    begun = settled.filter(storyline=None, storyline_pinned=True).values_list("pk", "pk")  # by an editor, and may go on
    found = storylines.find_storylines(items, {str(event): str(name) for event, name in (*names, *begun)}, fresh.keys())
    joined = {found[event] for event in fresh if event in found}
    members = settled.filter(pk__in=[event for event, name in found.items() if name in joined])
    changed = [event for event in (*fresh.values(), *members) if event.storyline_id != found.get(event.pk)]
    for event in changed:
        event.storyline_id = found.get(event.pk)
    Event.objects.bulk_update(changed, ["storyline"], batch_size=500)
    return bool(changed)


def settle_groups(groups: Iterable[Sequence[Story]]) -> None:
    """Make each group of stories one event, for good, with the id of the oldest event founded by one of it that may be shown."""
    for stories in groups:
        shown = [story for story in stories if story.status != Status.WITHDRAWN] or stories
        by_age = sorted(shown, key=lambda story: (story.published_at, story.chatbotnews_id))
        rows = Story.objects.filter(pk__in=[story.pk for story in stories])
        known = dict(rows.values_list("chatbotnews_id", "event"))
        event_id = next((s.chatbotnews_id for s in by_age if s.chatbotnews_id in known.values()), by_age[0].chatbotnews_id)
        _store_events(known, dict.fromkeys(known, event_id))
        rows.update(event_pinned=True)


def _regroup_stories(free: StoryQuerySet, near: StoryQuerySet, open_from: dt.date) -> set[dt.date]:
    """Group stories and store the events of those that are free. Return the days of stories that moved or were left behind."""
    known = dict(free.values_list("chatbotnews_id", "event"))
    if not known:
        return set()
    found = cluster.group_stories(_read_items(near, open_from=open_from))
    _store_doubts(known, found.doubts)
    return _store_events(known, found.events)


def _store_doubts(free: Collection[str], doubts: Iterable[cluster.Doubt]) -> None:
    """Store the doubtful pairs of the stories that were grouped, and drop undecided ones that are no longer."""
    rows = [doubt for doubt in doubts if doubt.story in free or doubt.other in free]
    named = Story.objects.filter(chatbotnews_id__in={name for row in rows for name in (row.story, row.other)})
    keys = dict(named.values_list("chatbotnews_id", "pk"))
    probabilities = {(keys[row.story], keys[row.other]): row.probability for row in rows}
    concerned = Story.objects.filter(chatbotnews_id__in=free)
    undecided = StoryPair.objects.filter(Q(story__in=concerned) | Q(other__in=concerned), label="")
    gone = [pk for pk, *stories in undecided.values_list("pk", "story", "other") if tuple(stories) not in probabilities]
    StoryPair.objects.filter(pk__in=gone).delete()
    StoryPair.objects.bulk_create(
        [StoryPair(story_id=one, other_id=other, probability=found) for (one, other), found in probabilities.items()],
        update_conflicts=True,
        update_fields=["probability"],
        unique_fields=["story", "other"],
    )


def _read_items(stories: StoryQuerySet, *, open_from: dt.date) -> list[Item]:
    """Return stories as clustering sees them, by their newest revision, without withdrawn ones and round-ups, unless an editor
    pinned these to an event. The event of a day before `open_from` and that of a pinned story are settled.
    """
    columns = ("headline", "published_at", "story__event_id", "summary_medium", "original_publisher")
    rows = StoryRevision.objects.filter(story__in=stories).order_by("story", "revision")
    settled = ("status", "story__wire_date", "story__event_pinned")
    newest: dict[str, Any] = {row[0]: row[1:] for row in rows.values_list("story__chatbotnews_id", *columns, *settled)}
    model = load_embedder()
    vectors = StoryVector.objects.filter(story__in=stories, model=model.name) if model else StoryVector.objects.none()
    vector_of = {story_id: bytes(vector) for story_id, vector in vectors.values_list("story__chatbotnews_id", "vector")}
    items = []
    for story_id, (headline, published_at, event_id, summary, publisher, status, day, pinned) in newest.items():
        if status != Status.WITHDRAWN and (pinned or not is_roundup(headline)):
            settled_id, vector = event_id if pinned or day < open_from else None, vector_of.get(story_id, b"")
            items.append(Item(story_id, headline, published_at, settled_id, summary, publisher, vector))
    return items


def _store_events(known: Mapping[str, str | None], events: Mapping[str, str]) -> set[dt.date]:
    """Store the event of each story that changed from the `known` one; a story that `events` lacks is withdrawn or a round-up, and
    stands alone. An event that lost all that may be shown leads to where the first of those went. Return the days of stories that
    moved or were left behind, which are marked as pending.
    """
    found = {story: event for story, before in known.items() if (event := events.get(story, story)) != before}
    if not found:
        return set()
    stories = list(Story.objects.filter(chatbotnews_id__in=found).only("chatbotnews_id", "published_at", "event", "leads_event"))
    left: dict[str, list[Story]] = defaultdict(list)
    for story in sorted(stories, key=lambda story: (story.published_at, story.chatbotnews_id)):
        if story.event_id:
            left[story.event_id].append(story)
        story.event_id, story.leads_event = found[story.chatbotnews_id], False  # nobody chose it for that one
    joined = {str(story.event_id) for story in stories}
    Event.objects.bulk_create([Event(event_id=event) for event in sorted(joined)], ignore_conflicts=True)
    Story.objects.all().write(stories, ["event", "leads_event"])
    Event.objects.filter(event_id__in=joined).exclude(merged_into=None).update(merged_into=None)
    if not left:  # all are new
        return set()
    _redirect_emptied_events(left)
    moved = [story.pk for stories in left.values() for story in stories]
    return _mark_pending(Story.objects.filter(Q(pk__in=moved) | Q(event__in=left)))


def _mark_pending(stories: StoryQuerySet) -> set[dt.date]:
    """Have these published again. Return the days of those that were not to be."""
    unmarked = stories.filter(pending=False).order_by()
    days = set(unmarked.values_list("wire_date", flat=True))
    if days:
        unmarked.update(pending=True)
    return days


def _redirect_emptied_events(left: Mapping[str, Sequence[Story]]) -> None:
    withdrawn = StoryRevision.objects.filter(story=OuterRef("pk"), status=Status.WITHDRAWN)
    shown = Story.objects.filter(event=OuterRef("pk")).exclude(Exists(withdrawn))
    for event_id in Event.objects.filter(Q(event_id__in=left), ~Exists(shown)).values_list("event_id", flat=True):
        leavers = left[event_id]
        founder = next((story for story in leavers if story.chatbotnews_id == event_id), leavers[0])
        if founder.event_id != event_id:
            Event.objects.filter(event_id=event_id).update(merged_into=founder.event_id)
            storyline_store.hand_over_storyline(event_id, str(founder.event_id))
    moved = {story.chatbotnews_id: story.event_id for stories in left.values() for story in stories}
    for event in Event.objects.filter(event_id__in=moved).exclude(merged_into=None):  # led elsewhere before its founder moved on
        if moved[event.event_id] not in (event.event_id, event.merged_into_id):
            Event.objects.filter(pk=event.pk).update(merged_into=moved[event.event_id])
