"""Feeds of every list, its newest fifty: RSS 2.0, Atom (RFC 4287) or JSON Feed 1.1."""

import datetime as dt
import re
from collections.abc import Iterable
from html import escape
from typing import Any, Final

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from django.templatetags.static import static
from django.utils.feedgenerator import Atom1Feed, Rss201rev2Feed

from config.errors import NotFound
from config.http.responses import BRIEFLY
from wire import queries
from wire.publishing.event_view import EventView
from wire.queries import Correction
from wire.schemas.story import EditorTakeOut, StoryOut
from wire.site.pages import parse_or_404, public_page
from wire.site.search import FILTERS, SUBSCRIBED, describe_filters, read_form, read_params, write_query
from wire.templatetags.wire_site import render_markdown
from wire.text.choices import Category, Topic
from wire.text.provenance_manifest import to_rfc3339

ITEMS: Final = 50
EDITORS: Final = "ChatbotNews.ai"
# Browsers show application/rss+xml as source, or save it; application/xml they show in a style.
_TYPES: Final = {"rss": "application/xml", "atom": "application/xml", "json": "application/feed+json"}
_NOT_IN_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")  # XML 1.0 §2.2
# No XSLT: Chromium lays a warning over pages that need it, since it gives it up.
_STYLE: Final = "wire/feed.css"
_POLICY: Final = "default-src 'none'; style-src 'self'; base-uri 'none'; frame-ancestors 'none'"

Item = dict[str, Any]  # of JSON Feed; `url` is its page and its identity


class _Rss(Rss201rev2Feed):
    def add_root_elements(self, handler: Any) -> None:
        super().add_root_elements(handler)
        for hub in self.feed["hubs"]:
            handler.addQuickElement("atom:link", None, {"rel": "hub", "href": hub["url"]})

    def rss_attributes(self) -> dict[str, str]:
        return super().rss_attributes() | {"xmlns:content": "http://purl.org/rss/1.0/modules/content/"}

    def add_item_elements(self, handler: Any, item: Item) -> None:
        super().add_item_elements(handler, item)
        handler.addQuickElement("content:encoded", item["content"])


class _Atom(Atom1Feed):
    def add_root_elements(self, handler: Any) -> None:
        super().add_root_elements(handler)
        for hub in self.feed["hubs"]:
            handler.addQuickElement("link", None, {"rel": "hub", "href": hub["url"]})

    def add_item_elements(self, handler: Any, item: Item) -> None:
        super().add_item_elements(handler, item)
        handler.addQuickElement("content", item["content"], {"type": "html"})


@public_page
def feed(request: HttpRequest, name: str, form: str) -> HttpResponse:
    if form not in _TYPES:
        raise NotFound(f"There is no feed in the format {form!r}.", "Use rss, atom or json.")
    title, path, items = _read_feed_list(name, request.GET)
    hub = "" if name == "search" else settings.WIRE_WEBSUB_HUB  # searches are not announced: they are without number
    channel: dict[str, Any] = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": f"ChatbotNews.ai: {title}",
        "description": f"{title[:1].upper()}{title[1:]}: AI-industry news from exactly 24 publications, the newest {ITEMS} items.",
        "home_page_url": f"{settings.WIRE_SITE_URL}{path}",
        "feed_url": f"{settings.WIRE_SITE_URL}{request.get_full_path()}",
        "language": "en",
        **({"hubs": [{"type": "WebSub", "url": hub}]} if hub else {}),
    }
    if form == "json":
        body = orjson.dumps({**channel, "items": items}, option=orjson.OPT_INDENT_2)
    else:
        body = _to_xml(form, channel, items)
    headers = {"Cache-Control": BRIEFLY, "Content-Security-Policy": _POLICY}
    if hub:
        headers["Link"] = f'<{hub}>; rel="hub", <{channel["feed_url"]}>; rel="self"'
    return HttpResponse(body, content_type=f"{_TYPES[form]}; charset=utf-8", headers=headers)


def _read_feed_list(name: str, sent: QueryDict) -> tuple[str, str, list[Item]]:
    """Return title, page and newest items of a list that can be subscribed to. Raises: NotFound, InvalidArgument."""
    kind, _, which = name.partition("-")
    match kind:
        case "corrections":
            return "corrections", "/corrections", [*map(_to_correction_item, queries.list_corrections(ITEMS)[0])]
        case "takes":
            return "editor’s takes", "/archive", [_to_take_item(take, at) for take, at in queries.list_takes_of_newest_days(ITEMS)]
        case "events":
            return "all events", "/", [*map(_to_event_item, queries.list_category_events(None, ITEMS).events)]
        case "stories":
            return "all stories", "/new", _to_story_items(queries.list_stories(ITEMS).stories)
        case "category":
            category = parse_or_404(Category, which)
            return category.label, f"/category/{category}", _to_story_items(queries.get_category(category, ITEMS).stories)
        case "topic":
            topic = parse_or_404(Topic, which)
            return topic.label, f"/topic/{topic}", _to_story_items(queries.get_topic_coverage(topic, None, ITEMS).stories)
        case "about":
            found = queries.get_entity(which, None, ITEMS)
            return found.head.name, f"/about/{found.head.slug}", _to_story_items(found.stories)
        case "source":
            stories = queries.list_source_stories(which, ITEMS).stories
            return queries.get_source(which).name, f"/source/{which}", _to_story_items(stories)
        case "event":
            event = queries.view_event(which)
            newest_first = [_news_item(report.story, event) for report in reversed(event.reports)]
            return event.lead.headline, f"/event/{event.event_id}", newest_first[:ITEMS]
        case "storyline":
            storyline, events = queries.view_storyline(which)
            return storyline.headline, f"/storyline/{storyline.storyline_id}", [*map(_to_event_item, reversed(events[-ITEMS:]))]
        case "search" if any((params := read_params(sent, *SUBSCRIBED)).values()):
            search = read_form(params)
            filters: dict[str, Any] = {name: getattr(search, name) for name in FILTERS}
            words = [f"“{search.query}”"] if search.query else ["stories"]
            title = " ".join([*words, *describe_filters(search).values()])
            return (title, f"/search?{write_query(params)}", _to_story_items(queries.list_matches(search.query, ITEMS, **filters)))
    raise NotFound("There is no such feed.", "Every list links to its feeds.")


def _to_story_items(stories: Iterable[StoryOut]) -> list[Item]:
    stories = list(stories)
    events = queries.find_events_by_id({story.event_id for story in stories})
    return [_news_item(story, events[story.event_id]) for story in stories if story.event_id in events]  # one may just have moved


def _to_event_item(event: EventView) -> Item:
    """Return an event as its lead tells it, at the time of its first report; `date_modified` is the time of its latest."""
    url = f"{settings.WIRE_SITE_URL}/event/{event.event_id}"
    changed = max(event.latest.published_at, event.lead.updated_at)
    return _news_item(event.lead, event, id=url, url=url, **_format_dates(event.first.published_at, changed))


def _news_item(story: StoryOut, event: EventView, **changes: Any) -> Item:
    """Return a story with its summary, who reported its event, and its citation."""
    cited = f"To cite it: {story.citation_objects.layered_ready}" if story.citation_objects else ""
    summary = story.summary_medium or story.summary_short
    item = _item(
        story.permalink,
        story.headline,
        [summary, event.coverage],
        cited,
        story.published_at,
        story.updated_at,
        external_url=story.original_url,
    )
    tags = [str(story.category.label), *(str(topic.label) for topic in story.topics)]
    authors = [{"name": story.author or story.original_publisher}]
    return item | {"authors": authors, "tags": tags, "language": story.language} | changes


def _to_take_item(take: EditorTakeOut, at: dt.datetime) -> Item:
    return _item(take.url, take.title, [take.summary_short], "", at, at) | {"content_html": render_markdown(take.markdown)}


def _to_correction_item(correction: Correction) -> Item:
    url = f"{settings.WIRE_SITE_URL}/story/{correction.chatbotnews_id}#revision-{correction.revision}"
    text = f"{correction.what}, {correction.publisher}: {correction.reason}"
    return _item(url, f"{correction.what}: {correction.headline}", [text], "", correction.recorded_at, correction.recorded_at)


def _item(url: str, title: str, summary: list[str], more: str, published: dt.datetime, updated: dt.datetime, **fields: str) -> Item:
    """Return an item; its content is the summary and `more`, each a paragraph where it is not empty."""
    summary = [text for text in summary if text]
    paragraphs = [*summary, more] if more else summary
    return {
        "id": url,
        "url": url,
        **fields,
        "title": title,
        "summary": " ".join(summary),
        "content_html": "".join(f"<p>{escape(text)}</p>" for text in paragraphs),
        "content_text": "\n\n".join(paragraphs),
        **_format_dates(published, updated),
        "authors": [{"name": EDITORS}],
        "tags": [],
        "language": "en",
    }


def _format_dates(published: dt.datetime, updated: dt.datetime) -> dict[str, str]:
    return {"date_published": to_rfc3339(published), "date_modified": to_rfc3339(updated)}


def _to_xml(form: str, channel: dict[str, Any], items: Iterable[Item]) -> bytes:
    def clean(text: str) -> str:
        # One character that XML cannot hold would make the whole feed unreadable.
        return _NOT_IN_XML.sub("", text)

    document = (_Rss if form == "rss" else _Atom)(
        clean(channel["title"]),
        channel["home_page_url"],
        clean(channel["description"]),
        language=channel["language"],
        feed_url=channel["feed_url"],
        hubs=channel.get("hubs", ()),
    )
    for item in items:
        document.add_item(
            title=clean(item["title"]),
            link=item["url"],
            description=clean(escape(item["summary"], quote=False)),  # readers take it for HTML
            content=clean(item["content_html"]),
            unique_id=item["url"],
            author_name=clean(item["authors"][0]["name"]),
            pubdate=dt.datetime.fromisoformat(item["date_published"]),
            updateddate=dt.datetime.fromisoformat(item["date_modified"]),
            categories=item["tags"],
        )
    declaration, root = document.writeString("utf-8").split("\n", 1)
    style = f'<?xml-stylesheet type="text/css" href="{static(_STYLE)}"?>'  # Django writes one for RSS alone
    return "\n".join([declaration, style, root]).encode()
