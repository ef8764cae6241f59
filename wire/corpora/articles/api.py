"""REST of publisher content: parse, ask one query, render. The MCP servers ask the same queries, within the same bounds."""

from functools import partial
from typing import Annotated, Final

from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router

from config.http.responses import BRIEFLY, encode_header_json, schema_response
from wire.corpora.articles import queries
from wire.corpora.articles.rendering import Format
from wire.corpora.articles.schemas import ArticleOut, HitsOut, PublisherOut, PublishersOut, RecentsOut
from wire.corpora.common.rest import UNKNOWN_PARAMETER, build_route_options
from wire.schemas.params import MAX_QUERY

router = Router(by_alias=True)

MAX_URL: Final = 2048  # characters of an article's address
REFUSALS: Final = {
    400: UNKNOWN_PARAMETER,
    402: "`payment_required`: the article costs something. The terms are x402's, in the header PAYMENT-REQUIRED and in the body; "
    "ask again with the payment in the header PAYMENT-SIGNATURE.",
    404: "`not_found`: there is no such publisher, or no such article; the message says if it was removed, and when.",
    422: "`invalid_argument`: an argument is missing, out of bounds, or of another list or publisher; the message names it.",
    502: "`upstream_failed`: the article is not stored, and its page cannot be read at the moment; the message says why.",
}

_answers = partial(build_route_options, refusals=REFUSALS)

Slug = Annotated[str, Path(max_length=100, description="A publisher's slug, as publishers.json lists it.", examples=["wire"])]
Keywords = Annotated[str, Query(min_length=1, max_length=MAX_QUERY, description="Keywords. Title matches count three times.")]
Found = Annotated[int, Query(ge=1, le=20)]
Listed = Annotated[int, Query(ge=1, le=50)]
Cursor = Annotated[str | None, Query(max_length=8_000, description="`next_cursor` of the previous page.")]
Url = Annotated[str, Query(min_length=1, max_length=MAX_URL, description="An article's address at its publisher.")]
MaxChars = Annotated[int, Query(ge=1, le=queries.WHOLE, description="At most this many characters; `next_offset` continues.")]
Offset = Annotated[int, Query(ge=0, le=queries.WHOLE, description="Where in the text to begin: a `next_offset`.")]


@router.get("/publishers.json", **_answers(PublishersOut), summary="Publishers whose articles agents may search and read")
def publishers(request: HttpRequest) -> HttpResponse:
    return schema_response(queries.list_publishers(), BRIEFLY)


@router.get("/{publisher}.json", **_answers(PublisherOut, 404, 422), summary="A publisher: its terms, and how many articles it has")
def publisher(request: HttpRequest, publisher: Slug) -> HttpResponse:
    return schema_response(queries.get_publisher(publisher), BRIEFLY)


@router.get("/{publisher}/search.json", **_answers(HitsOut, 404, 422), summary="Search a publisher's articles by keyword")
def search_articles(
    request: HttpRequest, publisher: Slug, query: Keywords, limit: Found = 5, cursor: Cursor = None
) -> HttpResponse:
    return schema_response(queries.search_content(publisher, query, limit, cursor), BRIEFLY)


@router.get("/{publisher}/recent.json", **_answers(RecentsOut, 404, 422), summary="A publisher's articles, newest first")
def recent_articles(request: HttpRequest, publisher: Slug, limit: Listed = 10, cursor: Cursor = None) -> HttpResponse:
    return schema_response(queries.list_recent(publisher, limit, cursor), BRIEFLY)


@router.get("/{publisher}/article.json", **_answers(ArticleOut, 402, 404, 422, 502), summary="One article by its address")
def article(
    request: HttpRequest,
    publisher: Slug,
    url: Url,
    format: Format = "markdown",  # noqa: A002  the contract's name
    max_chars: MaxChars = queries.WHOLE,
    offset: Offset = 0,
) -> HttpResponse:
    found, settled = queries.buy_article(publisher, url, format, max_chars, offset, request.headers.get("payment-signature"))
    response = schema_response(found, BRIEFLY if settled is None else "private, no-store")
    if settled is not None:
        response["PAYMENT-RESPONSE"] = encode_header_json(settled.as_dict())
    return response
