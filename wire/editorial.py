"""What editors do to published stories and to the roster: each with a public reason, each published at once."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone

from config.errors import InvalidArgument, NotFound
from sources import roster
from sources.models import Publication, RosterRevision
from wire.ingest import next_revision, seal
from wire.models import Snapshot, Story, StoryRevision, WireState
from wire.normalise import MAX_HEADLINE, MAX_RAW
from wire.publish import publish
from wire.text import MEDIUM, SHORT, byline, cut, plain_text
from wire.vocabulary import Category, Status, Topic


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
    changes: dict[str, Any] = {}
    if headline is not None:
        changes["headline"] = plain_text(headline, MAX_HEADLINE)
    if summary is not None:
        medium = cut(plain_text(summary, MAX_RAW), MEDIUM)
        changes |= {"summary_medium": medium, "summary_short": cut(medium, SHORT)}
    if author is not None:
        changes["author"] = byline(author)
    if not changes:
        raise InvalidArgument("Nothing was corrected.", "Give a headline, a summary or an author.")
    return _revise(story_id, reason, now, status=Status.CORRECTED, corrected_on=now.astimezone(dt.UTC).date(), **changes)


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
def replace_publication(
    retire: Publication, admit: Mapping[str, Any], *, reason: str, now: dt.datetime | None = None
) -> RosterRevision:
    """One publication out, one in; the newest unsealed day is published with the new fingerprint. Raises: RosterLocked."""
    now = now or timezone.now()
    WireState.lock()
    revision = roster.replace(retire, admit, reason=reason, on=now.astimezone(dt.UTC).date())
    WireState.raise_version()
    latest = Snapshot.objects.order_by("-wire_date").first()
    if latest:
        publish(latest.wire_date, now=now)
    return revision


@transaction.atomic
def _revise(story_id: str, reason: str, now: dt.datetime, **changes: Any) -> Snapshot | None:
    if not reason.strip():
        raise InvalidArgument("A reason is missing.", "Say in one sentence why; it is published.")
    WireState.lock()
    story = Story.objects.filter(chatbotnews_id=story_id).first()
    if story is None:
        raise NotFound(f"There is no story {story_id!r}.", "Find it in the admin's list of stories.")
    latest: StoryRevision = story.revisions.order_by("-revision")[0]
    revision = next_revision(story, latest, recorded_at=now.replace(microsecond=0), reason=reason.strip()[:500], **changes)
    seal(story, revision)
    revision.save()
    Story.objects.filter(pk=story.pk).update(pending=True)
    return publish(story.wire_date, now=now)
