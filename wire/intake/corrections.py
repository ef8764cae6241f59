"""What editors do to published stories and to the roster: each with a reason, each published at once."""

import datetime as dt
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from django.db import transaction
from django.utils import timezone

from config.errors import InvalidArgument, NotFound
from sources import roster
from sources.models import Publication, RosterRevision
from wire.intake.normalise import MAX_HEADLINE, MAX_RAW
from wire.intake.store import hash_content, next_revision
from wire.models import Event, Snapshot, Story, StoryRevision, WireState
from wire.snapshots import changes, events
from wire.snapshots.publish import publish, republish
from wire.stories.text import MEDIUM, REASON, SHORT, byline, cut, plain_line, plain_text
from wire.stories.vocabulary import NEWER_RULES, Category, ChangeKind, Status, Topic

SETTLING: Final = "stored in the history, and published if a final day is published again"
"""What becomes of the reason for an event: an open day is published again anyway, and gives no reason."""


def withdraw(story_id: str, *, reason: str, now: dt.datetime | None = None) -> Snapshot | None:
    """Take a story back: it leaves every list, answers with its status, and is not cited. Raises: NotFound, InvalidArgument."""
    return _revise(story_id, reason, now or timezone.now(), status=Status.WITHDRAWN)


def correct(
    story_id: str,
    *,
    reason: str,
    headline: str | None = None,
    summary: str | None = None,
    author: str | None = None,
    now: dt.datetime | None = None,
) -> Snapshot | None:
    """Correct what the wire said; citations carry the date of it. Raises: NotFound, InvalidArgument."""
    now = now or timezone.now()
    changes = texts(headline=headline, summary=summary, author=author)
    with transaction.atomic():
        WireState.lock()
        (story,) = _stories([story_id])
        changes = _differing(changes, _latest(story))
        return _revise(story_id, reason, now, status=Status.CORRECTED, corrected_on=now.astimezone(dt.UTC).date(), **changes)


def texts(*, headline: str | None = None, summary: str | None = None, author: str | None = None) -> dict[str, Any]:
    """What the fields of a revision become when an editor types these texts. Raises: InvalidArgument for an empty headline."""
    changes: dict[str, Any] = {}
    if headline is not None:
        changes["headline"] = plain_text(headline, MAX_HEADLINE)
        if not changes["headline"]:
            raise InvalidArgument("The headline would be empty.", "Write one; markup is not text.")
    if summary is not None:
        medium = cut(plain_text(summary, MAX_RAW), MEDIUM)
        changes |= {"summary_medium": medium, "summary_short": cut(medium, SHORT)}
    if author is not None:
        changes["author"] = byline(author)
    return changes


def classify(
    story_id: str, *, category: Category, topics: list[Topic], reason: str, now: dt.datetime | None = None
) -> Snapshot | None:
    """Override the lexicon for one story, for good. Raises: NotFound, InvalidArgument."""
    override = {"editor_category": str(category), "editor_topics": [str(topic) for topic in topics]}
    with transaction.atomic():
        WireState.lock()
        Story.objects.filter(chatbotnews_id=story_id).update(**override)
        fields = {"category": str(category), "topics": [str(topic) for topic in topics]}
        return _revise(story_id, reason, now or timezone.now(), **fields)


@transaction.atomic
def merge(event_ids: Collection[str], *, reason: str, now: dt.datetime | None = None) -> list[Snapshot]:
    """Make several events one, for good; the oldest keeps its id. Raises: NotFound, InvalidArgument."""
    WireState.lock()
    unknown = set(event_ids) - set(Event.objects.filter(event_id__in=event_ids).values_list("event_id", flat=True))
    if unknown:
        raise NotFound(f"There is no event {min(unknown)!r}.", "An event has the id of the story that founded it.")
    stories = list(Story.objects.filter(event__in=event_ids))
    if len({story.event_id for story in stories}) < 2:
        raise InvalidArgument("Nothing was merged.", "Choose stories of two or more events.")
    return _settle([stories], reason, now or timezone.now())


@transaction.atomic
def split(story_ids: Collection[str], *, reason: str, now: dt.datetime | None = None) -> list[Snapshot]:
    """Take stories out of their event, for good; together they are one of their own. Raises: NotFound, InvalidArgument."""
    WireState.lock()
    chosen = _stories(story_ids)
    if len({story.event_id for story in chosen}) != 1:
        raise InvalidArgument("Nothing was split.", "Choose stories of one event that was published.")
    rest = list(Story.objects.filter(event=chosen[0].event_id).exclude(pk__in=[story.pk for story in chosen]))
    if not rest:
        raise InvalidArgument("Nothing was split.", "Leave at least one story of the event unchosen.")
    return _settle([chosen, rest], reason, now or timezone.now())


@transaction.atomic
def pin(story_ids: Collection[str], *, pinned: bool = True) -> None:
    """Keep stories in the events that they belong to, or leave it to the machine again. Raises: NotFound."""
    WireState.lock()
    Story.objects.filter(pk__in=[story.pk for story in _stories(story_ids)], event__isnull=False).update(event_pinned=pinned)


@transaction.atomic
def choose_lead(story_id: str) -> None:
    """Let one story stand for its event wherever that is listed, in place of the one that the rules choose.

    No snapshot changes, for none says which story leads. Raises: NotFound, InvalidArgument for a withdrawn story.
    """
    WireState.lock()
    (story,) = _stories([story_id])
    if story.current_id is None or story.status == Status.WITHDRAWN:
        raise InvalidArgument(f"{story_id} is not public.", "Choose a story that readers can see.")
    Story.objects.filter(event=story.event_id, leads_event=True).update(leads_event=False)
    Story.objects.filter(pk=story.pk).update(leads_event=True)
    WireState.raise_version()


@transaction.atomic
def replace_publication(
    retire: Publication, admit: Mapping[str, Any], *, reason: str, now: dt.datetime | None = None
) -> RosterRevision:
    """One publication out, one in; the newest unsealed day is published with the new fingerprint.

    Raises: RosterLocked, InvalidArgument.
    """
    now, reason = now or timezone.now(), required(reason)
    WireState.lock()
    revision = roster.replace(retire, admit, reason=reason, on=now.astimezone(dt.UTC).date())
    changes.record([changes.What(ChangeKind.ROSTER_REPLACED, str(revision.number), revision.number)], now.replace(microsecond=0))
    WireState.raise_version()
    latest = Snapshot.objects.order_by("-wire_date").first()
    if latest:
        publish(latest.wire_date, now=now)
    return revision


def _stories(story_ids: Collection[str]) -> list[Story]:
    """Raises: NotFound."""
    found = list(Story.objects.filter(chatbotnews_id__in=story_ids))
    unknown = set(story_ids) - {story.chatbotnews_id for story in found}
    if unknown:
        raise NotFound(f"There is no story {min(unknown)!r}.", "Find it in the admin's list of stories.")
    return found


def _latest(story: Story) -> StoryRevision:
    return story.revisions.order_by("-revision")[0]


def _differing(changes: Mapping[str, Any], latest: StoryRevision) -> dict[str, Any]:
    """What of `changes` the wire does not say already, or every citation would tell of a correction that nobody can find.

    Raises: InvalidArgument when that is nothing.
    """
    found = {name: value for name, value in changes.items() if value != getattr(latest, name)}
    if not found.keys() - {"summary_short"}:  # which is cut from the other and corrects nothing by itself
        hint = "Give another headline, summary or author: the wire says these already, white space and markup aside."
        raise InvalidArgument("Nothing was corrected.", hint)
    return found


def required(reason: str, use: str = "published") -> str:
    """The reason as it is kept: one line, without characters that nobody can see. `use`: who reads it. Raises: InvalidArgument."""
    reason = plain_line(reason, REASON)
    if not reason:
        raise InvalidArgument("A reason is missing.", f"Say in one sentence why; it is {use}.")
    if reason.casefold() == NEWER_RULES.casefold():
        raise InvalidArgument("This reason is that of a rebuild and would hide this change.", "Say in other words why.")
    return reason


def _settle(groups: Sequence[Sequence[Story]], reason: str, now: dt.datetime) -> list[Snapshot]:
    """Make each group one event, and publish every day that has a story of it, sealed ones with the reason."""
    reason = required(reason, SETTLING)
    concerned = [story for stories in groups for story in stories]
    events.settle(groups)
    days = {story.wire_date for story in concerned if story.current_id}
    return republish(days, now=now, unsealed=True, reason=reason)


@transaction.atomic
def _revise(story_id: str, reason: str, now: dt.datetime, **changes: Any) -> Snapshot | None:
    reason = required(reason)
    WireState.lock()
    (story,) = _stories([story_id])
    latest = _latest(story)
    if latest.status == Status.WITHDRAWN:
        if changes.get("status") == Status.WITHDRAWN:
            return None
        raise InvalidArgument(f"{story_id} was withdrawn.", "It stays so; nothing was changed.")
    revision = next_revision(story, latest, recorded_at=now.replace(microsecond=0), reason=reason, **changes)
    hash_content(story, revision)
    revision.save()
    Story.objects.filter(pk=story.pk).update(pending=True)
    published = republish([story.wire_date], now=now, unsealed=True, reason=reason)
    return next((snapshot for snapshot in published if snapshot.wire_date == story.wire_date), None)
