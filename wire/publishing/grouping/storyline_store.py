"""Storylines as the database holds them: each of their events has the id of the oldest. Callers hold the lock of WireState."""

from collections.abc import Collection

from django.db.models import Min, Q

from wire.models import Event, Story
from wire.models.story import StoryQuerySet
from wire.text.choices import Status


def sort_events(stories: StoryQuerySet) -> list[str]:
    """Return the ids of the events of these stories, by their first story, oldest first."""
    began = stories.order_by().values("event").annotate(began=Min("published_at")).order_by("began", "event")
    return list(began.values_list("event", flat=True))


def join_storylines(event_ids: Collection[str], *, pinned: bool) -> None:
    """Make the storylines of these events one. `pinned`: an editor settled it."""
    events = Event.objects.filter(pk__in=event_ids)
    storylines = list(events.exclude(storyline=None).values_list("storyline", flat=True))
    members = Event.objects.filter(Q(pk__in=event_ids) | Q(storyline__in=storylines))
    _name_storyline(list(members.values_list("pk", flat=True)), pinned=pinned)


def split_storyline_at(event: Event) -> bool:
    """Let an event and the later ones of its storyline begin one of their own, for good; False if it is the first already."""
    members = list(Event.objects.filter(storyline=event.storyline).values_list("pk", flat=True)) if event.storyline_id else []
    shown = _sort_shown_events(members)
    if event.pk not in shown[1:]:
        return False
    later = shown[shown.index(event.pk) :]
    _name_storyline([member for member in members if member not in later], pinned=True)
    _name_storyline(later, pinned=True)
    return True


def hand_over_storyline(event_id: str, heir_id: str) -> None:
    """Give the storyline of an event that lost its stories to the event that has them now, unless that has one of its own."""
    event, heir = Event.objects.get(pk=event_id), Event.objects.get(pk=heir_id)
    if event.storyline_id is None and not event.storyline_pinned:
        return
    is_free = heir.storyline_id is None and not heir.storyline_pinned
    if is_free or event.storyline_pinned or event.storyline_id == event_id:
        join_storylines([event_id, heir_id], pinned=event.storyline_pinned or heir.storyline_pinned)


def _name_storyline(event_ids: Collection[str], *, pinned: bool) -> None:
    """Make these events a storyline with the id of the oldest that may be shown; a single event has none."""
    shown = _sort_shown_events(event_ids)
    if not shown:
        return
    events = Event.objects.filter(pk__in=event_ids)
    events.update(storyline=shown[0] if len(event_ids) > 1 else None)
    if pinned:
        events.update(storyline_pinned=True)


def _sort_shown_events(event_ids: Collection[str]) -> list[str]:
    return sort_events(Story.objects.filter(event__in=event_ids).exclude(status=Status.WITHDRAWN))
