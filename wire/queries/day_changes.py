"""Changes of a published day since it was first published: late stories, withdrawals, and texts before and after."""

import datetime as dt
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from django.conf import settings
from django.db.models import F

from wire.models import Snapshot, StoryRevision
from wire.models.snapshot import SEAL_AFTER
from wire.queries.site_pages import list_withdrawn_on
from wire.queries.snapshots import find_snapshot
from wire.schemas import build_from
from wire.schemas.proofs import ChangedField, DayChangesOut, LateStory, Republished, RevisedStory, WithdrawnStory
from wire.text.choices import NEWER_RULES, Status

MOST: Final = 200  # revisions that are shown
_FIELDS: Final = {"headline": "headline", "summary": "summary_medium", "author": "author", "category": "category"}


class DayChanges(NamedTuple):
    """`revisions`: each of `out.revised`, and the revision before it."""

    out: DayChangesOut
    revisions: list[tuple[StoryRevision, StoryRevision]]


def get_day_changes(day: dt.date) -> DayChangesOut:
    """Return what changed on a day since it was first published. Raises: NotFound."""
    return view_day_changes(day).out


def view_day_changes(day: dt.date) -> DayChanges:
    """Return all of `get_day_changes`, with the revisions as pages show them. Raises: NotFound."""
    newest = find_snapshot(day)
    versions = Snapshot.objects.filter(wire_date=day).order_by("revision")
    first = versions.defer("packed")[0]
    revisions = list(_list_revisions(day))
    out = DayChangesOut(
        wire_date=day,
        first_published_at=first.generated_at,
        revision=newest.revision,
        late=_list_late_stories(newest),
        withdrawn=[build_from(WithdrawnStory, one) for one in list_withdrawn_on(day)],
        revised=[_to_revised_story(new, old) for new, old in revisions[:MOST]],
        total_revised=len(revisions),
        republished=[build_from(Republished, one) for one in versions.exclude(reason="").defer("packed")],
    )
    return DayChanges(out, revisions[:MOST])


def _list_late_stories(newest: Snapshot) -> list[LateStory]:
    """Return the stories of the newest revision of a day that its last one before it was final does not have."""
    final_at = dt.datetime.combine(newest.wire_date, dt.time(), dt.UTC) + dt.timedelta(days=1) + SEAL_AFTER
    versions = Snapshot.objects.filter(wire_date=newest.wire_date)
    open_one = versions.filter(generated_at__lt=final_at).order_by("-revision").first() or versions.order_by("revision")[0]
    if open_one.pk == newest.pk:
        return []
    ids = {line["chatbotnews_id"]: line["revision"] for line in newest.manifest["stories"]}
    for line in open_one.manifest["stories"]:
        ids.pop(line["chatbotnews_id"], None)
    rows = StoryRevision.objects.filter(story__chatbotnews_id__in=ids).select_related("story")
    shown = [row for row in rows if row.revision == ids[row.story.chatbotnews_id]]
    shown.sort(key=lambda row: (-row.story.first_seen_at.timestamp(), row.story.chatbotnews_id))
    return [
        build_from(
            LateStory,
            row,
            chatbotnews_id=row.story.chatbotnews_id,
            first_seen_at=row.story.first_seen_at,
            permalink=f"{settings.WIRE_SITE_URL}/story/{row.story.chatbotnews_id}",
        )
        for row in shown
    ]


def _list_revisions(day: dt.date) -> Iterator[tuple[StoryRevision, StoryRevision]]:
    """Yield the published revisions that changed a text, newest first, each with the one before; of no withdrawn story."""
    rows = StoryRevision.objects.filter(story__wire_date=day, revision__lte=F("story__current__revision"))
    rows = rows.exclude(story__status=Status.WITHDRAWN).filter(story__current__revision__gt=1).select_related("story")
    by_number = {(row.story_id, row.revision): row for row in rows.order_by("-recorded_at", "-pk")}
    for (story, number), row in by_number.items():
        before = by_number.get((story, number - 1))
        if before and row.reason != NEWER_RULES and (row.reason or _diff_texts(row, before)):
            yield row, before


def _to_revised_story(new: StoryRevision, old: StoryRevision) -> RevisedStory:
    story = new.story.chatbotnews_id
    return build_from(
        RevisedStory,
        new,
        chatbotnews_id=story,
        by="editor" if new.reason else "publisher",
        permalink=f"{settings.WIRE_SITE_URL}/story/{story}#revision-{new.revision}",
        changed=_diff_texts(new, old),
        untrusted_instructions=new.untrusted_instructions or old.untrusted_instructions,  # `changed` has the text before, too
    )


def _diff_texts(new: StoryRevision, old: StoryRevision) -> list[ChangedField]:
    texts: dict[str, tuple[Any, Any]] = {name: (getattr(old, field), getattr(new, field)) for name, field in _FIELDS.items()}
    texts["topics"] = ", ".join(old.topics), ", ".join(new.topics)
    return [
        ChangedField(field=name, before=before or "", after=after or "")  # type: ignore[arg-type]
        for name, (before, after) in texts.items()
        if (before or "") != (after or "")
    ]
