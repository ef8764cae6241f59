"""Editors' acts on published stories and on the roster: each with a reason, each published at once."""

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from config.errors import InvalidArgument, NotFound
from sources import roster
from sources.models import Publication, RosterRevision
from wire.ingest.normalise import MAX_HEADLINE, MAX_RAW
from wire.ingest.save import build_next_revision, set_content_hash
from wire.models import Event, Snapshot, Story, StoryPair, WireState
from wire.publishing import changelog
from wire.publishing.grouping import event_store, storyline_store
from wire.publishing.publish import publish_day, republish_days
from wire.text.choices import NEWER_RULES, Category, ChangeKind, PairLabel, Status, Topic, get_merged_into
from wire.text.plain_text import MEDIUM, REASON, SHORT, cut_text, extract_author, plain_line, plain_text

# What becomes of the reason for an event: an open day is published again anyway, and gives no reason.
SETTLING: Final = "stored in the history, and published if a final day is published again"
# The reason of a merge for which no other was given.
ONE_EVENT: Final = "An editor found that both report one event."


def withdraw_story(story_id: str, *, reason: str, now: dt.datetime | None = None) -> Snapshot | None:
    """Take a story back: it leaves every list, answers with its status, and is not cited. Raises: NotFound, InvalidArgument."""
    return _revise_story(story_id, reason, now or timezone.now(), status=Status.WITHDRAWN)


def correct_texts(story_id: str, *, reason: str, now: dt.datetime | None = None, **typed: str | None) -> Snapshot | None:
    """Correct what the wire said, by the texts typed; citations carry the date of it. Raises: NotFound, InvalidArgument."""
    now = now or timezone.now()
    changes = clean_typed_texts(**typed)
    with transaction.atomic():
        WireState.lock()
        (story,) = _find_stories([story_id])
        latest = story.revisions.order_by("-revision")[0]
        # What the wire says already is no change, or every citation would tell of a correction that nobody can find.
        changes = {name: value for name, value in changes.items() if value != getattr(latest, name)}
        if not changes.keys() - {"summary_short"}:  # which is cut from the other and corrects nothing by itself
            hint = "Give another headline, summary or author: the wire already says this, apart from white space and markup."
            raise InvalidArgument("Nothing was corrected.", hint)
        return _revise_story(story_id, reason, now, status=Status.CORRECTED, corrected_on=now.astimezone(dt.UTC).date(), **changes)


def clean_typed_texts(*, headline: str | None = None, summary: str | None = None, author: str | None = None) -> dict[str, Any]:
    """Return the fields of a revision for texts that an editor typed. Raises: InvalidArgument for an empty headline."""
    changes: dict[str, Any] = {}
    if headline is not None:
        changes["headline"] = plain_text(headline, MAX_HEADLINE)
        if not changes["headline"]:
            raise InvalidArgument("The headline would be empty.", "Write one; markup is not text.")
    if summary is not None:
        medium = cut_text(plain_text(summary, MAX_RAW), MEDIUM)
        changes |= {"summary_medium": medium, "summary_short": cut_text(medium, SHORT)}
    if author is not None:
        changes["author"] = extract_author(author)
    return changes


def classify_story(
    story_id: str, *, category: Category, topics: list[Topic], reason: str, now: dt.datetime | None = None
) -> Snapshot | None:
    """Override the lexicon for one story, for good. Raises: NotFound, InvalidArgument."""
    override = {"editor_category": str(category), "editor_topics": [str(topic) for topic in topics]}
    with transaction.atomic():
        WireState.lock()
        Story.objects.filter(chatbotnews_id=story_id).update(**override)
        fields = {"category": str(category), "topics": [str(topic) for topic in topics]}
        return _revise_story(story_id, reason, now or timezone.now(), **fields)


@transaction.atomic
def merge_events(event_ids: Collection[str], *, reason: str, now: dt.datetime | None = None) -> list[Snapshot]:
    """Make several events one, for good; the oldest keeps its id. Raises: NotFound, InvalidArgument."""
    WireState.lock()
    unknown = set(event_ids) - set(Event.objects.filter(event_id__in=event_ids).values_list("event_id", flat=True))
    if unknown:
        raise NotFound(f"There is no event {min(unknown)!r}.", "An event has the id of the story that started it.")
    stories = list(Story.objects.filter(event__in=event_ids))
    if len({story.event_id for story in stories}) < 2:
        raise InvalidArgument("Nothing was merged.", "Choose stories of two or more events.")
    return _settle_groups([stories], reason, now or timezone.now())


@transaction.atomic
def split_event(story_ids: Collection[str], *, reason: str, now: dt.datetime | None = None) -> list[Snapshot]:
    """Take stories out of their event, for good; together they are one of their own. Raises: NotFound, InvalidArgument."""
    WireState.lock()
    chosen = _find_stories(story_ids)
    if len({story.event_id for story in chosen}) != 1:
        raise InvalidArgument("Nothing was split.", "Choose stories of one published event.")
    rest = list(Story.objects.filter(event=chosen[0].event_id).exclude(pk__in=[story.pk for story in chosen]))
    if not rest:
        raise InvalidArgument("Nothing was split.", "Leave out at least one story of the event.")
    return _settle_groups([chosen, rest], reason, now or timezone.now())


@transaction.atomic
def pin_stories(story_ids: Collection[str], *, pinned: bool = True) -> int:
    """Keep stories in the events that they belong to, or leave it to the machine again; return how many. Raises: NotFound."""
    WireState.lock()
    stories = Story.objects.filter(pk__in=[story.pk for story in _find_stories(story_ids)], event__isnull=False)
    return stories.exclude(event_pinned=pinned).update(event_pinned=pinned)


@transaction.atomic
def choose_event_lead(story_id: str, *, chosen: bool = True) -> None:
    """Let one story stand for its event in lists, or leave the choice to the rules again; no snapshot says which one does.

    Raises: NotFound, InvalidArgument.
    """
    WireState.lock()
    (story,) = _find_stories([story_id])
    if story.current_id is None or story.status == Status.WITHDRAWN:
        raise InvalidArgument(f"{story_id} is not public.", "Choose a story that readers can see.")
    Story.objects.filter(event=story.event_id, leads_event=True).update(leads_event=False)
    Story.objects.filter(pk=story.pk).update(leads_event=chosen)
    WireState.raise_version()


@transaction.atomic
def decide_pair(pair_id: int, label: PairLabel, *, by: str, reason: str = "", now: dt.datetime | None = None) -> list[Snapshot]:
    """Settle whether two stories report one happening, and keep that as a label. Raises: NotFound, InvalidArgument."""
    now = now or timezone.now()
    WireState.lock()
    pair = StoryPair.objects.select_related("story", "other").filter(pk=pair_id).first()
    if pair is None:
        raise NotFound("These two stories are no longer in doubt: their events were regrouped.", "Nothing was changed.")
    if pair.label:
        decision = f"“{PairLabel(pair.label).label}”, by {pair.decided_by}"
        hint = "Nothing was changed. An event's page can merge or split events."
        raise InvalidArgument(f"This pair was already decided: {decision}.", hint)
    stories = (pair.story, pair.other)
    if any(story.current_id is None or story.status == Status.WITHDRAWN for story in stories):
        raise InvalidArgument("One of the two stories is no longer public.", "Nothing was changed; nothing is left to decide.")
    event_ids = {str(story.event_id) for story in stories}
    if len(event_ids) == 1:
        raise InvalidArgument("Both stories already belong to one event.", "Nothing was changed. The event's page can split it.")
    pair.label, pair.decided_at, pair.decided_by = label, now.replace(microsecond=0), by
    pair.save()
    if label == PairLabel.SAME:
        return merge_events(event_ids, reason=reason or ONE_EVENT, now=now)
    Story.objects.filter(pk__in=[story.pk for story in stories]).update(event_pinned=True)
    if label == PairLabel.FOLLOW_UP:
        storyline_store.join_storylines(event_ids, pinned=True)
    WireState.raise_version()
    return []


@transaction.atomic
def join_storylines(event_id: str, other_id: str) -> None:
    """Make the storylines of two events one, for good; no snapshot names storylines. Raises: NotFound, InvalidArgument."""
    WireState.lock()
    event, other = _find_public_event(event_id), _find_public_event(other_id)
    if event == other:
        raise InvalidArgument("Nothing was joined: both are one event.", "Choose another event.")
    if event.storyline_id and event.storyline_id == other.storyline_id:
        raise InvalidArgument("Nothing was joined: both events are in one storyline already.", "Choose an event of another one.")
    storyline_store.join_storylines([event.pk, other.pk], pinned=True)
    WireState.raise_version()


@transaction.atomic
def confirm_storyline(event_id: str) -> None:
    """Leave an event in its storyline, for good. Raises: NotFound, InvalidArgument."""
    WireState.lock()
    event = _find_public_event(event_id)
    if event.storyline_id is None or event.storyline_pinned:
        why = "it is in no storyline" if event.storyline_id is None else "an editor settled its storyline already"
        raise InvalidArgument(f"Nothing was changed: {why}.", "Open the event again.")
    Event.objects.filter(pk=event.pk).update(storyline_pinned=True)


@transaction.atomic
def split_storyline(event_id: str) -> None:
    """Part an event and the later ones of its storyline from the earlier ones, for good. Raises: NotFound, InvalidArgument."""
    WireState.lock()
    if not storyline_store.split_storyline_at(_find_public_event(event_id)):
        message = "Nothing was changed: no event comes before it in a storyline."
        raise InvalidArgument(message, "Choose a later event of the storyline.")
    WireState.raise_version()


@transaction.atomic
def replace_publication(
    retire: Publication, admit: Mapping[str, Any], *, reason: str, now: dt.datetime | None = None
) -> RosterRevision:
    """Replace a publication; the newest unsealed day names the new roster. Raises: RosterLocked, InvalidArgument."""
    now, reason = now or timezone.now(), validate_reason(reason)
    WireState.lock()
    revision = roster.replace_publication(retire, admit, reason=reason, on=now.astimezone(dt.UTC).date())
    change = changelog.ChangeDraft(ChangeKind.ROSTER_REPLACED, str(revision.number), revision.number)
    changelog.record_changes([change], now.replace(microsecond=0))
    WireState.raise_version()
    latest = Snapshot.objects.order_by("-wire_date").first()
    if latest:
        publish_day(latest.wire_date, now=now)
    return revision


def _find_stories(story_ids: Collection[str]) -> list[Story]:
    """Raises: NotFound."""
    found = list(Story.objects.filter(chatbotnews_id__in=story_ids))
    unknown = set(story_ids) - {story.chatbotnews_id for story in found}
    if unknown:
        raise NotFound(f"There is no story {min(unknown)!r}.", "Find it in the admin's list of stories.")
    return found


def _find_public_event(event_id: str) -> Event:
    """Return the event of this id, or the one that it was merged into. Raises: NotFound, InvalidArgument."""
    event = Event.objects.filter(pk=event_id).first()
    while event is not None and event.merged_into is not None:
        event = event.merged_into
    if event is None:
        raise NotFound(f"There is no event {event_id!r}.", "An event has the id of the story that started it.")
    if not Story.objects.live().filter(event=event).exists():
        raise InvalidArgument(f"Readers see no story of the event {event_id}.", "Choose an event with a public story.")
    return event


def validate_reason(reason: str, use: str = "published") -> str:
    """Return the reason as it is stored: one line of visible characters. `use`: who reads it. Raises: InvalidArgument."""
    reason = plain_line(reason, REASON)
    if not reason:
        raise InvalidArgument("A reason is missing.", f"Say in one sentence why; it is {use}.")
    if reason.casefold() == NEWER_RULES.casefold():
        raise InvalidArgument("This reason is reserved for rebuilds and would hide this change.", "Give the reason in other words.")
    if get_merged_into(reason):
        raise InvalidArgument("This reason is reserved for merges and would mislead readers.", "Give the reason in other words.")
    return reason


def _settle_groups(groups: Sequence[Sequence[Story]], reason: str, now: dt.datetime) -> list[Snapshot]:
    """Make each group one event, and publish every day that has a story of it, sealed ones with the reason."""
    reason = validate_reason(reason, SETTLING)
    event_store.settle_groups(groups)
    days = {story.wire_date for stories in groups for story in stories if story.current_id}
    return republish_days(days, now=now, unsealed=True, reason=reason)


@transaction.atomic
def _revise_story(story_id: str, reason: str, now: dt.datetime, **changes: Any) -> Snapshot | None:
    reason = validate_reason(reason)
    WireState.lock()
    (story,) = _find_stories([story_id])
    latest = story.revisions.order_by("-revision")[0]
    if latest.status == Status.WITHDRAWN:
        if changes.get("status") == Status.WITHDRAWN:
            return None
        raise InvalidArgument(f"{story_id} was withdrawn.", "That is final; nothing was changed.")
    revision = build_next_revision(story, latest, recorded_at=now.replace(microsecond=0), reason=reason, **changes)
    set_content_hash(story, revision)
    revision.save()
    Story.objects.filter(pk=story.pk).update(pending=True)
    published = republish_days([story.wire_date], now=now, unsealed=True, reason=reason)
    return next((snapshot for snapshot in published if snapshot.wire_date == story.wire_date), None)
