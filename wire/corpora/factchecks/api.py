"""REST API for fact-checks: parse, run one query, render. The MCP server runs the same queries with the same bounds."""

from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, Final, Literal

from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router, Schema

from config.errors import Withdrawn
from config.http.responses import BRIEFLY, schema_response
from config.tokens import parse_bearer_token
from wire.corpora.common.rest import UNKNOWN_PARAMETER, build_route_options
from wire.corpora.factchecks import api_keys, queries, schemas
from wire.corpora.factchecks.languages import Code
from wire.schemas.params import IsoMoment, ListLimit

router = Router(by_alias=True)
View = Callable[..., HttpResponse]

MAX_QUERY: Final = 2_000
REFUSALS: Final = {
    400: UNKNOWN_PARAMETER,
    401: "`unauthorized`: this installation needs a key, and no valid one was sent.",
    404: "`not_found`: there is no such fact-check.",
    410: "`story_withdrawn`: the fact-check was withdrawn and must not be cited.",
    422: "`invalid_argument`: an argument is missing or out of bounds, or a cursor belongs to another list; the message names it.",
}

Text = Annotated[str, Query(min_length=1, max_length=MAX_QUERY, description="The claim or question, in words.")]
Found = Annotated[int, Query(ge=1, le=20)]
Name = Annotated[str | None, Query(max_length=200)]
Cursor = Annotated[str | None, Query(max_length=500, description="`next_cursor` of the previous page.")]
Id = Annotated[str, Path(max_length=200, description="An id or short id; slashes need no escaping.")]
Language = Annotated[
    Code | Literal["auto"] | None,
    Query(description="Language of the query, for its word forms; detected if omitted. It filters nothing."),
]
Categories = Annotated[
    list[str] | None, Query(alias="category", max_length=20, description="In any of these categories; repeat for several.")
]
Rating = Annotated[str | None, Query(max_length=200, description="A fact-checker's own label, or a rating on the common scale.")]
Since = Annotated[IsoMoment | None, Query(description="Only fact-checks published at or after this time.")]


def route_with_key(path: str, schema: type[Schema], *statuses: int, summary: str) -> Callable[[View], View]:
    """Register a view. If a key is needed, it checks the key and keeps the answer out of shared caches."""

    def register(view: View) -> View:
        @wraps(view)
        def answer_with_key(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            rule = api_keys.read_key_rule("api")
            api_keys.expect_valid_key(parse_bearer_token(request.headers.get("authorization")), rule)
            response = view(request, *args, **kwargs)
            if rule.is_required:
                response["Cache-Control"] = "private, no-store"
            return response

        router.get(path, summary=summary, **build_route_options(schema, 401, *statuses, refusals=REFUSALS))(answer_with_key)
        return view

    return register


@route_with_key("/search.json", schemas.FoundClaimsOut, 422, summary="Search fact-checks by words and meaning")
def search_factchecks(
    request: HttpRequest,
    query: Text,
    limit: Found = 5,
    category: Categories = None,
    rating_label: Rating = None,
    language: Language = None,
    status: Name = None,
    published_since: Since = None,
    cursor: Cursor = None,
) -> HttpResponse:
    code = None if language == "auto" else language
    found = queries.search_claims(query, limit, category, rating_label, code, status, published_since, cursor)
    return schema_response(found, "no-store" if found.degraded else BRIEFLY)


@route_with_key("/claims.json", schemas.ClaimsOut, 422, summary="Fact-checks, newest first")
def factchecks(
    request: HttpRequest,
    limit: ListLimit = 20,
    rating_label: Rating = None,
    category: Name = None,
    status: Name = None,
    cursor: Cursor = None,
) -> HttpResponse:
    return schema_response(queries.list_claims(limit, rating_label, category, status, cursor), BRIEFLY)


@route_with_key("/claims/{path:any_id}.json", schemas.ClaimOut, 404, 422, summary="One fact-check")
def factcheck(request: HttpRequest, any_id: Id) -> HttpResponse:
    return schema_response(queries.get_claim(any_id), BRIEFLY)


@route_with_key("/revisions/{path:any_id}.json", schemas.ClaimRevisionsOut, 404, 422, summary="Earlier versions of a fact-check")
def factcheck_revisions(
    request: HttpRequest,
    any_id: Id,
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1, description="`next_before` of the previous page.")] = None,
) -> HttpResponse:
    return schema_response(queries.list_revisions(any_id, before), BRIEFLY)


@route_with_key("/citations/{path:any_id}.json", schemas.FactcheckCitationOut, 404, 410, 422, summary="A fact-check as a citation")
def factcheck_citation(
    request: HttpRequest,
    any_id: Id,
    format: Literal["layered", "csl", "ris"] = "layered",  # noqa: A002  the contract's name
) -> HttpResponse:
    found = queries.get_claim(any_id)
    if found.withdrawn_at is not None:
        raise Withdrawn(f"{found.short_id or found.id} was withdrawn and must not be cited.", "Its permalink says why.")
    return schema_response(schemas.FactcheckCitationOut(citation=found.citations[format], format=format, id=found.id), BRIEFLY)


@route_with_key("/categories.json", schemas.ClaimCategoriesOut, summary="Categories of fact-checks")
def factcheck_categories(request: HttpRequest) -> HttpResponse:
    return schema_response(queries.list_categories(), BRIEFLY)


@route_with_key("/rating-labels.json", schemas.RatingLabelsOut, summary="Fact-checkers' labels, and what they mean")
def factcheck_rating_labels(request: HttpRequest) -> HttpResponse:
    return schema_response(queries.list_rating_labels(), BRIEFLY)


@route_with_key("/stats.json", schemas.FactcheckStatsOut, summary="How many fact-checks there are, and how they are searched")
def factcheck_stats(request: HttpRequest) -> HttpResponse:
    return schema_response(queries.get_stats(), BRIEFLY)


@route_with_key("/story/{story_id}.json", schemas.ClaimsOfStoryOut, 404, 422, summary="Fact-checks of claims that a story is about")
def factchecks_of_story(request: HttpRequest, story_id: Annotated[str, Path(max_length=100)]) -> HttpResponse:
    return schema_response(queries.get_claims_of_story(story_id), BRIEFLY)
