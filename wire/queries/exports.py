"""Stories in the formats that newsrooms and reference managers read: ninjs 3, BibTeX, RIS, CSL-JSON, NDJSON."""

import datetime as dt
import hashlib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import orjson
from django.conf import settings

from citations.format.formats import Citable, render_bibtex, render_csl, render_ris
from config.errors import InvalidArgument
from wire.models import Story
from wire.publishing.story_json import to_citable
from wire.queries.events import view_event
from wire.queries.snapshots import find_snapshot, get_archived_day
from wire.queries.stories import get_category, get_story, get_topic_coverage, search_wire
from wire.schemas import build_from
from wire.schemas.params import Group
from wire.schemas.proofs import DayFileOut
from wire.schemas.stories_answer import StoriesAnswer
from wire.schemas.story import StoryOut
from wire.text.choices import Category, Status, Topic
from wire.text.provenance_manifest import to_rfc3339

NINJS: Final = {"name": "ninjs", "version": "3.0", "schema": "https://www.iptc.org/std/ninjs/ninjs-schema_3.0.json"}
CITED: Final[Mapping[str, Callable[[Citable], str]]] = {
    "bib": partial(render_bibtex, has_date=True),
    "ris": render_ris,
    "csl": render_csl,
}
PAGE: Final = 1_000  # stories
TYPES: Final = {
    "bib": "application/x-bibtex; charset=utf-8",
    "ris": "application/x-research-info-systems; charset=utf-8",
    "csl": "application/vnd.citationstyles.csl+json",
    "ndjson": "application/x-ndjson; charset=utf-8",
    "ninjs": "application/json",
}


def get_ninjs_story(story_id: str) -> dict[str, Any]:
    """Return one story as ninjs 3; a withdrawn one is `canceled` and has no words. Raises: NotFound."""
    return _to_ninjs(get_story(story_id))


def get_ninjs_event(event_id: str) -> dict[str, Any]:
    """Return one event as a ninjs 3 composite, its reports associated, oldest first. Raises: NotFound."""
    view = view_event(event_id)
    return {
        "uri": f"{settings.WIRE_SITE_URL}/event/{view.event_id}",
        "standard": NINJS,
        "type": "composite",
        "representationType": "full",
        "firstCreated": to_rfc3339(view.first.published_at),
        "versionCreated": to_rfc3339(max(report.story.updated_at for report in view.reports)),
        "language": view.lead.language,
        "headlines": [{"role": "main", "value": view.lead.headline}],
        "edNote": view.agreement,
        "associations": [
            {"name": report.story.chatbotnews_id} | {k: v for k, v in _to_ninjs(report.story).items() if k != "standard"}
            for report in view.reports
        ],
    }


def _to_ninjs(story: StoryOut) -> dict[str, Any]:
    is_withdrawn = story.status == Status.WITHDRAWN
    words = {
        "headlines": [{"role": "main", "value": story.headline}],
        **({"by": story.author} if story.author else {}),
        "descriptions": [{"role": "summary", "contentType": "text/plain", "value": story.summary_medium}],
    }
    sources = [{"name": story.original_publisher, "role": "originator", "uri": story.original_url}]
    sources += [{"name": story.credited_source, "role": "credited"}] if story.credited_source else []
    return {
        "uri": story.permalink,
        "standard": NINJS,
        "type": "text",
        "representationType": "partial",
        "version": str(story.revision),
        "firstCreated": to_rfc3339(story.first_seen_at),
        "versionCreated": to_rfc3339(story.updated_at),
        "contentCreated": to_rfc3339(story.published_at),
        "pubStatus": "canceled" if is_withdrawn else "usable",
        "language": story.language,
        **({} if is_withdrawn else words),
        "infoSources": sources,
        "subjects": [{"name": str(story.category), "rel": "category"}]
        + [{"name": str(topic), "rel": "topic"} for topic in story.topics],
        "altIds": [
            {"role": "chatbotnews_id", "value": story.chatbotnews_id},
            {"role": "story_sha256", "value": story.story_sha256},
        ],
        "copyrightHolder": story.original_publisher,
        "usageTerms": "Headline and summary are the publisher's; cite in the layered format of ChatbotNews.ai.",
    }


class ExportPage(NamedTuple):
    """A page of an export; `total` counts the whole list, None where that is more than lists count."""

    body: bytes
    next_cursor: str | None
    total: int | None


def get_export_page(
    form: str,
    date: dt.date | None = None,
    category: Category | None = None,
    topic: Topic | None = None,
    query: str | None = None,
    cursor: str | None = None,
) -> ExportPage:
    """Return the stories of a day, or a page of those of a category, topic or search, in a form of CITED or "ninjs".

    Raises: InvalidArgument unless exactly one of these is given, and for a strange cursor; NotFound.
    """
    if [date, category, topic, query].count(None) != 3:
        raise InvalidArgument("Exactly one of date, category, topic and query is needed.", "Give one of them.")
    if date is not None:
        if cursor is not None:
            raise InvalidArgument("A day is exported whole and has no cursor.", "Leave cursor out.")
        day = get_archived_day(date)
        return ExportPage(_render_export(form, day.story_json), None, len(day.story_json))
    found: StoriesAnswer[Any]
    if category is not None:
        found = get_category(category, PAGE, cursor)
    elif topic is not None:
        found = get_topic_coverage(topic, limit=PAGE, cursor=cursor)
    else:
        found = search_wire(str(query), PAGE, cursor, group=Group.NONE)
    return ExportPage(_render_export(form, found.story_json), found.next_cursor, found.total if found.total_is_exact else None)


def _render_export(form: str, stories: Sequence[bytes]) -> bytes:
    if form == "ninjs":
        return orjson.dumps([_to_ninjs(StoryOut.model_validate_json(story)) for story in stories])
    ids = [orjson.loads(story)["chatbotnews_id"] for story in stories]
    rows = {row.chatbotnews_id: row for row in Story.objects.live().filter(chatbotnews_id__in=ids).with_text()}
    cited = [CITED[form](to_citable(row, row.current)) for one in ids if (row := rows.get(one)) and row.current]
    if form == "csl":
        return orjson.dumps([item for one in cited for item in orjson.loads(one)])
    return b"".join(one.strip("\n").encode() + b"\n\n" for one in cited)


def get_day_ndjson(day: dt.date, revision: int | None = None) -> bytes:
    """Return a day's stories, one JSON object a line, in list order. Raises: NotFound."""
    return b"".join(story + b"\n" for story in get_archived_day(day, revision).story_json)


def describe_day_file(day: dt.date, revision: int | None = None) -> DayFileOut:
    """Return length, checksum and snapshot of the NDJSON of a day. Raises: NotFound."""
    snapshot, data = find_snapshot(day, revision), get_day_ndjson(day, revision)
    return build_from(
        DayFileOut,
        snapshot,
        url=f"{settings.WIRE_SITE_URL}/archive/{day}.ndjson?revision={snapshot.revision}",
        stories=snapshot.story_count,
        bytes=len(data),
        sha256=hashlib.sha256(data).hexdigest(),
    )
