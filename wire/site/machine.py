"""What programs ask a site for: feeds, sitemaps, directives, keys, and the small files that crawlers expect."""

import datetime as dt
from collections.abc import Iterable
from typing import Any, Final
from urllib.parse import urlsplit

import orjson
from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.shortcuts import render
from django.templatetags.static import static
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed, Rss201rev2Feed
from django.views.decorators.http import require_safe

from config.answers import BRIEFLY, answer
from config.errors import NotFound
from wire import directives, queries
from wire.bounds import MAX_QUERY
from wire.schemas import StoryOut
from wire.site.pages import public
from wire.vocabulary import Category, Topic

FEED_ITEMS: Final = 50
PER_SITEMAP: Final = 10_000
STATIC_PAGES: Final = (
    *("/", "/archive", "/search", "/sources", "/freshness", "/provenance", "/usage", "/corrections"),
    *("/for-agents.html", "/mcp-spec", "/about", "/privacy", "/terms"),
)
_XML: Final = {"rss": Rss201rev2Feed, "atom": Atom1Feed}
_TYPES: Final = {
    "rss": "application/rss+xml; charset=utf-8",
    "atom": "application/atom+xml; charset=utf-8",
    "json": "application/feed+json; charset=utf-8",
}


@public
def feed(request: HttpRequest, name: str, form: str) -> HttpResponse:
    """A list as RSS 2.0, Atom (RFC 4287) or JSON Feed 1.1; the newest fifty."""
    if form not in _TYPES:
        raise NotFound(f"There is no feed in the form {form!r}.", "Ask for rss, atom or json.")
    title, path, stories = _list(name, request.GET.get("query", ""))
    own = f"{settings.WIRE_SITE_URL}{request.get_full_path()}"
    told = {"title": f"ChatbotNews.ai: {title}", "link": f"{settings.WIRE_SITE_URL}{path}", "feed_url": own}
    body = _json_feed(told, stories) if form == "json" else _xml_feed(form, told, stories)
    return HttpResponse(body, content_type=_TYPES[form], headers={"Cache-Control": BRIEFLY})


@public
def sitemap(request: HttpRequest) -> HttpResponse:
    """The index of sitemaps."""
    return _xml(request, "sitemap_index.xml", {"maps": range(queries.sitemap_count(PER_SITEMAP))})


@public
def sitemap_pages(request: HttpRequest) -> HttpResponse:
    """Pages that are no story: the fixed ones, lists, days with their brief and proof."""
    lists = [f"/category/{category}" for category in Category] + [f"/topic/{topic}" for topic in Topic]
    days = [f"/{kind}/{day}" for day in queries.published_dates() for kind in ("day", "editor-take", "provenance")]
    return _xml(request, "sitemap.xml", {"pages": [(path, None) for path in (*STATIC_PAGES, *lists, *days)]})


@public
def sitemap_stories(request: HttpRequest, number: int) -> HttpResponse:
    """Ten thousand stories and their events."""
    if number >= queries.sitemap_count(PER_SITEMAP):
        raise NotFound("There is no such sitemap.", "The index is /sitemap.xml.")
    return _xml(request, "sitemap.xml", {"pages": queries.sitemap_stories(number, PER_SITEMAP)})


@public
def news_sitemap(request: HttpRequest) -> HttpResponse:
    """Stories of the last two days, as news crawlers want them."""
    since = timezone.now() - dt.timedelta(days=2)
    stories = [story for story in queries.list_stories(100).stories if story.published_at >= since]
    return _xml(request, "sitemap_news.xml", {"stories": stories})


@require_safe
def robots_txt(request: HttpRequest) -> HttpResponse:
    """Everything public may be read by anybody."""
    return _text(render(request, "robots.txt", directives.addresses()).content)


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """RFC 9116. Valid for half a year from the beginning of this month."""
    first = timezone.now().astimezone(dt.UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    host = urlsplit(settings.WIRE_SITE_URL).hostname
    contact = settings.WIRE_SECURITY_CONTACT or f"mailto:security@{host}"
    return _text(render(request, "security.txt", {"expires": first + dt.timedelta(days=184), "contact": contact}).content)


@require_safe
def favicon(_request: HttpRequest) -> HttpResponse:
    return HttpResponsePermanentRedirect(static("wire/icon.svg"))


@require_safe
def llms_txt(_request: HttpRequest) -> HttpResponse:
    """Directives for crawlers and agents."""
    return _text(directives.llms_txt().encode())


@require_safe
def llms_full_txt(_request: HttpRequest) -> HttpResponse:
    """The directives and every contract in one file."""
    return _text(directives.llms_full_txt().encode())


@require_safe
def server_card(_request: HttpRequest) -> HttpResponse:
    """Who the MCP server is, for clients that did not connect yet; any site's script may read it."""
    headers = {"Cache-Control": "public, max-age=3600", "Access-Control-Allow-Origin": "*"}
    return HttpResponse(directives.server_card(), content_type="application/json", headers=headers)


@require_safe
def wire_keys(_request: HttpRequest) -> HttpResponse:
    """Public keys that ever signed a snapshot."""
    return answer(queries.wire_keys(), BRIEFLY)


def _list(name: str, query: str) -> tuple[str, str, list[StoryOut]]:
    """Title, page and stories of a list that can be subscribed to. Raises: NotFound, ValueError."""
    kind, _, which = name.partition("-")
    match kind:
        case "stories":
            return "all stories", "/", queries.list_stories(FEED_ITEMS).stories
        case "category":
            category = Category(which)
            return category.label, f"/category/{category}", queries.get_category(category, FEED_ITEMS).stories
        case "topic":
            topic = Topic(which)
            return topic.label, f"/topic/{topic}", queries.get_topic_coverage(topic, None, FEED_ITEMS).stories
        case "event":
            event = queries.get_event(which)
            return event.stories[0].headline, f"/event/{event.event_id}", event.stories[: -FEED_ITEMS - 1 : -1]
        case "search" if query.strip() and len(query) <= MAX_QUERY:
            found = queries.search_wire(query, limit=FEED_ITEMS).stories
            return f"“{query}”", "/search", sorted(found, key=lambda story: story.published_at, reverse=True)
    raise NotFound("There is no such feed.", "Every list names its feeds.")


def _xml_feed(form: str, told: dict[str, str], stories: Iterable[StoryOut]) -> bytes:
    says = "AI-industry news from exactly 24 publications."
    document = _XML[form](told["title"], told["link"], says, language="en", feed_url=told["feed_url"])
    for story in stories:
        document.add_item(
            title=story.headline,
            link=story.permalink,
            description=_description(story),
            unique_id=story.permalink,
            author_name=story.author or story.original_publisher,
            pubdate=story.published_at,
            updateddate=story.updated_at,
            categories=[story.category.label, *(topic.label for topic in story.topics)],
        )
    return document.writeString("utf-8").encode()


def _json_feed(told: dict[str, str], stories: Iterable[StoryOut]) -> bytes:
    items = [
        {
            "id": story.permalink,
            "url": story.permalink,
            "external_url": story.original_url,
            "title": story.headline,
            "content_text": _description(story),
            "date_published": f"{story.published_at:%Y-%m-%dT%H:%M:%SZ}",
            "date_modified": f"{story.updated_at:%Y-%m-%dT%H:%M:%SZ}",
            "authors": [{"name": story.author or story.original_publisher}],
            "tags": [story.category.label, *(topic.label for topic in story.topics)],
            "language": story.language,
        }
        for story in stories
    ]
    version = "https://jsonfeed.org/version/1.1"
    told = {"version": version, "title": told["title"], "home_page_url": told["link"], "feed_url": told["feed_url"]}
    return orjson.dumps({**told, "items": items}, option=orjson.OPT_INDENT_2)


def _description(story: StoryOut) -> str:
    """The citation, which names the publisher before it says anything."""
    return story.citation_objects.layered_ready if story.citation_objects else story.headline


def _xml(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    response = render(request, template, context | directives.addresses(), content_type="application/xml; charset=utf-8")
    response["Cache-Control"] = BRIEFLY
    return response


def _text(body: bytes) -> HttpResponse:
    return HttpResponse(body, content_type="text/plain; charset=utf-8", headers={"Cache-Control": BRIEFLY})
