"""REST: parse, ask one query, render. Every answer is a finished JSON body with its caching rule."""

from typing import Annotated, Any

import orjson
from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router
from pydantic import StringConstraints

from citations.formats import CitationFormat
from config.http.responses import BRIEFLY, FOREVER, SHARED, answer, errors, finished, memento
from sources.schemas import FeedsHealthOut
from wire import bounds, queries, schemas
from wire.bounds import SINCE, IsoDate, IsoMoment, ListLimit, SearchQuery
from wire.stories.vocabulary import Category, Topic

router = Router(by_alias=True)

Cursor = Annotated[str | None, Query(max_length=500, description="`next_cursor` of the page before.")]
Day = Annotated[IsoDate, Path(description="A UTC day, YYYY-MM-DD.")]
Revision = Annotated[int | None, Query(ge=1, le=1_000_000, description="A past revision; it never changes.")]
AsOf = Annotated[IsoMoment | None, Query(description="As the wire told it at this moment; default: now.")]
Trimmed = StringConstraints(strip_whitespace=True)
StoryIdPath = Annotated[str, Path(max_length=100, description="A chatbotnews_id.", examples=["cbn-0123456789ab"]), Trimmed]


@router.get("/today.json", response={200: schemas.DayOut, **errors(404, 422, 503)}, summary="The latest published day, complete")
def today(request: HttpRequest, as_of: AsOf = None) -> HttpResponse:
    if as_of is not None:
        return memento(finished(queries.get_day_as_of(as_of).json(), BRIEFLY), request.path, as_of)
    return finished(queries.get_today().json(), SHARED)


@router.get(
    "/today.schema.json", response={200: dict[str, Any], **errors()}, summary="JSON Schema of today.json and of every archived day"
)
def today_schema(request: HttpRequest) -> HttpResponse:
    schema = schemas.DayOut.model_json_schema(by_alias=True, mode="serialization")
    return finished(orjson.dumps({"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}), SHARED)


@router.get("/archive.json", response={200: schemas.ArchiveOut, **errors(422)}, summary="Published days, newest first")
def archive(request: HttpRequest, limit: ListLimit = bounds.LIST_LIMIT, cursor: Cursor = None) -> HttpResponse:
    return answer(queries.list_days(limit, cursor), BRIEFLY)


@router.get("/archive/{day}.json", response={200: schemas.DayOut, **errors(404, 422)}, summary="One published day, complete")
def archived_day(request: HttpRequest, day: Day, revision: Revision = None, as_of: AsOf = None) -> HttpResponse:
    if as_of is not None and revision is None:
        return memento(finished(queries.get_day_as_of(as_of, day).json(), BRIEFLY), request.path, as_of)
    return finished(queries.get_archive(day, revision).json(), BRIEFLY if revision is None else FOREVER)


@router.get("/stories/{story_id}.json", response={200: schemas.StoryOut, **errors(404, 422)}, summary="One story")
def story(request: HttpRequest, story_id: StoryIdPath, as_of: AsOf = None) -> HttpResponse:
    if as_of is not None:
        return memento(finished(queries.get_story_as_of(story_id, as_of), BRIEFLY), request.path, as_of)
    return finished(queries.get_pinned_story(story_id) or queries.get_story_json(story_id), BRIEFLY)


@router.get("/search.json", response={200: schemas.SearchOut, **errors(422)}, summary="Search all days")
def search(request: HttpRequest, asked: Query[SearchQuery]) -> HttpResponse:
    return finished(queries.search_wire(**dict(asked)).json(), BRIEFLY)


@router.get("/categories/{category}.json", response={200: schemas.StoriesOut, **errors(404, 422)}, summary="A category")
def category(
    request: HttpRequest, category: Category, limit: ListLimit = bounds.LIST_LIMIT, cursor: Cursor = None, as_of: AsOf = None
) -> HttpResponse:
    if as_of is not None:
        return memento(finished(queries.get_category_as_of(category, as_of, limit, cursor).json(), BRIEFLY), request.path, as_of)
    return finished(queries.get_category(category, limit, cursor).json(), SHARED)


@router.get("/topics/{topic}.json", response={200: schemas.TopicOut, **errors(404, 422)}, summary="A topic, newest first")
def topic(
    request: HttpRequest,
    topic: Topic,
    since: Annotated[IsoMoment | None, Query(description=SINCE)] = None,
    limit: ListLimit = bounds.LIST_LIMIT,
    cursor: Cursor = None,
) -> HttpResponse:
    return finished(queries.get_topic_coverage(topic, since, limit, cursor).json(), BRIEFLY)


@router.get(
    "/events.json", response={200: schemas.EventsOut, **errors(404, 422, 503)}, summary="A day's events, most widely reported first"
)
def events(
    request: HttpRequest,
    date: Annotated[IsoDate | None, Query(description="A UTC day, YYYY-MM-DD; default: the latest published.")] = None,
    category: Category | None = None,
    topic: Topic | None = None,
    limit: ListLimit = bounds.LIST_LIMIT,
    cursor: Cursor = None,
) -> HttpResponse:
    return answer(queries.list_events(date, category, topic, limit, cursor), BRIEFLY)


@router.get(
    "/events/{event_id}.json", response={200: schemas.EventOut, **errors(404, 422)}, summary="One event, with every report of it"
)
def event(
    request: HttpRequest,
    event_id: Annotated[str, Path(max_length=100, description="An event_id, or the id of any story of it."), Trimmed],
) -> HttpResponse:
    return answer(queries.get_event(event_id), BRIEFLY)


@router.get("/consensus.json", response={200: schemas.ConsensusOut, **errors(404, 422)}, summary="Who else reports it")
def consensus(
    request: HttpRequest,
    story_id: Annotated[
        Annotated[str, Trimmed] | None, Query(max_length=100, description="Wins over `headline` when both are given.")
    ] = None,
    headline: Annotated[str | None, Query(max_length=bounds.MAX_HEADLINE_QUERY)] = None,
) -> HttpResponse:
    return answer(queries.get_consensus(story_id, headline), BRIEFLY)


@router.get("/citations/{story_id}.json", response={200: schemas.CitationOut, **errors(404, 410, 422)}, summary="One citation")
def citation(
    request: HttpRequest,
    story_id: StoryIdPath,
    format: CitationFormat = CitationFormat.LAYERED,  # noqa: A002  the contract's name
) -> HttpResponse:
    return answer(queries.get_pinned_citation(story_id, format) or queries.get_citation(story_id, format), BRIEFLY)


@router.get("/editor-take/{day}.json", response={200: schemas.EditorTakeOut, **errors(404, 422)}, summary="A day's editor's take")
def editor_take(request: HttpRequest, day: Day) -> HttpResponse:
    return answer(queries.get_editor_take(day), BRIEFLY)


@router.get("/provenance/{day}.json", response={200: schemas.ProvenanceOut, **errors(404, 422)}, summary="How to check a day")
def provenance(request: HttpRequest, day: Day, revision: Revision = None, as_of: AsOf = None) -> HttpResponse:
    if as_of is not None and revision is None:
        return memento(answer(queries.get_provenance_as_of(as_of, day), BRIEFLY), request.path, as_of)
    return answer(queries.get_provenance(day, revision=revision), BRIEFLY)


@router.get(
    "/health/feeds.json",
    response={200: FeedsHealthOut, **errors()},
    summary="How old each source is, and the health of its feeds",
    tags=["roster"],
    operation_id="sources_api_feeds_health",  # clients may be made of it; the route stood there once
)
def feeds_health(request: HttpRequest) -> HttpResponse:
    return answer(queries.feeds_health(), "no-store")
