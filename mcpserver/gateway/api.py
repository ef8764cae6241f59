"""REST of the gateway: parse, ask one query, render. Views are asynchronous: a wait for an upstream holds up nobody else."""

from functools import partial
from typing import Annotated, Final

from django.http import HttpRequest, HttpResponse
from ninja import Path, Query, Router, Schema

from config.errors import Unauthorized
from config.http.responses import JSON
from config.tokens import parse_bearer_token
from mcpserver.gateway import queries
from mcpserver.gateway.auth import Caller
from mcpserver.gateway.request import MAX_URI
from mcpserver.gateway.resolver import LONGEST_WAIT, WAIT
from mcpserver.gateway.response import EXHAUSTED, ReadOut
from wire.corpora.common.rest import UNKNOWN_PARAMETER, build_route_options

router = Router(by_alias=True)

# An answer is of one caller and one moment.
PRIVATE: Final = {"Cache-Control": "private, no-store"}
REFUSALS: Final = {
    400: UNKNOWN_PARAMETER,
    401: "`unauthorized`: the resource needs a key, or the key is unknown. Send it as `Authorization: Bearer …`.",
    403: "`forbidden`: the key was not granted this resource.",
    404: "`not_found`: there is no such resource, or this caller made no such request.",
    422: "`invalid_argument`: a parameter of the resource is missing or out of its bounds; the message names it.",
    502: "The resource never gives an empty answer, and no upstream answered: the body has `provenance`.",
    503: "With `strict=true`: nobody answered and nothing is stored; the body has `provenance`.",
}


_describe = partial(build_route_options, refusals=REFUSALS)


async def _find_caller(request: HttpRequest) -> Caller:
    return await queries.find_caller(parse_bearer_token(request.headers.get("authorization")))


@router.get("/read.json", **_describe(ReadOut, 401, 403, 404, 422, 502, 503), summary="Read a resource of an upstream")
async def read(
    request: HttpRequest,
    uri: Annotated[str, Query(min_length=1, max_length=MAX_URI, description="Its address, such as news://global/trends?limit=5.")],
    wait: Annotated[float, Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait for upstreams, at most.")] = WAIT,
    strict: Annotated[bool, Query(description="503 instead of an empty answer when no upstream answered.")] = False,
) -> HttpResponse:
    response = await queries.read_resource(uri, await _find_caller(request), wait)
    status = 502 if response.is_error else 503 if strict and response.outcome == EXHAUSTED else 200
    answer = HttpResponse(response.body, status=status, content_type=JSON, headers=PRIVATE)
    if status != 200:
        answer["Retry-After"] = str(max(1, round(response.retry_after or 30)))
    return answer


@router.get("/resources.json", **_describe(queries.ResourcesOut, 401), summary="Every resource: limits left, circuit, age")
async def resources(request: HttpRequest) -> HttpResponse:
    return _render_json(await queries.list_resources(await _find_caller(request)))


@router.get("/requests/{request_id}.json", **_describe(queries.ExplainOut, 401, 404, 422), summary="How a request was answered")
async def explain(
    request: HttpRequest, request_id: Annotated[str, Path(max_length=64, description="An answer's provenance.request_id.")]
) -> HttpResponse:
    return _render_json(await queries.get_request_log(request_id, await _find_caller(request)))


@router.get("/status.json", **_describe(queries.StatusOut, 401), summary="State of upstreams and heartbeats (with a key)")
async def status(request: HttpRequest) -> HttpResponse:
    if (await _find_caller(request)).is_anonymous:
        raise Unauthorized("Only agents may read the status of upstreams.", "Send a key as `Authorization: Bearer …`.")
    return _render_json(await queries.get_status())


def _render_json(found: Schema) -> HttpResponse:
    return HttpResponse(found.model_dump_json(), content_type=JSON, headers=PRIVATE)
