"""Pages of publisher content, for people: publishers, their terms, new articles, and what agents asked."""

from collections.abc import AsyncIterator, Iterator
from itertools import islice
from typing import Any, Final
from urllib.parse import urlencode

from asgiref.sync import sync_to_async
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone

from config.errors import InvalidArgument, NotFound
from wire.corpora.articles import queries, usage_counts
from wire.corpora.articles.models import Publisher
from wire.corpora.articles.rights_files import view_publisher
from wire.corpora.articles.schemas import HitsOut, RecentsOut
from wire.schemas.params import MAX_QUERY
from wire.site.pages import page, public
from wire.site.well_known import xml

PER_PAGE: Final = 20
LINES: Final = 500  # of a CSV that are sent at a time


def _show_missing(request: HttpRequest, error: NotFound) -> HttpResponseBase:
    return page(request, "articles/missing.html", {"error": error}, "no-store", status=404)


@public
def publishers(request: HttpRequest) -> HttpResponse:
    return page(request, "articles/publishers.html", {"publishers": queries.list_publishers().publishers})


@public
def sitemap(request: HttpRequest) -> HttpResponse:
    paths = [f"/articles/{one.slug}{page}" for one in queries.list_publishers().publishers for page in ("", "/asked")]
    return xml(request, "sitemap.xml", {"pages": [(path, None) for path in ("/articles", *paths)]})


@view_publisher(_show_missing)
def publisher(request: HttpRequest, publisher: Publisher) -> HttpResponseBase:
    query, cursor = request.GET.get("query", "").strip(), request.GET.get("cursor") or None
    context: dict[str, Any] = {"publisher": queries.get_publisher(publisher.slug), "query": query, "is_first": cursor is None}
    try:
        if len(query) > MAX_QUERY:
            raise InvalidArgument(f"The query is longer than {MAX_QUERY} characters.", "Ask for fewer words.")
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


@view_publisher(_show_missing)
def asked_page(request: HttpRequest, publisher: Publisher) -> HttpResponseBase:
    context = {
        "publisher": publisher,
        "asked": usage_counts.report_usage(publisher, timezone.now().date()),
        "tools": usage_counts.TOOLS,
        "days": usage_counts.DAYS,
        "most": usage_counts.SHOWN,
    }
    return page(request, "articles/asked.html", context, "no-store")


@view_publisher(_show_missing)
def asked_csv(_request: HttpRequest, publisher: Publisher) -> HttpResponseBase:
    lines = usage_counts.csv_lines(publisher)
    headers = {"Content-Disposition": f'attachment; filename="{publisher.slug}-asked.csv"', "Cache-Control": "no-store"}
    return StreamingHttpResponse(_in_pieces(lines), content_type="text/csv; charset=utf-8", headers=headers)


async def _in_pieces(lines: Iterator[str]) -> AsyncIterator[str]:
    """Yield lines as they are read from the database: Django would read an iterator that is not asynchronous to its end first."""
    while piece := await sync_to_async(lambda: "".join(islice(lines, LINES)))():
        yield piece
