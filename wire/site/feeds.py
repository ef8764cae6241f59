"""Feeds of every list, its newest fifty: RSS 2.0, Atom (RFC 4287) or JSON Feed 1.1."""

import datetime as dt
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import Any, Final
from urllib.parse import urlencode

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.feedgenerator import Atom1Feed, Rss201rev2Feed

from citations.format.claim_text import StatementKind, build_statement
from citations.format.formats import MAKERS
from config.errors import NotFound
from config.http.responses import BRIEFLY
from wire import queries
from wire.queries import Correction
from wire.schemas.params import MAX_QUERY
from wire.schemas.story import StoryOut
from wire.site.pages import public, read
from wire.templatetags.wire_site import html
from wire.text.vocabulary import Category, Topic

ITEMS: Final = 50
EDITORS: Final = "ChatbotNews.ai"
_XML: Final = {"rss": Rss201rev2Feed, "atom": Atom1Feed}
_TYPES: Final = {
    "rss": "application/rss+xml; charset=utf-8",
    "atom": "application/atom+xml; charset=utf-8",
    "json": "application/feed+json; charset=utf-8",
}
_NOT_IN_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0 §2.2


@dataclass(frozen=True, slots=True)
class Item:
    """A new entry of a list. `url` is its page and its identity; `markup` is `text` at length and as HTML, if there is any."""

    url: str
    title: str
    text: str
    author: str
    published: dt.datetime
    updated: dt.datetime
    original: str | None = None
    markup: str | None = None
    language: str = "en"
    tags: list[str] = field(default_factory=list)


@public
def feed(request: HttpRequest, name: str, form: str) -> HttpResponse:
    if form not in _TYPES:
        raise NotFound(f"There is no feed in the form {form!r}.", "Ask for rss, atom or json.")
    title, path, items = _read_list(name, request.GET.get("query", ""))
    own = f"{settings.WIRE_SITE_URL}{request.get_full_path()}"
    channel = {"title": f"ChatbotNews.ai: {title}", "link": f"{settings.WIRE_SITE_URL}{path}", "feed_url": own}
    body = _to_json(channel, items) if form == "json" else _to_xml(form, channel, items)
    return HttpResponse(body, content_type=_TYPES[form], headers={"Cache-Control": BRIEFLY})


def _read_list(name: str, query: str) -> tuple[str, str, Iterable[Item]]:
    """Return title, page and newest items of a list that can be subscribed to. Raises: NotFound, InvalidArgument."""
    kind, _, which = name.partition("-")
    match kind:
        case "corrections":
            return "corrections", "/corrections", map(_correction_item, queries.corrections(ITEMS)[0])
        case "takes":
            takes = (
                Item(take.url, take.title, take.summary_short, EDITORS, at, at, markup=html(take.markdown))
                for take, at in queries.latest_takes(ITEMS)
            )
            return "editor's takes", "/archive", takes
        case "stories":
            return "all stories", "/", map(_story_item, queries.list_stories(ITEMS).stories)
        case "category":
            category = read(Category, which)
            return category.label, f"/category/{category}", map(_story_item, queries.get_category(category, ITEMS).stories)
        case "topic":
            topic = read(Topic, which)
            return topic.label, f"/topic/{topic}", map(_story_item, queries.get_topic_coverage(topic, None, ITEMS).stories)
        case "source":
            stories = queries.list_source_stories(which, ITEMS).stories
            return queries.get_source(which).name, f"/source/{which}", map(_story_item, stories)
        case "event":
            event = queries.view_event(which)
            newest_first = [report.story for report in reversed(event.reports)]
            return event.lead.headline, f"/event/{event.event_id}", map(_story_item, newest_first[:ITEMS])
        case "search" if query.strip() and len(query) <= MAX_QUERY:
            return f"“{query}”", f"/search?{urlencode({'query': query})}", map(_story_item, queries.newest_matches(query, ITEMS))
    raise NotFound("There is no such feed.", "Every list names its feeds.")


def _story_item(story: StoryOut) -> Item:
    """Return a story with its citation as text, which names the publisher first; unless that only repeats the title."""
    said = build_statement(story.headline, story.summary_short, of_maker=story.original_publisher_tier == MAKERS)
    cited = story.citation_objects.layered_ready if story.citation_objects and said.kind != StatementKind.HEADLINE else None
    return Item(
        url=story.permalink,
        title=story.headline,
        text=cited or f"Reported by {story.original_publisher}. Source: {story.permalink}",
        author=story.author or story.original_publisher,
        published=story.published_at,
        updated=story.updated_at,
        original=story.original_url,
        language=story.language,
        tags=[str(story.category.label), *(str(topic.label) for topic in story.topics)],
    )


def _correction_item(correction: Correction) -> Item:
    return Item(
        url=f"{settings.WIRE_SITE_URL}/story/{correction.chatbotnews_id}#revision-{correction.revision}",
        title=f"{correction.what}: {correction.headline}",
        text=f"{correction.what}, {correction.publisher}: {correction.reason}",
        author=EDITORS,
        published=correction.recorded_at,
        updated=correction.recorded_at,
    )


def _to_xml(form: str, channel: dict[str, str], items: Iterable[Item]) -> bytes:
    says = "AI-industry news from exactly 24 publications."
    document = _XML[form](_xml_text(channel["title"]), channel["link"], says, language="en", feed_url=channel["feed_url"])
    for item in items:
        document.add_item(
            title=_xml_text(item.title),
            link=item.url,
            description=_xml_text(item.markup or escape(item.text)),  # readers take it for HTML
            unique_id=item.url,
            author_name=_xml_text(item.author),
            pubdate=item.published,
            updateddate=item.updated,
            categories=item.tags,
        )
    return document.writeString("utf-8").encode()


def _xml_text(text: str) -> str:
    # One character that XML cannot hold would make the whole feed unreadable.
    return _NOT_IN_XML.sub("", text)


def _to_json(channel: dict[str, str], items: Iterable[Item]) -> bytes:
    version = "https://jsonfeed.org/version/1.1"
    channel = {"version": version, "title": channel["title"], "home_page_url": channel["link"], "feed_url": channel["feed_url"]}
    return orjson.dumps({**channel, "items": [_to_json_item(item) for item in items]}, option=orjson.OPT_INDENT_2)


def _to_json_item(item: Item) -> dict[str, Any]:
    may_be_missing = {"external_url": item.original, "content_html": item.markup}
    return {
        "id": item.url,
        "url": item.url,
        **{key: value for key, value in may_be_missing.items() if value},
        "title": item.title,
        "content_text": item.text,
        "date_published": f"{item.published:%Y-%m-%dT%H:%M:%SZ}",
        "date_modified": f"{item.updated:%Y-%m-%dT%H:%M:%SZ}",
        "authors": [{"name": item.author}],
        "tags": item.tags,
        "language": item.language,
    }
