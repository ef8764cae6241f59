"""Pages of publisher content, for people: publishers, their terms, new articles, and what agents asked. And the terms as machines
read them, functions of a publisher's row: llms.txt, ai.txt, RSL and the TDM reservation.
"""

import re
from collections.abc import AsyncIterator, Callable, Iterator
from functools import wraps
from itertools import islice
from typing import Any, Final
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template import Context, Engine
from django.utils import timezone
from django.views.decorators.http import require_safe

from config.errors import InvalidArgument, NotFound
from config.http.responses import BRIEFLY
from wire.corpora.articles import queries, usage_counts
from wire.corpora.articles.directory import find_publisher
from wire.corpora.articles.models import LicenceKind, Publisher
from wire.corpora.articles.schemas import HitsOut, RecentsOut
from wire.corpora.articles.x402 import describe_price
from wire.schemas.params import MAX_QUERY
from wire.site.pages import page, public_page
from wire.site.well_known import render_xml
from wire.text.plain_text import plain_line

PER_PAGE: Final = 20
LINES: Final = 500  # of a CSV that are sent at a time
PLAIN: Final = "text/plain; charset=utf-8"
RSL: Final = "application/rsl+xml; charset=utf-8"
ADDRESS: Final = re.compile(r"https?://[^\s<>\"]+")
MAX_LINE: Final = 500  # characters of a publisher's own words in a file; the page has them whole

View = Callable[[HttpRequest, Publisher], HttpResponseBase]


def with_publisher(view: View) -> Callable[..., HttpResponseBase]:
    """Serve a view of a publisher; any other publisher is answered with a page, in place of a file with its text."""

    @require_safe
    @wraps(view)
    def serve(request: HttpRequest, slug: str) -> HttpResponseBase:
        try:
            publisher = find_publisher(slug)
        except NotFound as error:
            if request.path.endswith((".txt", ".xml")):
                text, headers = f"{error.message} {error.hint}\n", {"Cache-Control": "no-store"}
                return HttpResponse(text, status=404, content_type=PLAIN, headers=headers)
            return page(request, "articles/missing.html", {"error": error}, "no-store", status=404)
        response = view(request, publisher)
        response["tdm-reservation"] = "0" if publisher.may_train else "1"  # TDMRep (W3C): 1 reserves mining for training
        return response

    return serve


@public_page
def publishers(request: HttpRequest) -> HttpResponse:
    return page(request, "articles/publishers.html", {"publishers": queries.list_publishers().publishers})


@public_page
def sitemap(request: HttpRequest) -> HttpResponse:
    paths = [f"/articles/{one.slug}{page}" for one in queries.list_publishers().publishers for page in ("", "/asked")]
    return render_xml(request, "sitemap.xml", {"pages": [(path, None) for path in ("/articles", *paths)]})


@with_publisher
def publisher(request: HttpRequest, publisher: Publisher) -> HttpResponseBase:
    query, cursor = request.GET.get("query", "").strip(), request.GET.get("cursor") or None
    context: dict[str, Any] = {"publisher": queries.get_publisher(publisher.slug), "query": query, "is_first": cursor is None}
    try:
        if len(query) > MAX_QUERY:
            raise InvalidArgument(f"The query is longer than {MAX_QUERY} characters.", "Use fewer words.")
        found: HitsOut | RecentsOut
        if query:
            found = queries.search_content(publisher.slug, query, PER_PAGE, cursor)
        else:
            found = queries.list_recent(publisher.slug, PER_PAGE, cursor)
    except InvalidArgument as error:  # also for a query without words and a strange cursor
        return page(request, "articles/publisher.html", context | {"refused": error}, "no-store", status=422)
    params = ({"query": query} if query else {}) | {"cursor": found.next_cursor}
    context |= {"list": found, "next": f"?{urlencode(params)}" if found.next_cursor else None}
    return page(request, "articles/publisher.html", context)


@with_publisher
def usage_page(request: HttpRequest, publisher: Publisher) -> HttpResponseBase:
    context = {
        "publisher": publisher,
        "asked": usage_counts.report_usage(publisher, timezone.now().date()),
        "tools": usage_counts.TOOLS,
        "days": usage_counts.DAYS,
        "most": usage_counts.SHOWN,
    }
    return page(request, "articles/asked.html", context, "no-store")


@with_publisher
def usage_csv(_request: HttpRequest, publisher: Publisher) -> HttpResponseBase:
    lines = usage_counts.iterate_csv_lines(publisher)
    headers = {"Content-Disposition": f'attachment; filename="{publisher.slug}-asked.csv"', "Cache-Control": "no-store"}
    return StreamingHttpResponse(_stream_lines(lines), content_type="text/csv; charset=utf-8", headers=headers)


async def _stream_lines(lines: Iterator[str]) -> AsyncIterator[str]:
    """Yield lines as they are read from the database: Django would read an iterator that is not asynchronous to its end first."""
    while piece := await sync_to_async(lambda: "".join(islice(lines, LINES)))():
        yield piece


@with_publisher
def llms_txt(_request: HttpRequest, publisher: Publisher) -> HttpResponse:
    return _render_rights_file("llms.txt", PLAIN, publisher, api=f"{settings.WIRE_SITE_URL}/api", mcp=publisher.mcp)


@with_publisher
def ai_txt(_request: HttpRequest, publisher: Publisher) -> HttpResponse:
    """The rule for training sets as Spawning's ai.txt has it; answering as a Content-Signal line; the reservation of TDMRep."""
    return _render_rights_file("ai.txt", PLAIN, publisher, reservation="0" if publisher.may_train else "1")


@with_publisher
def license_xml(_request: HttpRequest, publisher: Publisher) -> HttpResponse:
    """The terms in RSL 1.0. `search` is what a publisher agrees to by being served; credit is due for every use."""
    uses = {"search": True, "ai-input": publisher.may_answer, "ai-train": publisher.may_train}
    scheme, terms = publisher.homepage.partition("://")[0], f"{publisher.page}#terms"
    address = ADDRESS.search(publisher.licence)
    licence = address[0] if address else ""
    return _render_rights_file(
        "license.xml",
        RSL,
        publisher,
        homepage=publisher.homepage,
        contents=[f"{scheme}://{domain}/" for domain in publisher.domains],
        permits=" ".join(use for use, is_allowed in uses.items() if is_allowed),
        prohibits=" ".join(use for use, is_allowed in uses.items() if not is_allowed),
        standard=licence if publisher.licence_kind == LicenceKind.CC else "",
        is_priced=bool(publisher.price),
        terms=(licence if publisher.licence_kind == LicenceKind.RSL else "") or terms,
        price=terms,
    )


def _render_rights_file(name: str, content_type: str, publisher: Publisher, **context: object) -> HttpResponse:
    """Give the publisher's own words to the template as single lines, so that none of them can pass for a rule of the file."""
    kind = LicenceKind(publisher.licence_kind).label
    words = {
        "name": publisher.name,
        "licence": f"{kind}: {publisher.licence}" if publisher.licence else kind,
        "price": f"{describe_price(publisher.price)}, paid by x402" if publisher.price else "none",
    }
    own = {"publisher": publisher, "page": publisher.page} | {name: plain_line(text, MAX_LINE) for name, text in words.items()}
    values = Context(own | context, autoescape=content_type == RSL)  # the others are plain text
    text = Engine.get_default().get_template(f"articles/{name}").render(values)
    return HttpResponse(text, content_type=content_type, headers={"Cache-Control": BRIEFLY})
