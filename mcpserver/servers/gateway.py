"""Resources of upstream servers as an MCP server: what is fresh from the cache, else asked for, and where each answer came from."""

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Annotated, Any, Final

import mcp_types as types
import orjson
from django.conf import settings
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import Field

from config.errors import WireError
from mcpserver.gateway import auth, queries, runtime
from mcpserver.gateway.auth import ANYBODY, Caller
from mcpserver.gateway.models import Entry
from mcpserver.gateway.plugin import TITLE
from mcpserver.gateway.request import MAX_URI, GatewayRequest, parse_request
from mcpserver.gateway.resolver import LONGEST_WAIT, WAIT, Resolver
from mcpserver.gateway.resource_policy import Policy, Resource, load_policy
from mcpserver.gateway.response import CACHED, GatewayResponse, ReadOut
from mcpserver.http.bearer import bearer
from mcpserver.servers.base import TEXTS, Context, Toolbox, build_server, describe_tool, resource_content, translate_errors
from mcpserver.tooling import arguments
from mcpserver.tooling.arguments import Arguments
from mcpserver.tooling.tools import HOUR_MS, ToolAnswer, error_result, refuse_cursor, render_error
from wire.text.plain_text import plain_line

STREAMS: Final = False  # its lists change with the policy, which is read when the process starts
JSON: Final = "application/json"
UNCACHED: Final = frozenset(("resources/read", "tools/call"))  # of one caller and one moment; the gateway has its own cache
INSTRUCTIONS: Final[str] = TEXTS["gateway"]["instructions"]

Wait = Annotated[
    float,
    Field(ge=0, le=LONGEST_WAIT, description="Max seconds to wait; slower answers are fetched for the next read."),
]


class Read(Arguments):
    uri: Annotated[str, Field(min_length=1, max_length=MAX_URI, description="Such as news://global/trends?limit=5&timeWindow=24h.")]
    wait: Wait = WAIT


class Explain(Arguments):
    request_id: Annotated[str, Field(min_length=1, max_length=64, description="provenance.request_id of an answer.")]


class VectorSearch(Arguments):
    query_embedding: Annotated[
        list[float],
        Field(min_length=1, max_length=4_096, description="The question's embedding, as the collection's model makes it."),
        arguments.LIST,
    ]
    limit: Annotated[int, Field(ge=1, le=100, description="Max documents."), arguments.WHOLE] = 10
    certainty: Annotated[float, Field(ge=0, le=1, description="Least similarity, 0 to 1.")] = 0.7
    collection: Annotated[str, Field(description="trends, content_cache or campaigns.")] = "trends"
    wait: Wait = WAIT


async def gateway_read(args: Read, caller: Caller) -> ToolAnswer:
    return _to_tool_answer(await queries.read_resource(args.uri, caller, args.wait))


async def gateway_resources(_args: Arguments, caller: Caller) -> ToolAnswer:
    return ToolAnswer.from_model(await queries.list_resources(caller))


async def gateway_explain(args: Explain, caller: Caller) -> ToolAnswer:
    return ToolAnswer.from_model(await queries.get_request_log(args.request_id, caller))


async def gateway_vector_search(args: VectorSearch, caller: Caller) -> ToolAnswer:
    return _to_tool_answer(await queries.search_vectors(args.model_dump(exclude={"wait"}), caller, args.wait))


def _to_tool_answer(response: GatewayResponse) -> ToolAnswer:
    text = response.body.decode()  # the same JSON, with the note first
    return ToolAnswer(orjson.loads(text), text, is_error=response.is_error)


_BOX: Final = Toolbox(
    describe_tool("gateway", "gateway_read", Read, ReadOut, gateway_read),
    describe_tool("gateway", "gateway_resources", Arguments, queries.ResourcesOut, gateway_resources),
    describe_tool("gateway", "gateway_explain", Explain, queries.ExplainOut, gateway_explain),
    describe_tool("gateway", "gateway_vector_search", VectorSearch, ReadOut, gateway_vector_search),
)
TOOLS: Final = _BOX.tools


async def call_tool(_context: Context, params: types.CallToolRequestParams) -> Any:
    spec = _BOX.find(params.name)
    try:
        args = arguments.parse_arguments(spec.arguments, params.arguments)
        answer: ToolAnswer = await spec.run(args, await queries.find_caller(bearer.get()))
    except WireError as error:  # the model may mend it
        return error_result(render_error(error))
    return answer.as_result()


async def list_resources(_context: Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    refuse_cursor(params)
    listed = (one for one in _get_policy().resources.values() if not (one.holes or one.tool_only))
    own = [types.Resource(uri=one.uri, **_to_entry(one)) for one in listed]
    passed, lifetime = await _list_upstream_resources("resources")
    found = [types.Resource(uri=uri, name=name, mime_type=JSON) for uri, name in passed]
    return types.ListResourcesResult(resources=[*own, *found], **lifetime)


async def list_templates(_context: Context, params: types.PaginatedRequestParams | None) -> types.ListResourceTemplatesResult:
    refuse_cursor(params)
    own = [types.ResourceTemplate(uri_template=one.uri, **_to_entry(one)) for one in _get_policy().resources.values() if one.holes]
    passed, lifetime = await _list_upstream_resources("templates")
    found = [types.ResourceTemplate(uri_template=uri, name=name, mime_type=JSON) for uri, name in passed]
    return types.ListResourceTemplatesResult(resource_templates=[*own, *found], **lifetime)


async def _list_upstream_resources(part: str) -> tuple[list[tuple[str, str]], dict[str, Any]]:
    """Return address and name of what upstreams list that this caller may read, and for how long the list may be used."""
    listings = [one for one in _get_policy().resources.values() if one.answers == "listing"]
    caller = await queries.find_caller(bearer.get()) if listings else ANYBODY
    found, ttl = [], HOUR_MS
    for one in (one for one in listings if caller.may_read(one.uri)):
        response = await queries.read_resource(one.uri, caller, 5.0)  # seconds that a list waits for each upstream
        found += [(one.uri + row["uri"], plain_line(row["name"], 100)) for row in orjson.loads(response.data_json)[part]]
        ttl = min(ttl, int(response.ttl * 1000))
    return found, {"ttl_ms": ttl, "cache_scope": "public" if caller == ANYBODY else "private"}


def _to_entry(resource: Resource) -> dict[str, Any]:
    return {"name": resource.name, "title": resource.title, "description": resource.description, "mime_type": JSON}


async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    with translate_errors(context, uri, is_brief=False):
        caller = await queries.find_caller(bearer.get())
        response = await queries.read_resource(uri, caller)
    if response.is_error:
        raise MCPError(types.INTERNAL_ERROR, response.note, {"provenance": response.provenance})
    _cache_fast_read(uri, caller, response)
    return resource_content(uri, JSON, response.body.decode(), int(response.ttl * 1000), is_private=response.private)


# A read that was answered from an entry, its response, and the data as they stand within a JSON text.
FastRead = tuple[GatewayRequest, Entry, GatewayResponse, bytes]
_pieces: Final[dict[tuple[str, str], FastRead]] = {}  # by agent and address


def find_fast_path(method: str, params: Any, version: str) -> Callable[[], bytes] | None:
    """Return a function that makes the result of a read whose answer is fresh in memory, as the SDK would; else None."""
    resolver = runtime.get_ready_resolver()
    if method != "resources/read" or resolver is None:
        return None
    uri = params.get("uri")
    caller = auth.get_cached_caller(bearer.get())
    known = _pieces.get((caller.name, uri)) if isinstance(uri, str) and caller is not None else None
    if known is None or known[0].caller != caller:
        return None
    request, entry = known[:2]
    is_current = resolver.policy.resources.get(request.resource.name) is request.resource  # else the desk changed its numbers
    if not is_current or resolver.get_fresh_entry_in_memory(request) is not entry:
        return None
    return partial(_render_fast, resolver, uri, known, version)


def _render_fast(resolver: Resolver, uri: str, known: FastRead, version: str) -> bytes:
    request, entry, before, data_text = known
    response = resolver.repeat_cached_response(request, entry, before)
    text = _escape_json(response.head) + data_text + _escape_json(response.tail)
    result = b'{"contents":[{"uri":' + orjson.dumps(uri) + b',"mimeType":"application/json","text":"' + text + b'"}]'
    if version in MODERN_PROTOCOL_VERSIONS:
        scope = b"private" if response.private else b"public"
        result += b',"resultType":"complete","ttlMs":%d,"cacheScope":"%s"' % (int(response.ttl * 1000), scope)
        result += b',"_meta":' + _stamp
    return result + b"}"


def _cache_fast_read(uri: str, caller: Caller, response: GatewayResponse) -> None:
    resolver = runtime.get_ready_resolver()
    if response.outcome != CACHED or resolver is None:
        return
    request = parse_request(resolver.policy, uri, caller)
    entry = resolver.get_fresh_entry_in_memory(request)
    if entry is not None:
        if len(_pieces) >= 500:
            _pieces.clear()
        _pieces[caller.name, uri] = request, entry, response, _escape_json(response.data_json)


def _escape_json(json: bytes) -> bytes:
    return orjson.dumps(json.decode())[1:-1]


def usage_name(method: str, given: str) -> str:
    return _BOX.usage_name(method, given) if method == "tools/call" else _find_resource_uri(given)


@lru_cache(maxsize=2_000)
def _find_resource_uri(uri: str) -> str:
    try:
        return parse_request(_get_policy(), uri).resource.uri
    except WireError:
        return ""


def _get_policy() -> Policy:
    # The desk's numbers change no address, so before the first question the file is enough.
    resolver = runtime.get_ready_resolver()
    return resolver.policy if resolver is not None else load_policy(settings.WIRE_GATEWAY_POLICY)


start: Final = runtime.watch_sighup
close: Final = runtime.close_resolver
_stamp = b"{}"  # `_meta` of the results of 2026-07-28, which the SDK stamps with the server's name


def build() -> Server[Any]:
    """Return the server, without any transport. Stateless: one instance answers every client."""
    global _stamp
    server = build_server(
        "chatbotnews-gateway",
        _BOX,
        call_tool,
        HOUR_MS,
        title=TITLE,
        description="Resources of upstream servers, each with rate limit, cache, fallback and the provenance of each answer.",
        instructions=INSTRUCTIONS,
        website_url=settings.WIRE_SITE_URL,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )
    _stamp = orjson.dumps({types.SERVER_INFO_META_KEY: server.server_info_stamp})
    return server
