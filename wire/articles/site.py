"""Pages of publisher content, for people: who is here, on which terms, what is new, and what agents asked."""

from collections.abc import AsyncIterator, Callable, Iterator
from functools import wraps
from itertools import islice
from typing import Any, Final
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.views.decorators.http import require_safe

from config.errors import InvalidArgument, NotFound
from wire.articles import asked, queries
from wire.articles.files import tdm_reservation
from wire.articles.models import Publisher
from wire.bounds import MAX_QUERY
from wire.site.machine import xml
from wire.site.pages import page, public

PER_PAGE: Final = 20
LINES: Final = 500  # of a CSV that are sent at a time


def of_publisher(view: Callable[[HttpRequest, Publisher], HttpResponseBase]) -> Callable[..., HttpResponseBase]:
    """A page of a publisher that is served; for any other a 404 page that says why, a removed one's date included."""

    @require_safe
    @wraps(view)
    def wrapped(request: HttpRequest, slug: str) -> HttpResponseBase:
        try:
            publisher = queries.publisher_of(slug)
        except NotFound as error:
            return page(request, "articles/missing.html", {"error": error}, "no-store", status=404)
        response = view(request, publisher)
        response["tdm-reservation"] = tdm_reservation(publisher.may_train)
        return response

    return wrapped


@public
def publishers(request: HttpRequest) -> HttpResponse:
    """Everybody whose articles agents may search and read here."""
    return page(request, "articles/publishers.html", {"publishers": queries.list_publishers().publishers})


@public
def sitemap(request: HttpRequest) -> HttpResponse:
    """The pages of every publisher that is served."""
    told = [f"/articles/{one.slug}{page}" for one in queries.list_publishers().publishers for page in ("", "/asked")]
    return xml(request, "sitemap.xml", {"pages": [(path, None) for path in ("/articles", *told)]})


@of_publisher
def publisher(request: HttpRequest, publisher: Publisher) -> HttpResponse:
    """Who it is, its terms, how to connect an agent, and its newest articles or what a search found."""
    query, cursor = request.GET.get("query", "").strip(), request.GET.get("cursor") or None
    context: dict[str, Any] = {"publisher": queries.get_publisher(publisher.slug), "query": query, "is_first": cursor is None}
    try:
        context |= _listed(publisher.slug, query, cursor)
    except InvalidArgument as error:
        return page(request, "articles/publisher.html", context | {"refused": error}, "no-store", status=422)
    return page(request, "articles/publisher.html", context)


@of_publisher
def asked_page(request: HttpRequest, publisher: Publisher) -> HttpResponse:
    """What agents asked the publisher's server in the last 30 days."""
    found = asked.asked(publisher, timezone.now().date())
    context = {"publisher": publisher, "asked": found, "tools": asked.TOOLS, "days": asked.DAYS, "most": asked.SHOWN}
    return page(request, "articles/asked.html", context, "no-store")


@of_publisher
def asked_csv(_request: HttpRequest, publisher: Publisher) -> HttpResponseBase:
    """The same of all days, as a file that a spreadsheet opens."""
    headers = {
        "Content-Disposition": f'attachment; filename="{publisher.slug}-asked.csv"',
        "Cache-Control": "no-store",
    }
    lines = _in_pieces(asked.csv_lines(publisher))
    return StreamingHttpResponse(lines, content_type="text/csv; charset=utf-8", headers=headers)


def _listed(slug: str, query: str, cursor: str | None) -> dict[str, Any]:
    """A page of hits, or of the newest articles. Raises: InvalidArgument for a query without words and a strange cursor."""
    if len(query) > MAX_QUERY:
        raise InvalidArgument(f"The query is longer than {MAX_QUERY} characters.", "Ask for fewer words.")
    if query:
        found, params = queries.search_content(slug, query, PER_PAGE, cursor), {"query": query}
        return {"list": found, "next": _next(found.next_cursor, params)}
    newest = queries.list_recent(slug, PER_PAGE, cursor)
    return {"list": newest, "next": _next(newest.next_cursor, {})}


def _next(cursor: str | None, params: dict[str, str]) -> str | None:
    return f"?{urlencode(params | {'cursor': cursor})}" if cursor else None


async def _in_pieces(lines: Iterator[str]) -> AsyncIterator[str]:
    """As they are read from the database: an iterator that is not asynchronous would be read to its end first."""
    while piece := await sync_to_async(lambda: "".join(islice(lines, LINES)))():
        yield piece
