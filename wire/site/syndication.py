"""Feeds of every list, its newest fifty: RSS 2.0, Atom (RFC 4287) or JSON Feed 1.1."""

import datetime as dt
import re
from collections.abc import Iterable
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
from wire.text.provenance import timestamp
from wire.text.vocabulary import Category, Topic

ITEMS: Final = 50
EDITORS: Final = "ChatbotNews.ai"
_XML: Final = {"rss": Rss201rev2Feed, "atom": Atom1Feed}
_TYPES: Final = {"rss": "application/rss+xml", "atom": "application/atom+xml", "json": "application/feed+json"}
_NOT_IN_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0 §2.2

Item = dict[str, Any]  # of JSON Feed; `url` is its page and its identity, `content_html` its text at length, if there is any


@public
def feed(request: HttpRequest, name: str, form: str) -> HttpResponse:
    if form not in _TYPES:
        raise NotFound(f"There is no feed in the form {form!r}.", "Ask for rss, atom or json.")
    title, path, items = _read_list(name, request.GET.get("query", ""))
    channel = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": f"ChatbotNews.ai: {title}",
        "home_page_url": f"{settings.WIRE_SITE_URL}{path}",
        "feed_url": f"{settings.WIRE_SITE_URL}{request.get_full_path()}",
    }
    if form == "json":
        body = orjson.dumps({**channel, "items": list(items)}, option=orjson.OPT_INDENT_2)
    else:
        body = _to_xml(form, channel, items)
    return HttpResponse(body, content_type=f"{_TYPES[form]}; charset=utf-8", headers={"Cache-Control": BRIEFLY})


def _read_list(name: str, query: str) -> tuple[str, str, Iterable[Item]]:
    """Return title, page and newest items of a list that can be subscribed to. Raises: NotFound, InvalidArgument."""
    kind, _, which = name.partition("-")
    match kind:
        case "corrections":
            return "corrections", "/corrections", map(_correction_item, queries.corrections(ITEMS)[0])
        case "takes":
            takes = queries.latest_takes(ITEMS)
            items = (
                _item(take.url, take.title, take.summary_short, at, at, content_html=html(take.markdown)) for take, at in takes
            )
            return "editor's takes", "/archive", items
        case "stories":
            return "all stories", "/", map(_story_item, queries.list_stories(ITEMS).stories)
        case "category":
            category = read(Category, which)
            return category.label, f"/category/{category}", map(_story_item, queries.get_category(category, ITEMS).stories)
        case "topic":
            topic = read(Topic, which)
            return topic.label, f"/topic/{topic}", map(_story_item, queries.get_topic_coverage(topic, None, ITEMS).stories)
        case "about":
            found = queries.get_entity(which, None, ITEMS)
            return found.head.name, f"/about/{found.head.slug}", map(_story_item, found.stories)
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
    """Return a story with its citation as text, which names the publisher first; unless that only repeats the title: then with its
    summary.
    """
    said = build_statement(story.headline, story.summary_short, of_maker=story.original_publisher_tier == MAKERS)
    cited = story.citation_objects.layered_ready if story.citation_objects and said.kind != StatementKind.HEADLINE else None
    text = cited or f"{story.summary_short} Reported by {story.original_publisher}. Source: {story.permalink}".lstrip()
    item = _item(story.permalink, story.headline, text, story.published_at, story.updated_at, external_url=story.original_url)
    tags = [str(story.category.label), *(str(topic.label) for topic in story.topics)]
    return item | {"authors": [{"name": story.author or story.original_publisher}], "tags": tags, "language": story.language}


def _correction_item(correction: Correction) -> Item:
    url = f"{settings.WIRE_SITE_URL}/story/{correction.chatbotnews_id}#revision-{correction.revision}"
    text = f"{correction.what}, {correction.publisher}: {correction.reason}"
    return _item(url, f"{correction.what}: {correction.headline}", text, correction.recorded_at, correction.recorded_at)


def _item(url: str, title: str, text: str, published: dt.datetime, updated: dt.datetime, **more: str) -> Item:
    return {
        "id": url,
        "url": url,
        **more,
        "title": title,
        "content_text": text,
        "date_published": timestamp(published),
        "date_modified": timestamp(updated),
        "authors": [{"name": EDITORS}],
        "tags": [],
        "language": "en",
    }


def _to_xml(form: str, channel: dict[str, str], items: Iterable[Item]) -> bytes:
    def clean(text: str) -> str:
        # One character that XML cannot hold would make the whole feed unreadable.
        return _NOT_IN_XML.sub("", text)

    says, link = "AI-industry news from exactly 24 publications.", channel["home_page_url"]
    document = _XML[form](clean(channel["title"]), link, says, language="en", feed_url=channel["feed_url"])
    for item in items:
        document.add_item(
            title=clean(item["title"]),
            link=item["url"],
            description=clean(item.get("content_html") or escape(item["content_text"])),  # readers take it for HTML
            unique_id=item["url"],
            author_name=clean(item["authors"][0]["name"]),
            pubdate=dt.datetime.fromisoformat(item["date_published"]),
            updateddate=dt.datetime.fromisoformat(item["date_modified"]),
            categories=item["tags"],
        )
    return document.writeString("utf-8").encode()
