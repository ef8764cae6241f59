"""REST of the gateway: parse, ask one query, render. The MCP server asks the same. Views are asynchronous: who waits for an
upstream holds up nobody else.
"""

from typing import Annotated, Any, Final

from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router, Schema

from config.errors import Unauthorized
from config.http.responses import JSON, errors
from config.tokens import bearer_of
from sources.gateway import queries
from sources.gateway.asked import MAX_URI
from sources.gateway.gateway import LONGEST_WAIT, WAIT
from sources.gateway.outcome import EXHAUSTED, Answer, ReadOut

router = Router(by_alias=True)

REFUSALS: Final = {
    400: "`unknown_parameter`: the address does not take a parameter; the hint names those that it takes.",
    401: "`unauthorized`: the resource needs a key, or the key is unknown. Send it as `Authorization: Bearer …`.",
    403: "`forbidden`: the key was not granted this resource.",
    404: "`not_found`: there is no such resource, or no such request of this caller's.",
    422: "`invalid_argument`: a parameter of the resource is missing or out of its bounds; the message names it.",
    502: "The resource must not be answered with nothing, and nobody answered: the body has `provenance`.",
    503: "With `strict=true`: nobody answered and nothing is stored; the body has `provenance`.",
}


def _answers(schema: type[Schema], *refusals: int) -> dict[str, Any]:
    described = {status: {"description": REFUSALS[status]} for status in (400, *refusals)}
    return {"response": {200: schema, **errors(*refusals)}, "openapi_extra": {"responses": described}}


def _token(request: HttpRequest) -> str | None:
    sent = request.headers.get("authorization")
    return None if sent is None else bearer_of({b"authorization": sent.encode("latin-1", errors="replace")})


@router.get("/read.json", **_answers(ReadOut, 401, 403, 404, 422, 502, 503), summary="Read a resource of an upstream")
async def read(
    request: HttpRequest,
    uri: Annotated[str, Query(min_length=1, max_length=MAX_URI, description="Its address, such as news://global/trends?limit=5.")],
    wait: Annotated[float, Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait for upstreams, at most.")] = WAIT,
    strict: Annotated[bool, Query(description="503 instead of an empty answer when nobody answered.")] = False,
) -> HttpResponse:
    caller = await queries.caller_of(_token(request))
    return _rendered(await queries.read(uri, caller, wait), strict=strict)


@router.get("/resources.json", **_answers(queries.ResourcesOut, 401), summary="Every resource: limits left, circuit, age")
async def resources(request: HttpRequest) -> HttpResponse:
    return _private(await queries.resources(await queries.caller_of(_token(request))))


@router.get("/requests/{request_id}.json", **_answers(queries.ExplainOut, 401, 404, 422), summary="How a request was answered")
async def explain(
    request: HttpRequest, request_id: Annotated[str, Path(max_length=64, description="An answer's provenance.request_id.")]
) -> HttpResponse:
    return _private(await queries.explain(request_id, await queries.caller_of(_token(request))))


@router.get("/status.json", **_answers(queries.StatusOut, 401), summary="How upstreams and heartbeats stand (with a key)")
async def status(request: HttpRequest) -> HttpResponse:
    caller = await queries.caller_of(_token(request))
    if caller.is_anonymous:
        raise Unauthorized("The status of upstreams is told to agents only.", "Send a key as `Authorization: Bearer …`.")
    return _private(await queries.status())


def _rendered(answer: Answer, *, strict: bool) -> HttpResponse:
    """Never kept by anybody in between: an answer is of this caller and this moment."""
    status = 502 if answer.is_error else 503 if strict and answer.outcome == EXHAUSTED else 200
    response = HttpResponse(answer.body, status=status, content_type=JSON, headers={"Cache-Control": "private, no-store"})
    if status != 200:
        response["Retry-After"] = str(max(1, round(answer.retry_after or 30)))
    return response


def _private(found: Schema) -> HttpResponse:
    return HttpResponse(found.model_dump_json(), content_type=JSON, headers={"Cache-Control": "private, no-store"})
