"""The resources: what each address answers, and which there are. Addresses and MIME types are the specification's §3."""

import datetime as dt
import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import orjson
from mcp_types import Resource, ResourceTemplate
from pydantic import BaseModel

from config.errors import NotFound
from mcpserver.servers.base import TEXTS
from sources.choices import ROSTER_SIZE
from wire import queries
from wire.schemas.detail import Detail, shape_page
from wire.schemas.params import read_date
from wire.schemas.stories_answer import StoriesAnswer
from wire.schemas.story import DayOut, DayStoriesOut, TopicOut
from wire.search.cursor import build_cursor_error, decode_cursor, encode_cursor
from wire.site.llms_txt import llms_txt
from wire.text.choices import Category, Topic
from wire.text.plain_text import plain_text

JSON: Final = "application/json"
MARKDOWN: Final = "text/markdown"
TEXT: Final = "text/plain"

PAGE: Final = 100  # resources in one page of resources/list
TITLE: Final = 80  # characters of a headline by which a story is listed
EDGE_TTL_MS: Final = 300_000  # today and its categories: the specification's five minutes

HINT: Final = "resources/list names every story of today and every archived day; resources/templates/list the patterns."


def _list_fixed_resources() -> Iterator[Resource]:
    vocabularies: dict[str, Any] = {"today/{category}": Category, "topic/{topic}": Topic}
    for path, texts in TEXTS["wire"]["resources"].items():
        if path not in vocabularies:
            yield Resource(uri=f"wire://{path}", **texts)
        for value in vocabularies.get(path, ()):
            named = {key: text.format(label=value.label) for key, text in texts.items()}
            yield Resource(uri=f"wire://{path.format(category=value.value, topic=value.value)}", **named)


FIXED: Final = tuple(_list_fixed_resources())
TEMPLATES: Final = tuple(
    ResourceTemplate(uri_template=f"wire://{path}", mime_type=JSON, **texts) for path, texts in TEXTS["wire"]["templates"].items()
)

Content = tuple[str, str]  # MIME type and text


def read_resource(uri: str) -> Content:
    """Return what a resource holds now. Raises: NotFound, NothingPublished."""
    for pattern, _, answer in _READERS:
        if match := re.fullmatch(pattern, uri):
            return answer(*match.groups())
    raise NotFound("There is no such resource.", HINT)


def find_uri_template(uri: str) -> str:
    """Return the address, or the template of those that name a story, a topic or a day; "" for one that there is not."""
    if uri in _NAMED:
        return uri
    return next((template for pattern, template, _ in _READERS if template and re.fullmatch(pattern, uri)), "")


def list_resources(cursor: str | None = None) -> tuple[list[Resource], str | None]:
    """Return a page of all resources: fixed ones, today's live stories, archived days; and the cursor of the next page.

    A cursor names the last entry of its page, so what is published meanwhile shifts nothing. Raises: InvalidArgument for a strange
    cursor, and when the last resource of the page before is gone.
    """
    entries, begin = [*FIXED, *_list_todays_stories(), *_list_archive_days()], 0
    if cursor is not None:
        uris = [entry.uri for entry in entries]
        (last,) = decode_cursor(cursor, {"resources": 1})[1]
        if last not in uris:
            raise build_cursor_error()
        begin = uris.index(last) + 1
    page = entries[begin : begin + PAGE]
    return page, encode_cursor("resources", page[-1].uri) if begin + PAGE < len(entries) else None


def add_mcp(day: StoriesAnswer[DayOut]) -> bytes:
    """Return the day as REST has it, plus `_mcp` (§3.3)."""
    return day.json(
        _mcp={
            "spec_version": "1.0",  # of the published specification, whose object this is
            "wire_sha256": day.head.provenance.wire_sha256,
            "source_roster_count": ROSTER_SIZE,
            "source_roster_locked": True,
            "source_roster_sha256": day.head.source_integrity.roster_sha256,
            "preferred_citation_format": "layered",
            "license": "CC-BY-4.0",
        }
    )


def _list_todays_stories() -> list[Resource]:
    return [
        Resource(
            uri=f"wire://story/{story.chatbotnews_id}",
            name=story.chatbotnews_id,
            # A headline is a stranger's text: plain and short it may name its own story, but is never part of a description.
            title=plain_text(story.headline, TITLE) if story.headline else None,
            description=f"A story by {story.original_publisher}, {story.wire_date}.",
            mime_type=JSON,
        )
        for story in queries.list_todays_stories()
    ]


def _list_archive_days() -> list[Resource]:
    return [
        Resource(
            uri=f"wire://archive/{day}", name=f"Wire of {day}", description=f"The wire as published for {day}.", mime_type=JSON
        )
        for day in queries.list_published_dates()
    ]


def _wrap_json(body: bytes) -> Content:
    return JSON, body.decode()


def _wrap_model(found: BaseModel) -> Content:
    return _wrap_json(found.model_dump_json().encode())


def _wrap_brief(page: StoriesAnswer[Any]) -> Content:
    return _wrap_json(orjson.dumps(shape_page(page, Detail.BRIEF)))


def _get_todays_category(slug: str) -> StoriesAnswer[DayStoriesOut]:
    return queries.get_todays_category(_parse_choice(Category, slug))


def _get_topic(slug: str) -> StoriesAnswer[TopicOut]:
    return queries.get_topic_coverage(_parse_choice(Topic, slug))


def _parse_date(day: str) -> dt.date:
    try:
        return read_date(day)
    except ValueError:
        raise NotFound("There is no such day.", HINT) from None


def _parse_choice(vocabulary: Any, slug: str) -> Any:
    if slug not in vocabulary.values:
        raise NotFound("There is no such resource.", f"Use one of: {', '.join(vocabulary.values)}.")
    return vocabulary(slug)


_DATE: Final = r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
_ID: Final = r"([0-9a-z-]{1,40})"
_NAMED: Final = {*(resource.uri for resource in FIXED), *(f"wire://today/{category}/brief" for category in Category.values)}
# Pattern, the template that a read of it counts under, reader.
_READERS: Final[tuple[tuple[str, str, Callable[..., Content]], ...]] = (
    (r"wire://today", "", lambda: _wrap_json(add_mcp(queries.get_today()))),
    (r"wire://today/brief", "", lambda: _wrap_brief(queries.list_day_stories())),
    (r"wire://today/([a-z]+)", "", lambda slug: _wrap_json(_get_todays_category(slug).json())),
    (r"wire://today/([a-z]+)/brief", "", lambda slug: _wrap_brief(_get_todays_category(slug))),
    (r"wire://editor-take/today", "", lambda: (MARKDOWN, queries.get_editor_take().markdown)),
    (rf"wire://story/{_ID}", "wire://story/{id}", lambda story_id: _wrap_json(queries.get_story_json(story_id))),
    (rf"wire://event/{_ID}", "wire://event/{id}", lambda event_id: _wrap_model(queries.get_event(event_id))),
    (r"wire://topic/([a-z]+)", "wire://topic/{slug}", lambda slug: _wrap_json(_get_topic(slug).json())),
    (r"wire://topic/([a-z]+)/brief", "wire://topic/{slug}/brief", lambda slug: _wrap_brief(_get_topic(slug))),
    (
        rf"wire://archive/{_DATE}",
        "wire://archive/{date}",
        lambda day: _wrap_json(add_mcp(queries.get_archived_day(_parse_date(day)))),
    ),
    (
        rf"wire://archive/{_DATE}/brief",
        "wire://archive/{date}/brief",
        lambda day: _wrap_brief(queries.list_day_stories(_parse_date(day))),
    ),
    (r"wire://sources", "", lambda: _wrap_model(queries.list_sources())),
    (r"wire://llms\.txt", "", lambda: (TEXT, llms_txt())),
    (r"wire://provenance/today", "", lambda: _wrap_model(queries.get_provenance())),
    (rf"wire://provenance/{_DATE}", "wire://provenance/{date}", lambda day: _wrap_model(queries.get_provenance(_parse_date(day)))),
)
