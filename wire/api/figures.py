"""REST of figures that pages draw: parse, call one query, render."""

from typing import Annotated

from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router

from config.http.responses import BRIEFLY, schema_response
from wire import queries
from wire.api import route
from wire.api.rest import EventIdPath
from wire.queries import activity as activity_queries
from wire.schemas import figures
from wire.schemas.params import AnyCategory, AnyTopic

router = Router(by_alias=True)


@route(router, "/activity.json", figures.ActivityOut, "Stories per day: all, or of a topic, category, source or name", 404, 422)
def activity(
    request: HttpRequest,
    topic: AnyTopic | None = None,
    category: AnyCategory | None = None,
    source: Annotated[str | None, Query(max_length=100, description="The slug of a publication in /api/sources.json.")] = None,
    days: Annotated[
        int, Query(ge=1, le=activity_queries.MOST_DAYS, description="Number of days, ending with the latest published one.")
    ] = activity_queries.DAYS,
    entity: Annotated[str | None, Query(max_length=100, description="A company, person or product in /api/entities.json.")] = None,
) -> HttpResponse:
    return schema_response(queries.get_activity(topic, category, source, days, entity=entity), BRIEFLY)


@route(router, "/events/{event_id}/coverage.json", figures.CoverageOut, "Which publications reported an event, by tier", 404, 422)
def coverage(request: HttpRequest, event_id: EventIdPath) -> HttpResponse:
    return schema_response(queries.get_coverage(event_id), BRIEFLY)


@route(router, "/weeks/latest.json", figures.WeekOut, "The latest week, by its storylines and events", 503)
def latest_week(request: HttpRequest) -> HttpResponse:
    return schema_response(queries.get_week(), BRIEFLY)


@route(router, "/weeks/{week}.json", figures.WeekOut, "One week, by its storylines and events", 404, 422, 503)
def week(request: HttpRequest, week: Annotated[figures.IsoWeek, Path(description="An ISO week such as 2026-W21.")]) -> HttpResponse:
    return schema_response(queries.get_week(week), BRIEFLY)
