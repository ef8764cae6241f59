"""The resources: what each address answers, and which there are. Addresses and MIME types are the specification's §3."""

import datetime as dt
import re
from collections.abc import Callable, Sequence
from typing import Any, Final, TypeVar

import orjson
from mcp_types import Resource, ResourceTemplate

from config.errors import NotFound
from mcpserver.servers.wire.detail import Detail, shape_page
from sources.vocabulary import ROSTER_SIZE
from wire import queries
from wire.schemas.params import read_date
from wire.schemas.story import DayOut, DayStoriesOut, TopicOut
from wire.schemas.story_list import StoriesAnswer
from wire.search.cursor import decode, encode, invalid
from wire.site.llms_txt import llms_txt
from wire.text.plain_text import plain_text
from wire.text.vocabulary import Category, Topic

JSON: Final = "application/json"
MARKDOWN: Final = "text/markdown"
TEXT: Final = "text/plain"

PAGE: Final = 100  # resources in one page of resources/list
TITLE: Final = 80  # characters of a headline by which a story is listed
EDGE_TTL_MS: Final = 300_000  # today and its categories: the specification's five minutes

HINT: Final = "resources/list names every story of today and every archived day; resources/templates/list the patterns."

FIXED: Final = (
    Resource(
        uri="wire://today", name="Today's wire", description="Today's full wire: all stories, all categories.", mime_type=JSON
    ),
    Resource(
        uri="wire://today/brief",
        name="Today's wire in brief",
        description="Today's stories, about an eighth of the tokens: who said what, when, and how to cite it.",
        mime_type=JSON,
    ),
    *(
        Resource(
            uri=f"wire://today/{category.value}",
            name=f"Today: {category.label}",
            description=f"Today's stories filtered to the {category.label} category.",
            mime_type=JSON,
        )
        for category in Category
    ),
    Resource(
        uri="wire://editor-take/today",
        name="Editor's Take",
        description="Today's auto-generated editorial brief.",
        mime_type=MARKDOWN,
    ),
    Resource(
        uri="wire://sources",
        name="Source roster (24 publications)",
        description="The 24-publication source roster with tier classification.",
        mime_type=JSON,
    ),
    Resource(uri="wire://llms.txt", name="llms.txt", description="Mirror of the site's llms.txt directives.", mime_type=TEXT),
    Resource(
        uri="wire://provenance/today",
        name="Today's provenance",
        description="Today's wire SHA-256 hash, FPL anchor, signature and UTC timestamp.",
        mime_type=JSON,
    ),
    *(
        Resource(
            uri=f"wire://topic/{topic.value}",
            name=f"Topic: {topic.label}",
            description=f"Topic-specific roll-up of {topic.label}.",
            mime_type=JSON,
        )
        for topic in Topic
    ),
)

TEMPLATES: Final = (
    ResourceTemplate(
        uri_template="wire://today/{category}",
        name="Today by category",
        description="Today's stories filtered to one of the five categories.",
        mime_type=JSON,
    ),
    ResourceTemplate(
        uri_template="wire://today/{category}/brief",
        name="Today by category, in brief",
        description="The same stories, about an eighth of the tokens.",
        mime_type=JSON,
    ),
    ResourceTemplate(
        uri_template="wire://story/{id}", name="Story", description="Individual story by chatbotnews_id.", mime_type=JSON
    ),
    ResourceTemplate(
        uri_template="wire://event/{id}",
        name="Event",
        description="One happening with every report of it, by event_id or the id of any of its stories.",
        mime_type=JSON,
    ),
    ResourceTemplate(
        uri_template="wire://topic/{slug}",
        name="Topic",
        description="Topic-specific roll-up, one of twelve topics.",
        mime_type=JSON,
    ),
    ResourceTemplate(
        uri_template="wire://topic/{slug}/brief",
        name="Topic, in brief",
        description="The same stories, about an eighth of the tokens.",
        mime_type=JSON,
    ),
    ResourceTemplate(
        uri_template="wire://archive/{date}",
        name="Archived day",
        description="Historical wire snapshot of a specific UTC date, YYYY-MM-DD.",
        mime_type=JSON,
    ),
    ResourceTemplate(
        uri_template="wire://archive/{date}/brief",
        name="Archived day, in brief",
        description="The stories of that day, about an eighth of the tokens.",
        mime_type=JSON,
    ),
    ResourceTemplate(
        uri_template="wire://provenance/{date}",
        name="Provenance of a day",
        description="Hashes, FPL anchor and signature of a specific UTC date, YYYY-MM-DD.",
        mime_type=JSON,
    ),
)

Content = tuple[str, str]
"""MIME type and text."""


def read(uri: str) -> Content:
    """Return what a resource holds now. Raises: NotFound, NothingPublished."""
    for pattern, answer in _READERS:
        if match := re.fullmatch(pattern, uri):
            return answer(*match.groups())
    raise NotFound("There is no such resource.", HINT)


def pattern_of(uri: str) -> str:
    """The address, or the template of those that name a story, a topic or a day; "" for one that there is not."""
    for pattern, template in _COUNTED:
        if re.fullmatch(pattern, uri):
            return template or uri
    return ""


def is_edge_cached(uri: str) -> bool:
    return uri == "wire://today" or uri.startswith("wire://today/")


def list_resources(cursor: str | None = None) -> tuple[list[Resource], str | None]:
    """Return a page of all resources: fixed ones, today's live stories, archived days; and the cursor of the next page.

    Raises: InvalidArgument for a strange cursor, and when the last resource of the page before is gone.
    """
    return _page("resources", [*FIXED, *_stories(), *_days()], lambda entry: entry.uri, cursor)


def templates(cursor: str | None = None) -> tuple[list[ResourceTemplate], str | None]:
    """Return a page of the patterns, and the cursor of the next one. Raises: InvalidArgument for a strange cursor."""
    return _page("templates", TEMPLATES, lambda entry: entry.uri_template, cursor)


E = TypeVar("E")


def _page(kind: str, entries: Sequence[E], named: Callable[[E], str], cursor: str | None) -> tuple[list[E], str | None]:
    """A cursor names the last entry of its page, so what is published meanwhile shifts nothing."""
    begin = 0
    if cursor is not None:
        names = [named(entry) for entry in entries]
        (last,) = decode(cursor, {kind: 1})[1]
        if last not in names:
            raise invalid()
        begin = names.index(last) + 1
    page = list(entries[begin : begin + PAGE])
    return page, encode(kind, named(page[-1])) if begin + PAGE < len(entries) else None


def with_mcp(day: StoriesAnswer[DayOut]) -> bytes:
    """The day as REST has it, plus `_mcp` (§3.3)."""
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


def _stories() -> list[Resource]:
    return [
        Resource(
            uri=f"wire://story/{story.chatbotnews_id}",
            name=story.chatbotnews_id,
            # A headline is a stranger's text: plain and short it may name its own story, but is never part of a description.
            title=plain_text(story.headline, TITLE) if story.headline else None,
            description=f"A story by {story.original_publisher}, {story.wire_date}.",
            mime_type=JSON,
        )
        for story in queries.todays_stories()
    ]


def _days() -> list[Resource]:
    return [
        Resource(
            uri=f"wire://archive/{day}", name=f"Wire of {day}", description=f"The wire as published for {day}.", mime_type=JSON
        )
        for day in queries.published_dates()
    ]


def _json(body: bytes) -> Content:
    return JSON, body.decode()


def _brief(page: StoriesAnswer[Any]) -> Content:
    return _json(orjson.dumps(shape_page(page, Detail.BRIEF)))


def _today_category(slug: str) -> StoriesAnswer[DayStoriesOut]:
    """Today's stories of one category, in the shape of a list."""
    return queries.get_todays_category(_parse_slug(Category, slug))


def _topic(slug: str) -> StoriesAnswer[TopicOut]:
    return queries.get_topic_coverage(_parse_slug(Topic, slug))


def _date(day: str) -> dt.date:
    try:
        return read_date(day)
    except ValueError:
        raise NotFound("There is no such day.", HINT) from None


def _parse_slug(vocabulary: Any, slug: str) -> Any:
    if slug not in vocabulary.values:
        raise NotFound("There is no such resource.", f"Use one of: {', '.join(vocabulary.values)}.")
    return vocabulary(slug)


_DATE: Final = r"([0-9]{4}-[0-9]{2}-[0-9]{2})"
_READERS: Final[tuple[tuple[str, Callable[..., Content]], ...]] = (
    (r"wire://today", lambda: _json(with_mcp(queries.get_today()))),
    (r"wire://today/brief", lambda: _brief(queries.list_day())),
    (r"wire://today/([a-z]+)", lambda slug: _json(_today_category(slug).json())),
    (r"wire://today/([a-z]+)/brief", lambda slug: _brief(_today_category(slug))),
    (r"wire://editor-take/today", lambda: (MARKDOWN, queries.get_editor_take().markdown)),
    (r"wire://story/([0-9a-z-]{1,40})", lambda story_id: _json(queries.get_story_json(story_id))),
    (r"wire://event/([0-9a-z-]{1,40})", lambda event_id: _json(queries.get_event(event_id).model_dump_json().encode())),
    (r"wire://topic/([a-z]+)", lambda slug: _json(_topic(slug).json())),
    (r"wire://topic/([a-z]+)/brief", lambda slug: _brief(_topic(slug))),
    (rf"wire://archive/{_DATE}", lambda day: _json(with_mcp(queries.get_archive(_date(day))))),
    (rf"wire://archive/{_DATE}/brief", lambda day: _brief(queries.list_day(_date(day)))),
    (r"wire://sources", lambda: _json(queries.list_sources().model_dump_json().encode())),
    (r"wire://llms\.txt", lambda: (TEXT, llms_txt())),
    (r"wire://provenance/today", lambda: _json(queries.get_provenance().model_dump_json().encode())),
    (rf"wire://provenance/{_DATE}", lambda day: _json(queries.get_provenance(_date(day)).model_dump_json().encode())),
)
_COUNTED: Final = (
    (rf"wire://(today|today/({'|'.join(Category.values)})|sources|llms\.txt|editor-take/today|provenance/today)", ""),
    (rf"wire://today/(({'|'.join(Category.values)})/)?brief", ""),
    (r"wire://topic/[a-z]{1,12}/brief", "wire://topic/{slug}/brief"),
    (r"wire://archive/[0-9-]{10}/brief", "wire://archive/{date}/brief"),
    (r"wire://story/.{1,40}", "wire://story/{id}"),
    (r"wire://event/.{1,40}", "wire://event/{id}"),
    (r"wire://topic/[a-z]{1,12}", "wire://topic/{slug}"),
    (r"wire://archive/[0-9-]{10}", "wire://archive/{date}"),
    (r"wire://provenance/[0-9-]{10}", "wire://provenance/{date}"),
)
