"""REST API for proofs and checks: parse, call one query, render."""

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router

from config.http.responses import BRIEFLY, dump_json, schema_response
from wire import queries
from wire.api import route
from wire.api.rest import Day as DayPath
from wire.api.rest import EventIdPath
from wire.queries.changes import LIMIT, MOST, SINCE, parse_kinds
from wire.queries.claim_corroboration import MAX_CLAIM
from wire.queries.proofs import LEAVES, MOST_LEAVES
from wire.schemas import proofs
from wire.schemas.client_limits import LimitsOut
from wire.schemas.params import Day, IsoMoment
from wire.text.choices import ChangeKind

router = Router(by_alias=True)

LONGEST_TEXT = 8_000  # characters; servers limit the length of an address. The MCP tool takes 20,000


@route(router, "/verify-citation.json", proofs.VerifiedOut, "Are these citations true?", 422)
def verify_citation(
    request: HttpRequest,
    text: Annotated[str, Query(min_length=1, max_length=LONGEST_TEXT, description="Any text: every citation in it is checked.")],
) -> HttpResponse:
    return schema_response(queries.verify_citation(text), BRIEFLY)


@route(router, "/archive/{day}/changes.json", proofs.DayChangesOut, "What changed on a day since it was first published", 404, 422)
def day_changes(request: HttpRequest, day: DayPath) -> HttpResponse:
    return schema_response(queries.get_day_changes(day), BRIEFLY)


@route(router, "/proofs/{story_id}.json", proofs.InclusionOut, "Proof that a story is in the log", 404, 422, 503)
def inclusion(
    request: HttpRequest,
    story_id: Annotated[str, Path(max_length=100, description="A chatbotnews_id.", examples=["cbn-0123456789ab"])],
    date: Annotated[Day | None, Query(description="UTC day of the snapshot; default: the story's own.")] = None,
    revision: Annotated[int | None, Query(ge=1, le=1_000_000, description="Revision of that day; default: the latest.")] = None,
) -> HttpResponse:
    return schema_response(queries.prove_inclusion(story_id, date, revision), BRIEFLY)


@route(router, "/log/consistency.json", proofs.ConsistencyOut, "Proof that the log extends an older one", 422, 503)
def consistency(
    request: HttpRequest,
    first: Annotated[int, Query(ge=1, le=2**53, description="Size of the older log, from its checkpoint.")],
    second: Annotated[
        int | None, Query(ge=1, le=2**53, description="Size of the newer log; default: from the newest checkpoint.")
    ] = None,
) -> HttpResponse:
    return schema_response(queries.prove_consistency(first, second), BRIEFLY)


@route(router, "/log/leaves.json", proofs.LogOut, "The log over all snapshots", 422, 503)
def leaves(
    request: HttpRequest,
    start: Annotated[int, Query(ge=0, le=2**53, description="Index of the first leaf.")] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_LEAVES)] = LEAVES,
) -> HttpResponse:
    return schema_response(queries.list_leaves(start, limit), BRIEFLY)


@route(router, "/log/witnessed.json", proofs.WitnessedOut, "Other wires' logs that this one watches")
def witnessed(request: HttpRequest) -> HttpResponse:
    return schema_response(queries.get_witnessed_logs(), BRIEFLY)


@route(router, "/changes.json", proofs.ChangesOut, "What changed, in order", 422)
def changes(
    request: HttpRequest,
    cursor: Annotated[
        str | None, Query(max_length=500, description="`next_cursor` of the previous answer; overrides `since`.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = LIMIT,
    kinds: Annotated[
        str | None, Query(max_length=200, description=f"Only these kinds, separated by commas: {', '.join(ChangeKind.values)}.")
    ] = None,
    wait: Annotated[int, Query(ge=0, le=25, description="Seconds to wait for a change if there is none yet.")] = 0,
    since: Annotated[IsoMoment | None, Query(description=SINCE)] = None,
) -> HttpResponse:
    del wait  # wire.api.streaming answers those who wait
    return schema_response(queries.get_changes(cursor, limit, parse_kinds(kinds), since), BRIEFLY)


@route(router, "/limits.json", LimitsOut, "Your remaining limits")
def limits(request: HttpRequest) -> HttpResponse:
    return schema_response(queries.check_limits(), "no-store")  # wire.api.streaming answers it in front of Django


@route(router, "/corroborate.json", proofs.CorroborationOut, "Who reports what a sentence claims", 422)
def corroborate(
    request: HttpRequest,
    claim: Annotated[str, Query(min_length=1, max_length=MAX_CLAIM, description="A plain sentence: who did what.")],
) -> HttpResponse:
    return schema_response(queries.corroborate(claim), BRIEFLY)


@route(router, "/compare/{event_id}.json", proofs.ComparisonOut, "Reports of one event side by side", 404, 422)
def compare_coverage(request: HttpRequest, event_id: EventIdPath) -> HttpResponse:
    return schema_response(queries.compare_coverage(event_id), BRIEFLY)


@route(router, "/timemap/{day}.json", list[proofs.MementoOut], "Every revision of a day", 404, 422)
def timemap(request: HttpRequest, day: DayPath) -> HttpResponse:
    return dump_json([one.model_dump(mode="json") for one in queries.list_mementos(day)], BRIEFLY)


@route(router, "/ninjs/stories/{story_id}.json", dict[str, Any], "One story as ninjs 3", 404, 422)
def ninjs_story(request: HttpRequest, story_id: Annotated[str, Path(max_length=100)]) -> HttpResponse:
    return dump_json(queries.get_ninjs_story(story_id), BRIEFLY)


@route(router, "/ninjs/events/{event_id}.json", dict[str, Any], "One event as ninjs 3", 404, 422)
def ninjs_event(request: HttpRequest, event_id: Annotated[str, Path(max_length=100)]) -> HttpResponse:
    return dump_json(queries.get_ninjs_event(event_id), BRIEFLY)
