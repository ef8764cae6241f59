"""What the wire said at a moment: by its snapshots, which say of each day what was public from when on."""

import datetime as dt
import re
from typing import Any, Final

import orjson
from django.conf import settings

from citations.formats import CitationFormat, cite
from config.errors import NotFound, Withdrawn
from wire.answers import StoriesAnswer
from wire.bounds import LIST_LIMIT
from wire.models import Snapshot, Story, StoryRevision
from wire.queries import days, stories
from wire.schemas import CitationObjects, CitationOut, DayOut, ProvenanceOut, StoriesOut, estimated_tokens
from wire.search.cursor import encode, place_of
from wire.snapshots.citing import citable, permalink
from wire.snapshots.story_json import revision_out
from wire.stories.identity import is_story_id
from wire.stories.provenance import timestamp
from wire.stories.vocabulary import Category, Status
from wire.trust import MementoOut

_PINNED: Final = re.compile(r"(cbn-[0-9a-z]{12})@r([1-9][0-9]{0,5})(?:[:.]([0-9a-f]{8,64}))?")
MOST_DAYS: Final = 400  # that one page of a category goes back


def snapshot_as_of(moment: dt.datetime, day: dt.date | None = None) -> Snapshot:
    """The snapshot of a day (default: the latest then) that was public at that moment. Raises: NotFound."""
    rows = Snapshot.objects.filter(generated_at__lte=moment)
    if day is not None:
        snapshot = rows.filter(wire_date=day).order_by("-revision").first()
        if snapshot is None:
            first = days.snapshot_of(day, 1)
            raise NotFound(f"{day} was not published yet.", f"It was first published at {timestamp(first.generated_at)}.")
        return snapshot
    snapshot = rows.filter(wire_date__lte=moment.astimezone(dt.UTC).date()).order_by("-wire_date", "-revision").first()
    if snapshot is None:
        earliest = Snapshot.objects.order_by("sequence").values_list("generated_at", flat=True).first()
        since = f" It published first at {timestamp(earliest)}." if earliest else ""
        raise NotFound(f"The wire had published nothing yet.{since}", "Ask for a later moment.")
    return snapshot


def get_day_as_of(moment: dt.datetime, day: dt.date | None = None) -> StoriesAnswer[DayOut]:
    """`get_today`, or one day, as it was then. Raises: NotFound."""
    snapshot = snapshot_as_of(moment, day)
    return days.get_archive(snapshot.wire_date, snapshot.revision)


def get_provenance_as_of(moment: dt.datetime, day: dt.date | None = None) -> ProvenanceOut:
    """Raises: NotFound."""
    snapshot = snapshot_as_of(moment, day)
    return days.get_provenance(snapshot.wire_date, revision=snapshot.revision)


def get_story_as_of(story_id: str, moment: dt.datetime) -> bytes:
    """A story's JSON as it was then, event and figures too; of one that was withdrawn then, with that status. Raises: NotFound."""
    story = stories.published_story(story_id)
    snapshots = Snapshot.objects.filter(wire_date=story.wire_date, generated_at__lte=moment).order_by("-revision")
    for number, snapshot in enumerate(snapshots.iterator(20)):
        line = next((line for line in snapshot.manifest["stories"] if line["chatbotnews_id"] == story_id), None)
        if line is not None:
            row = story.revisions.get(revision=line["revision"])
            if number:
                row = story.revisions.filter(status=Status.WITHDRAWN, recorded_at__lte=moment).first() or row
            derived = line["event_id"], line["consensus_score"], line["cross_source_count"]
            return revision_out(story, row, *derived).model_dump_json(by_alias=True).encode()
    raise NotFound(f"{story_id} was not public then.", "Leave as_of out for the story as it is now.")


def get_category_as_of(
    category: Category, moment: dt.datetime, limit: int = LIST_LIMIT, cursor: str | None = None
) -> StoriesAnswer[StoriesOut]:
    """One page of a category's stories as the wire listed them then, newest first. Raises: InvalidArgument for a strange cursor."""
    name = f"category {category} as of {int(moment.timestamp())}"
    place = stories.list_place(name, cursor)
    newest: dict[dt.date, Snapshot] = {}
    rows = Snapshot.objects.filter(generated_at__lte=moment).defer("packed")
    if place[0] is not None:
        rows = rows.filter(wire_date__lte=place[0].date())
    for row in rows.order_by("wire_date", "revision").only("sequence", "wire_date", "revision").iterator(500):
        newest[row.wire_date] = row
    found: list[bytes] = []
    for day in sorted(newest, reverse=True)[:MOST_DAYS]:
        whole = days.stories_of(Snapshot.objects.get(pk=newest[day].pk))
        found += [story for story in whole if _is_behind(orjson.loads(story), category, place)]
        if len(found) > limit:
            break
    head = StoriesOut.model_construct(
        stories=[],
        next_cursor=encode(name, place_of(found[limit - 1])) if len(found) > limit else None,
        total=len(found[:limit]),
        total_is_exact=len(found) <= limit and cursor is None,
        est_tokens=estimated_tokens(found[:limit]),
    )
    return StoriesAnswer(head, found[:limit])


def _is_behind(story: dict[str, Any], category: Category, place: tuple[dt.datetime | None, str]) -> bool:
    if story["category"] != category:
        return False
    at = dt.datetime.fromisoformat(story["published_at"])
    return place[0] is None or (at, place[1]) < (place[0], story["chatbotnews_id"]) or at < place[0]


def pinned(story_id: str) -> tuple[Story, StoryRevision] | None:
    """The story and revision that `cbn-…@r2` names, or `cbn-…@r2:` and how its hash begins; None for an id without a pin.

    Raises: NotFound for a revision that there is not, or that has another hash.
    """
    match = _PINNED.fullmatch(story_id)
    if match is None or not is_story_id(match[1]):
        return None
    story = stories.published_story(match[1])
    assert story.current is not None  # noqa: S101
    row = story.revisions.filter(revision=int(match[2]), revision__lte=story.current.revision).first()
    if row is None:
        raise NotFound(f"{match[1]} has no revision {match[2]}.", f"Its revisions are 1 to {story.current.revision}.")
    if match[3] and not row.story_sha256.startswith(match[3]):
        raise NotFound(f"Revision {match[2]} of {match[1]} has another hash.", f"Its story_sha256 is {row.story_sha256}.")
    return story, row


def get_pinned_story(story_id: str) -> bytes | None:
    """The JSON of a pinned revision with pinned permalinks, its event and figures those of today; of a story that was withdrawn
    since, with that status and no citations. None for an id without a pin. Raises: NotFound.
    """
    found = pinned(story_id)
    if found is None:
        return None
    story, row = found
    derived = str(story.event_id), story.consensus_score, story.cross_source_count
    out = revision_out(story, row, *derived)
    address = permalink(story.chatbotnews_id)
    pinned_address = address + story_id.removeprefix(story.chatbotnews_id)
    if story.status == Status.WITHDRAWN:
        out.status, out.citation_objects = Status.WITHDRAWN, None
    elif out.citation_objects is not None:
        texts = out.citation_objects.model_dump()
        out.citation_objects = CitationObjects(**{name: text.replace(address, pinned_address) for name, text in texts.items()})
    out.permalink = pinned_address
    return out.model_dump_json(by_alias=True).encode()


def get_pinned_citation(story_id: str, form: CitationFormat) -> CitationOut | None:
    """A citation whose permalink names the revision, and the hash if the id does; None for an id without a pin.

    Raises: NotFound; Withdrawn for a story that was taken back.
    """
    found = pinned(story_id)
    if found is None:
        return None
    story, row = found
    if story.status == Status.WITHDRAWN or row.status == Status.WITHDRAWN:
        raise Withdrawn(f"{story.chatbotnews_id} was withdrawn and must not be cited.", "search_wire finds other coverage.")
    pin = story_id.removeprefix(story.chatbotnews_id)
    address = permalink(story.chatbotnews_id)
    text = cite(citable(story, row), form).replace(address, address + pin)
    return CitationOut(citation=text, format=str(form), story_id=story.chatbotnews_id)


def mementos(day: dt.date) -> list[MementoOut]:
    """Every revision of a day, oldest first, and from when on it was public. Raises: NotFound."""
    days.snapshot_of(day)
    rows = Snapshot.objects.filter(wire_date=day).order_by("revision").values_list("revision", "generated_at")
    return [MementoOut(url=days.archive_url(day, revision), at=at) for revision, at in rows]


def memento_url(path: str, moment: dt.datetime) -> str:
    """Where an address of REST tells what it told then."""
    return f"{settings.WIRE_SITE_URL}{path}?as_of={timestamp(moment)}"
