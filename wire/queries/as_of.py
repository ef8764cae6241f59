"""The wire as of a moment: its snapshots record from when on each revision of a day was public."""

import datetime as dt
import re
from typing import Final

import orjson

from citations.format.formats import CitationFormat, cite_story
from config.errors import NotFound, Withdrawn
from wire.models import Snapshot, Story, StoryRevision
from wire.publishing.story_json import Derived, build_story_out, get_permalink, render_revision_json, to_citable
from wire.queries import snapshots, stories
from wire.schemas.params import LIST_LIMIT
from wire.schemas.proofs import MementoOut
from wire.schemas.stories_answer import StoriesAnswer
from wire.schemas.story import CitationObjects, CitationOut, DayOut, ProvenanceOut, StoriesOut
from wire.text.choices import Category, Status
from wire.text.identity import is_story_id
from wire.text.provenance_manifest import to_rfc3339

_PIN: Final = re.compile(r"(cbn-[0-9a-z]{12})@r([1-9][0-9]{0,5})(?:[:.]([0-9a-f]{8,64}))?")
MOST_DAYS: Final = 400  # that one page of a category goes back


def find_snapshot_as_of(moment: dt.datetime, day: dt.date | None = None) -> Snapshot:
    """Return the snapshot of a day (default: the latest then) that was public at that moment. Raises: NotFound."""
    rows = Snapshot.objects.filter(generated_at__lte=moment)
    if day is not None:
        snapshot = rows.filter(wire_date=day).order_by("-revision").first()
        if snapshot is None:
            first = snapshots.find_snapshot(day, 1)
            raise NotFound(f"{day} was not yet published then.", f"It was first published at {to_rfc3339(first.generated_at)}.")
        return snapshot
    snapshot = rows.filter(wire_date__lte=moment.astimezone(dt.UTC).date()).order_by("-wire_date", "-revision").first()
    if snapshot is None:
        earliest = Snapshot.objects.order_by("sequence").values_list("generated_at", flat=True).first()
        since = f" It first published at {to_rfc3339(earliest)}." if earliest else ""
        raise NotFound(f"The wire had published nothing by then.{since}", "Ask for a later moment.")
    return snapshot


def get_day_as_of(moment: dt.datetime, day: dt.date | None = None) -> StoriesAnswer[DayOut]:
    """Return `get_today`, or one day, as of a moment. Raises: NotFound."""
    snapshot = find_snapshot_as_of(moment, day)
    return snapshots.get_archived_day(snapshot.wire_date, snapshot.revision)


def get_provenance_as_of(moment: dt.datetime, day: dt.date | None = None) -> ProvenanceOut:
    """Raises: NotFound."""
    snapshot = find_snapshot_as_of(moment, day)
    return snapshots.get_provenance(snapshot.wire_date, revision=snapshot.revision)


def get_story_as_of(story_id: str, moment: dt.datetime) -> bytes:
    """Return a story's JSON as of a moment, event and figures too; with its status if it was withdrawn then. Raises: NotFound."""
    story = stories.find_published_story(story_id)
    snapshots = Snapshot.objects.filter(wire_date=story.wire_date, generated_at__lte=moment).order_by("-revision")
    for number, snapshot in enumerate(snapshots.iterator(20)):
        line = next((line for line in snapshot.manifest["stories"] if line["chatbotnews_id"] == story_id), None)
        if line is not None:
            row = story.revisions.get(revision=line["revision"])
            if number:
                row = story.revisions.filter(status=Status.WITHDRAWN, recorded_at__lte=moment).first() or row
            return render_revision_json(story, row, Derived.from_manifest(line))
    raise NotFound(f"{story_id} was not public then.", "Leave as_of out for the story as it is now.")


def get_category_as_of(
    category: Category, moment: dt.datetime, limit: int = LIST_LIMIT, cursor: str | None = None
) -> StoriesAnswer[StoriesOut]:
    """Return one page of a category's stories as listed at that moment, newest first. Raises: InvalidArgument (strange cursor)."""
    name = f"category {category} as of {int(moment.timestamp())}"
    last_at, last_id = stories.parse_list_cursor(name, cursor)
    rows = Snapshot.objects.filter(generated_at__lte=moment).order_by("wire_date", "revision")
    if last_at is not None:
        rows = rows.filter(wire_date__lte=last_at.date())
    newest = dict(rows.values_list("wire_date", "pk").iterator(500))
    found: list[bytes] = []
    for day in sorted(newest, reverse=True)[:MOST_DAYS]:
        for json in snapshots.read_stories(Snapshot.objects.get(pk=newest[day])):
            story = orjson.loads(json)
            position = dt.datetime.fromisoformat(story["published_at"]), last_id
            if story["category"] == category and (last_at is None or (last_at, story["chatbotnews_id"]) > position):
                found.append(json)
        if len(found) > limit:
            break
    has_more = len(found) > limit
    return stories.build_page(name, found, limit, (len(found[:limit]), not has_more and cursor is None))


def find_pinned_revision(story_id: str) -> tuple[Story, StoryRevision] | None:
    """Return the story and revision named by `cbn-…@r2`, or `cbn-…@r2:` and the first digits of its hash; None without a pin.
    Raises: NotFound for an unknown revision or another hash.
    """
    match = _PIN.fullmatch(story_id)
    if match is None or not is_story_id(match[1]):
        return None
    story = stories.find_published_story(match[1])
    assert story.current is not None  # noqa: S101
    row = story.revisions.filter(revision=int(match[2]), revision__lte=story.current.revision).first()
    if row is None:
        raise NotFound(f"{match[1]} has no revision {match[2]}.", f"Its latest revision is {story.current.revision}.")
    if match[3] and not row.story_sha256.startswith(match[3]):
        raise NotFound(f"Revision {match[2]} of {match[1]} has another hash.", f"Its story_sha256 is {row.story_sha256}.")
    return story, row


def get_pinned_story(story_id: str) -> bytes | None:
    """Return the JSON of a pinned revision with pinned permalinks; event and figures are today's. A story that was withdrawn since
    has that status and no citations, unless it was merged. None for an id without a pin. Raises: NotFound.
    """
    if (found := find_pinned_revision(story_id)) is None:
        return None
    story, row = found
    out = build_story_out(story, row, Derived.from_story(story))
    address, pinned_address = get_permalink(story.chatbotnews_id), get_permalink(story_id)
    out.merged_into = (story.merged_into or "") if story.status == Status.WITHDRAWN else ""
    if story.status == Status.WITHDRAWN and not story.merged_into:
        out.status, out.citation_objects = Status.WITHDRAWN, None
    elif out.citation_objects is not None:
        texts = out.citation_objects.model_dump()
        out.citation_objects = CitationObjects(**{name: text.replace(address, pinned_address) for name, text in texts.items()})
    out.permalink = pinned_address
    return out.model_dump_json(by_alias=True).encode()


def get_pinned_citation(story_id: str, form: CitationFormat) -> CitationOut | None:
    """Return a citation with a pinned permalink; None for an id without a pin. Raises: NotFound, Withdrawn."""
    if (found := find_pinned_revision(story_id)) is None:
        return None
    story, row = found
    if (story.status == Status.WITHDRAWN and not story.merged_into) or row.status == Status.WITHDRAWN:
        raise Withdrawn(f"{story.chatbotnews_id} was withdrawn and must not be cited.", "search_wire finds other coverage.")
    text = cite_story(to_citable(story, row), form).replace(get_permalink(story.chatbotnews_id), get_permalink(story_id))
    return CitationOut(citation=text, format=str(form), story_id=story.chatbotnews_id)


def list_mementos(day: dt.date) -> list[MementoOut]:
    """Return the revisions of a day, oldest first, and from when on each was public. Raises: NotFound."""
    snapshots.find_snapshot(day)
    rows = Snapshot.objects.filter(wire_date=day).order_by("revision").values_list("revision", "generated_at")
    return [MementoOut(url=snapshots.archive_url(day, revision), at=at) for revision, at in rows]
