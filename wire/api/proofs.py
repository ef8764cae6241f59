"""REST of proofs and checks: parse, call one query, render."""

from typing import Annotated, Any

from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router

from config.http.responses import BRIEFLY, answer, errors, json_answer
from wire import queries
from wire.queries.changes import LIMIT, MOST, parse_kinds
from wire.queries.corroboration import MAX_CLAIM
from wire.queries.proofs import LEAVES, MOST_LEAVES
from wire.schemas import proofs
from wire.schemas.params import IsoDate
from wire.text.vocabulary import ChangeKind

router = Router(by_alias=True)

LONGEST_TEXT = 8_000  # characters of a text in an address, whose whole length servers bound; the MCP tool takes 20,000


@router.get("/verify-citation.json", response={200: proofs.VerifiedOut, **errors(422)}, summary="Are these citations true?")
def verify_citation(
    request: HttpRequest,
    text: Annotated[str, Query(min_length=1, max_length=LONGEST_TEXT, description="Any text: every citation in it is checked.")],
) -> HttpResponse:
    return answer(queries.verify_citation(text), BRIEFLY)


@router.get(
    "/proofs/{story_id}.json",
    response={200: proofs.InclusionOut, **errors(404, 422, 503)},
    summary="Proof that a story is in the log",
)
def inclusion(
    request: HttpRequest,
    story_id: Annotated[str, Path(max_length=100, description="A chatbotnews_id.", examples=["cbn-0123456789ab"])],
    date: Annotated[IsoDate | None, Query(description="The story's UTC day; default: its own.")] = None,
    revision: Annotated[int | None, Query(ge=1, le=1_000_000, description="Of the day; default: the latest.")] = None,
) -> HttpResponse:
    return answer(queries.get_inclusion(story_id, date, revision), BRIEFLY)


@router.get(
    "/log/consistency.json",
    response={200: proofs.ConsistencyOut, **errors(422, 503)},
    summary="Proof that a log begins with an older one",
)
def consistency(
    request: HttpRequest,
    first: Annotated[int, Query(ge=1, le=2**53, description="Size of the older one, as its checkpoint says.")],
    second: Annotated[int | None, Query(ge=1, le=2**53, description="Default: of the newest checkpoint.")] = None,
) -> HttpResponse:
    return answer(queries.get_consistency(first, second), BRIEFLY)


@router.get("/log/leaves.json", response={200: proofs.LogOut, **errors(422, 503)}, summary="The log over all snapshots")
def leaves(
    request: HttpRequest,
    start: Annotated[int, Query(ge=0, le=2**53, description="Index of the first leaf.")] = 0,
    limit: Annotated[int, Query(ge=1, le=MOST_LEAVES)] = LEAVES,
) -> HttpResponse:
    return answer(queries.get_log(start, limit), BRIEFLY)


@router.get(
    "/log/witnessed.json", response={200: proofs.WitnessedOut, **errors()}, summary="Other wires' logs that this one watches"
)
def witnessed(request: HttpRequest) -> HttpResponse:
    return answer(queries.get_witnessed(), BRIEFLY)


@router.get("/changes.json", response={200: proofs.ChangesOut, **errors(422)}, summary="What changed, in order")
def changes(
    request: HttpRequest,
    cursor: Annotated[
        str | None, Query(max_length=500, description="`next_cursor` of the answer before; none: from the start.")
    ] = None,
    limit: Annotated[int, Query(ge=1, le=MOST)] = LIMIT,
    kinds: Annotated[
        str | None, Query(max_length=200, description=f"Only these, by commas: {', '.join(ChangeKind.values)}.")
    ] = None,
    wait: Annotated[int, Query(ge=0, le=25, description="Seconds to wait for a change where there is none.")] = 0,
) -> HttpResponse:
    del wait  # wire.api.streaming answers those who wait
    return answer(queries.get_changes(cursor, limit, parse_kinds(kinds)), BRIEFLY)


@router.get(
    "/corroborate.json", response={200: proofs.CorroborationOut, **errors(422)}, summary="Who reports what a sentence claims"
)
def corroborate(
    request: HttpRequest,
    claim: Annotated[str, Query(min_length=1, max_length=MAX_CLAIM, description="A plain sentence: who did what.")],
) -> HttpResponse:
    return answer(queries.corroborate(claim), BRIEFLY)


@router.get("/compare/{event_id}.json", response={200: proofs.ComparisonOut, **errors(404, 422)}, summary="One event side by side")
def compare_coverage(
    request: HttpRequest, event_id: Annotated[str, Path(max_length=100, description="An event_id, or the id of any story of it.")]
) -> HttpResponse:
    return answer(queries.compare_coverage(event_id), BRIEFLY)


@router.get("/timemap/{day}.json", response={200: list[proofs.MementoOut], **errors(404, 422)}, summary="Every revision of a day")
def timemap(request: HttpRequest, day: Annotated[IsoDate, Path(description="A UTC day.")]) -> HttpResponse:
    return json_answer([one.model_dump(mode="json") for one in queries.list_mementos(day)], BRIEFLY)


@router.get("/ninjs/stories/{story_id}.json", response={200: dict[str, Any], **errors(404, 422)}, summary="One story as ninjs 3")
def ninjs_story(request: HttpRequest, story_id: Annotated[str, Path(max_length=100)]) -> HttpResponse:
    return json_answer(queries.get_ninjs_story(story_id), BRIEFLY)


@router.get("/ninjs/events/{event_id}.json", response={200: dict[str, Any], **errors(404, 422)}, summary="One event as ninjs 3")
def ninjs_event(request: HttpRequest, event_id: Annotated[str, Path(max_length=100)]) -> HttpResponse:
    return json_answer(queries.get_ninjs_event(event_id), BRIEFLY)
