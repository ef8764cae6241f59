"""Which event each story belongs to, as the database keeps it: `wire.snapshots.cluster` decides, except what editors settled."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from wire.models import Event, Story, StoryRevision, WireState
from wire.models.inserted import OR_NOTHING, insert
from wire.models.story import StoryQuerySet
from wire.snapshots import cluster
from wire.stories.roundups import is_roundup
from wire.stories.vocabulary import Status

NEVER: Final = dt.date.max


@transaction.atomic
def group(day: dt.date) -> None:
    """Give every story of the day that has none an event: a known one within ten days, or one of its own."""
    WireState.lock()
    fresh = _events_of(Story.objects.on(day).filter(event=None))
    if not fresh:
        return
    window = (day - cluster.WINDOW, day + cluster.WINDOW)
    near = Story.objects.filter(wire_date__range=window).filter(Q(event__isnull=False) | Q(wire_date=day))
    _write(fresh, cluster.assign(_items(near, open_from=NEVER)))


def regroup(first: dt.date) -> set[dt.date]:
    """Tell anew which event each story of the UTC day `first` and later belongs to: the same stories, the same events.

    Events of earlier days and those that editors settled stay as they are, and others may join them. Needs a transaction in
    which the days are published too, for a story and its day's snapshot name the same event. Returns the days of stories that
    moved to another event or were left behind by one.
    """
    free = _events_of(Story.objects.filter(wire_date__gte=first, event_pinned=False))
    near = Story.objects.filter(wire_date__gte=first - cluster.WINDOW)
    return _write(free, cluster.assign(_items(near, open_from=first)) if free else {})


@transaction.atomic
def reopen(days: Collection[dt.date]) -> set[dt.date]:
    """Mark every story of which the event has a pending story on one of these days: consensus is weighed over the whole event, so
    that all of its stories are published together. Returns the days of those that were not marked before.
    """
    WireState.lock()
    pending = Story.objects.pending().filter(wire_date__in=days)
    return _mark(Story.objects.filter(event__in=pending.values("event")))


def settle(groups: Iterable[Sequence[Story]]) -> None:
    """Make each group of stories one event, for good. It keeps the id of the oldest event that was founded by one of it.

    Withdrawn stories found none as long as others may be shown.
    """
    for stories in groups:
        shown = [story for story in stories if story.status != Status.WITHDRAWN] or stories
        by_age = sorted(shown, key=lambda story: (story.published_at, story.chatbotnews_id))
        known = _events_of(Story.objects.filter(pk__in=[story.pk for story in stories]))
        event_id = next((s.chatbotnews_id for s in by_age if s.chatbotnews_id in known.values()), by_age[0].chatbotnews_id)
        _write(known, dict.fromkeys(known, event_id))
        Story.objects.filter(pk__in=[story.pk for story in stories]).update(event_pinned=True)


def _items(stories: StoryQuerySet, *, open_from: dt.date) -> list[cluster.Item]:
    """Stories as clustering sees them, by their newest revision; withdrawn ones tell of nothing, and round-ups of too much to be a
    report of one event, unless an editor pinned them to it.

    Settled is the event of a day before `open_from`, and of a story that an editor pinned to it.
    """
    columns = ("headline", "published_at", "story__event_id", "summary_medium", "original_publisher")
    rows = StoryRevision.objects.filter(story__in=stories).order_by("story", "revision")
    settled = ("status", "story__wire_date", "story__event_pinned")
    newest = {row[0]: row[1:] for row in rows.values_list("story__chatbotnews_id", *columns, *settled)}
    return [
        cluster.Item(story_id, headline, published_at, event_id if pinned or day < open_from else None, summary, publisher)
        for story_id, (headline, published_at, event_id, summary, publisher, status, day, pinned) in newest.items()
        if status != Status.WITHDRAWN and (pinned or not is_roundup(headline))
    ]


def _events_of(stories: StoryQuerySet) -> dict[str, str | None]:
    """The event of each story as it is now, None for one that has none yet."""
    return dict(stories.values_list("chatbotnews_id", "event"))


def _write(known: Mapping[str, str | None], told: Mapping[str, str]) -> set[dt.date]:
    """Keep the event of each story whose event is another than it was known to have; one that nothing is told of is withdrawn or
    a round-up, and stands alone. An event that lost all that may be shown leads to where the first of those went. Who moved and who
    was left behind is marked as pending: their days are returned.
    """
    found = {story: event for story, before in known.items() if (event := told.get(story, story)) != before}
    if not found:
        return set()
    stories = list(Story.objects.filter(chatbotnews_id__in=found).only("chatbotnews_id", "published_at", "event", "leads_event"))
    left: dict[str, list[Story]] = defaultdict(list)
    for story in sorted(stories, key=lambda story: (story.published_at, story.chatbotnews_id)):
        if story.event_id:
            left[story.event_id].append(story)
        story.event_id, story.leads_event = found[story.chatbotnews_id], False  # nobody chose it for that one
    joined = {str(story.event_id) for story in stories}
    insert(Event, ("event_id",), [(event,) for event in sorted(joined)], OR_NOTHING)
    Story.objects.all().write(stories, ["event", "leads_event"])
    _redirect(left, joined)
    moved = [story.pk for stories in left.values() for story in stories]
    return _mark(Story.objects.filter(Q(pk__in=moved) | Q(event__in=left)))


def _mark(stories: StoryQuerySet) -> set[dt.date]:
    """Have these published again. Returns the days of those that were not to be."""
    unmarked = stories.filter(pending=False).order_by()
    days = set(unmarked.values_list("wire_date", flat=True))
    if days:
        unmarked.update(pending=True)
    return days


def _redirect(left: Mapping[str, Sequence[Story]], joined: Collection[str]) -> None:
    Event.objects.filter(event_id__in=joined).exclude(merged_into=None).update(merged_into=None)
    withdrawn = StoryRevision.objects.filter(story=OuterRef("pk"), status=Status.WITHDRAWN)
    shown = Story.objects.filter(event=OuterRef("pk")).exclude(Exists(withdrawn))
    for event_id in Event.objects.filter(Q(event_id__in=left), ~Exists(shown)).values_list("event_id", flat=True):
        leavers = left[event_id]
        founder = next((story for story in leavers if story.chatbotnews_id == event_id), leavers[0])
        if founder.event_id != event_id:
            Event.objects.filter(event_id=event_id).update(merged_into=founder.event_id)
    moved = {story.chatbotnews_id: story.event_id for stories in left.values() for story in stories}
    for event in Event.objects.filter(event_id__in=moved).exclude(merged_into=None):  # led elsewhere before its founder moved on
        if moved[event.event_id] not in (event.event_id, event.merged_into_id):
            Event.objects.filter(pk=event.pk).update(merged_into=moved[event.event_id])
