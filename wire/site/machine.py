"""What programs ask a site for: sitemaps, directives, keys, and the small files that crawlers expect."""

import datetime as dt
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.shortcuts import render
from django.templatetags.static import static
from django.utils import timezone
from django.views.decorators.http import require_safe

from config.errors import NotFound
from config.http import signatures
from config.http.responses import BRIEFLY, answer
from sources import queries as sources_queries
from wire import queries
from wire.schemas import AnswerKeyOut, KeysAndAnswerKeysOut
from wire.site import directives
from wire.site.pages import public
from wire.stories.vocabulary import Category, Topic

PER_SITEMAP: Final = 10_000
STATIC_PAGES: Final = (
    *("/", "/archive", "/topics", "/search", "/sources", "/freshness", "/provenance", "/verify", "/usage", "/corrections"),
    *("/for-agents.html", "/mcp-spec", "/about", "/privacy", "/terms"),
)
SITEMAPS: Final = ["/sitemap-articles.xml"]
"""Of what is beside the wire; an app that is installed adds its own."""


@public
def sitemap(request: HttpRequest) -> HttpResponse:
    """The index of sitemaps."""
    return xml(request, "sitemap_index.xml", {"maps": range(queries.sitemap_count(PER_SITEMAP)), "others": SITEMAPS})


@public
def sitemap_pages(request: HttpRequest) -> HttpResponse:
    """Pages that are no story: the fixed ones, lists, days with their brief and proof."""
    lists = [f"/category/{category}" for category in Category] + [f"/topic/{topic}" for topic in Topic]
    lists += [f"/source/{slug}" for slug in sources_queries.slugs_by_name().values()]
    days = [f"/{kind}/{day}" for day in queries.published_dates() for kind in ("day", "editor-take", "provenance")]
    days += [f"/archive/{day}.ndjson" for day in queries.published_dates()]
    return xml(request, "sitemap.xml", {"pages": [(path, None) for path in (*STATIC_PAGES, *lists, *days)]})


@public
def sitemap_stories(request: HttpRequest, number: int) -> HttpResponse:
    """Ten thousand stories and their events."""
    if number >= queries.sitemap_count(PER_SITEMAP):
        raise NotFound("There is no such sitemap.", "The index is /sitemap.xml.")
    return xml(request, "sitemap.xml", {"pages": queries.sitemap_stories(number, PER_SITEMAP)})


@public
def news_sitemap(request: HttpRequest) -> HttpResponse:
    """Stories of the last two days, as news crawlers want them."""
    since = timezone.now() - dt.timedelta(days=2)
    stories = [story for story in queries.list_stories(100).stories if story.published_at >= since]
    return xml(request, "sitemap_news.xml", {"stories": stories})


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
def mcp_spec_md(_request: HttpRequest) -> HttpResponse:
    """The contract's own bytes, so that anyone can recompute the hash that llms.txt and the server card name."""
    return _text(directives.spec(), "text/markdown")


@require_safe
def server_card(_request: HttpRequest) -> HttpResponse:
    """Who the MCP server is, for clients that did not connect yet; any site's script may read it."""
    headers = {"Cache-Control": "public, max-age=3600", "Access-Control-Allow-Origin": "*"}
    return HttpResponse(directives.server_card(), content_type="application/json", headers=headers)


@require_safe
def wire_keys(_request: HttpRequest) -> HttpResponse:
    """Public keys that ever signed a snapshot, and those that sign answers; any site's script may read them, to verify a day."""
    keys = queries.wire_keys()
    if settings.WIRE_SIGN_ANSWERS:
        keys = KeysAndAnswerKeysOut(keys=keys.keys, answer_keys=_answer_keys())
    response = answer(keys, BRIEFLY)
    response["Access-Control-Allow-Origin"] = "*"
    return response


def _answer_keys() -> list[AnswerKeyOut]:
    said = {"algorithm": "Ed25519", "purpose": signatures.PURPOSE}
    return [AnswerKeyOut.model_validate(key | said) for key in signatures.public_keys()]


@public
def checkpoint(_request: HttpRequest) -> HttpResponse:
    """The newest signed checkpoint of the log over all snapshots; any site's script may read it."""
    response = _text(queries.get_checkpoint().encode())
    response["Access-Control-Allow-Origin"] = "*"
    return response


def xml(request: HttpRequest, template: str, context: dict[str, Any]) -> HttpResponse:
    """An XML document of ours, kept briefly by caches."""
    response = render(request, template, context | directives.addresses(), content_type="application/xml; charset=utf-8")
    response["Cache-Control"] = BRIEFLY
    return response


def _text(body: bytes, kind: str = "text/plain") -> HttpResponse:
    return HttpResponse(body, content_type=f"{kind}; charset=utf-8", headers={"Cache-Control": BRIEFLY})
