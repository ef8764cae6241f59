"""REST: parse, call one query, render. Every answer is a finished JSON body with its caching rule."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import orjson
from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router
from pydantic import StringConstraints

from citations.format.formats import CitationFormat
from config.http.responses import BRIEFLY, SHARED, dump_json, json_response, mark_as_memento, schema_response
from sources import queries as sources_queries
from sources.schemas import FeedsHealthOut, SourcesOut, VerdictOut
from wire import queries
from wire.api import route
from wire.schemas import params
from wire.schemas import story as schemas
from wire.schemas.detail import Detail, ShortStoriesOut, fit_into_budget, shape_page
from wire.schemas.documents import DocumentsOut
from wire.schemas.params import (
    SINCE,
    UNTIL,
    AnyCategory,
    AnyTopic,
    Days,
    EntityKind,
    IsoDate,
    IsoEnd,
    IsoMoment,
    ListLimit,
    SearchQuery,
)
from wire.schemas.stories_answer import StoriesAnswer

router = Router(by_alias=True)

Cursor = Annotated[str | None, Query(max_length=500, description="`next_cursor` of the previous page.")]
Day = Annotated[IsoDate, Path(description="A UTC day, YYYY-MM-DD.")]
Revision = Annotated[int | None, Query(ge=1, le=1_000_000, description="A past revision; what its hashes cover never changes.")]
AsOf = Annotated[IsoMoment | None, Query(description="As the wire stood at this moment; default: now.")]
Trimmed = StringConstraints(strip_whitespace=True)
StoryIdPath = Annotated[str, Path(max_length=100, description="A chatbotnews_id.", examples=["cbn-0123456789ab"]), Trimmed]
EventIdPath = Annotated[str, Path(max_length=100, description="An event_id, or the id of any of its stories."), Trimmed]
How = Annotated[Detail, Query(description="How much of each story: `brief`, `standard` or `full`.")]
Budget = Annotated[
    int | None,
    Query(
        ge=1,
        le=params.MOST_BUDGET,
        description="As many stories as fit into this number of tokens, at least one; `next_cursor` has the rest.",
    ),
]


def _dump_stories(detail: Detail, max_tokens: int | None, limit: int, ask: Callable[[int], StoriesAnswer[Any]]) -> bytes:
    """Return a list as JSON, as much of each story and as many of them as asked for."""
    if detail is Detail.FULL and max_tokens is None:
        return ask(limit).json()

    def ask_shaped(limit: int) -> dict[str, Any]:
        return shape_page(ask(limit), detail)

    return orjson.dumps(fit_into_budget(max_tokens, ask_shaped(limit), "stories", ask_shaped))


@route(router, "/today.json", schemas.DayOut, "The latest published day, complete", 404, 422, 503)
def today(request: HttpRequest, as_of: AsOf = None) -> HttpResponse:
    if as_of is not None:
        return mark_as_memento(json_response(queries.get_day_as_of(as_of).json(), BRIEFLY), request.path, as_of)
    return json_response(queries.get_today().json(), SHARED)


@route(router, "/today.schema.json", dict[str, Any], "JSON Schema of today.json and of every archived day")
def today_schema(request: HttpRequest) -> HttpResponse:
    schema = schemas.DayOut.model_json_schema(by_alias=True, mode="serialization")
    return json_response(orjson.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}), SHARED)


@route(router, "/archive.json", schemas.ArchiveOut, "Published days, newest first", 422)
def archive(request: HttpRequest, limit: ListLimit = params.LIST_LIMIT, cursor: Cursor = None) -> HttpResponse:
    return schema_response(queries.list_published_days(limit, cursor), BRIEFLY)


@route(router, "/archive/{day}.json", schemas.DayOut, "One published day, complete", 404, 422)
def archived_day(request: HttpRequest, day: Day, revision: Revision = None, as_of: AsOf = None) -> HttpResponse:
    if as_of is not None and revision is None:
        return mark_as_memento(json_response(queries.get_day_as_of(as_of, day).json(), BRIEFLY), request.path, as_of)
    return json_response(queries.get_archived_day(day, revision).json(), BRIEFLY)


@route(router, "/stories/{story_id}.json", schemas.StoryOut, "One story", 404, 422)
def story(request: HttpRequest, story_id: StoryIdPath, as_of: AsOf = None) -> HttpResponse:
    if as_of is not None:
        return mark_as_memento(json_response(queries.get_story_as_of(story_id, as_of), BRIEFLY), request.path, as_of)
    return json_response(queries.get_pinned_story(story_id) or queries.get_story_json(story_id), BRIEFLY)


@route(router, "/search.json", schemas.SearchOut | ShortStoriesOut, "Search all days", 422)
def search(request: HttpRequest, asked: Query[SearchQuery], detail: How = Detail.FULL, max_tokens: Budget = None) -> HttpResponse:
    def ask(limit: int) -> StoriesAnswer[schemas.SearchOut]:
        return queries.search_wire(**(dict(asked) | {"limit": limit}))

    return json_response(_dump_stories(detail, max_tokens, asked.limit, ask), BRIEFLY)


@route(router, "/search-all.json", DocumentsOut, "Search stories, events, storylines and every corpus at once", 403, 422)
def search_all(
    request: HttpRequest,
    query: Annotated[str, Query(min_length=1, max_length=params.MAX_QUERY, description="Words, or a question.")],
    kinds: Annotated[
        str | None, Query(max_length=200, description="Kinds, comma-separated: story,event,storyline,factcheck,article,timeline.")
    ] = None,
    limit: params.SearchLimit = params.SEARCH_LIMIT,
) -> HttpResponse:
    found = queries.search_documents(query, kinds, limit)
    return schema_response(found, "no-store" if found.degraded else BRIEFLY)


@route(router, "/categories/{category}.json", schemas.StoriesOut | ShortStoriesOut, "A category", 404, 422)
def category(
    request: HttpRequest,
    category: AnyCategory,
    limit: ListLimit = params.LIST_LIMIT,
    cursor: Cursor = None,
    as_of: AsOf = None,
    detail: How = Detail.FULL,
    max_tokens: Budget = None,
) -> HttpResponse:
    if as_of is not None:
        ask = partial(queries.get_category_as_of, category, as_of, cursor=cursor)
        return mark_as_memento(json_response(_dump_stories(detail, max_tokens, limit, ask), BRIEFLY), request.path, as_of)
    ask = partial(queries.get_category, category, cursor=cursor)
    return json_response(_dump_stories(detail, max_tokens, limit, ask), SHARED)


@route(router, "/topics/{topic}.json", schemas.TopicOut | ShortStoriesOut, "A topic, newest first", 404, 422)
def topic(
    request: HttpRequest,
    topic: AnyTopic,
    since: Annotated[IsoMoment | None, Query(description=SINCE)] = None,
    limit: ListLimit = params.LIST_LIMIT,
    cursor: Cursor = None,
    until: Annotated[IsoEnd | None, Query(description=UNTIL)] = None,
    detail: How = Detail.FULL,
    max_tokens: Budget = None,
) -> HttpResponse:
    ask = partial(queries.get_topic_coverage, topic, since, cursor=cursor, until=until)
    return json_response(_dump_stories(detail, max_tokens, limit, ask), BRIEFLY)


@route(router, "/entities.json", schemas.EntitiesOut, "Companies, people and products that are in the news", 422)
def entities(request: HttpRequest, kind: EntityKind | None = None) -> HttpResponse:
    return schema_response(queries.list_entities(kind), BRIEFLY)


@route(
    router,
    "/entities/{slug}.json",
    schemas.EntityOut | ShortStoriesOut,
    "Stories about a company, person or product, newest first",
    404,
    422,
)
def entity(
    request: HttpRequest,
    slug: Annotated[
        str, Path(max_length=100, description="A slug, a name, or another spelling of it.", examples=["openai"]), Trimmed
    ],
    since: Annotated[IsoMoment | None, Query(description=SINCE)] = None,
    limit: ListLimit = params.LIST_LIMIT,
    cursor: Cursor = None,
    until: Annotated[IsoEnd | None, Query(description=UNTIL)] = None,
    detail: How = Detail.FULL,
    max_tokens: Budget = None,
) -> HttpResponse:
    ask = partial(queries.get_entity, slug, since, cursor=cursor, until=until)
    return json_response(_dump_stories(detail, max_tokens, limit, ask), BRIEFLY)


@route(router, "/events.json", schemas.EventsOut, "Events of a day or a period, most widely reported first", 404, 422, 503)
def events(
    request: HttpRequest,
    date: Annotated[
        Days | None, Query(description="A UTC day, YYYY-MM-DD, or a period: 2026-01-12/2026-01-18, this week; default: the latest.")
    ] = None,
    category: AnyCategory | None = None,
    topic: AnyTopic | None = None,
    limit: ListLimit = params.LIST_LIMIT,
    cursor: Cursor = None,
    max_tokens: Budget = None,
) -> HttpResponse:
    def ask(limit: int) -> dict[str, Any]:
        return queries.list_events(date, category, topic, limit, cursor).model_dump(mode="json")

    return dump_json(fit_into_budget(max_tokens, ask(limit), "events", ask), BRIEFLY)


@route(router, "/events/{event_id}.json", schemas.EventOut, "One event, with every report of it", 404, 422)
def event(request: HttpRequest, event_id: EventIdPath) -> HttpResponse:
    return schema_response(queries.get_event(event_id), BRIEFLY)


@route(router, "/storylines/{event_id}.json", schemas.StorylineOut, "One storyline, event by event", 404, 422)
def storyline(
    request: HttpRequest,
    event_id: Annotated[str, Path(max_length=100, description="A storyline_id, or the id of any event or story of it."), Trimmed],
    limit: ListLimit = params.LIST_LIMIT,
    cursor: Cursor = None,
) -> HttpResponse:
    return schema_response(queries.get_storyline(event_id, limit, cursor), BRIEFLY)


@route(router, "/consensus.json", schemas.ConsensusOut, "Who else reports a story", 404, 422)
def consensus(
    request: HttpRequest,
    story_id: Annotated[
        Annotated[str, Trimmed] | None, Query(max_length=100, description="Wins over `headline` when both are given.")
    ] = None,
    headline: Annotated[str | None, Query(max_length=params.MAX_HEADLINE_QUERY)] = None,
) -> HttpResponse:
    return schema_response(queries.get_consensus(story_id, headline), BRIEFLY)


@route(router, "/citations/{story_id}.json", schemas.CitationOut, "One citation", 404, 410, 422)
def citation(
    request: HttpRequest,
    story_id: StoryIdPath,
    format: CitationFormat = CitationFormat.LAYERED,  # noqa: A002  the contract's name
) -> HttpResponse:
    return schema_response(queries.get_pinned_citation(story_id, format) or queries.get_citation(story_id, format), BRIEFLY)


@route(router, "/editor-take/{day}.json", schemas.EditorTakeOut, "The editor's take on a day", 404, 422)
def editor_take(request: HttpRequest, day: Day) -> HttpResponse:
    return schema_response(queries.get_editor_take(day), BRIEFLY)


@route(router, "/provenance/{day}.json", schemas.ProvenanceOut, "How to check a day", 404, 422)
def provenance(request: HttpRequest, day: Day, revision: Revision = None, as_of: AsOf = None) -> HttpResponse:
    if as_of is not None and revision is None:
        return mark_as_memento(schema_response(queries.get_provenance_as_of(as_of, day), BRIEFLY), request.path, as_of)
    return schema_response(queries.get_provenance(day, revision=revision), BRIEFLY)


# Generated clients depend on the ids of these three, whose routes were in `sources` once.
@route(
    router, "/sources.json", SourcesOut, "The roster of 24 publications", 422, tags=["roster"], operation_id="sources_api_sources"
)
def sources(request: HttpRequest, tier: Annotated[int | None, Query(ge=1, le=4)] = None) -> HttpResponse:
    return schema_response(queries.list_sources(tier), BRIEFLY)


@route(
    router,
    "/verify-source.json",
    VerdictOut,
    "Is this publication in the roster?",
    422,
    tags=["roster"],
    operation_id="sources_api_verify_source",
)
def verify_source(request: HttpRequest, publication_name: Annotated[str, Query(max_length=500)]) -> HttpResponse:
    return schema_response(sources_queries.verify_source(publication_name), BRIEFLY)


@route(
    router,
    "/health/feeds.json",
    FeedsHealthOut,
    "When each source last had news, and the health of its feeds",
    tags=["roster"],
    operation_id="sources_api_feeds_health",
)
def feeds_health(request: HttpRequest) -> HttpResponse:
    return schema_response(queries.get_feeds_health(), "no-store")
