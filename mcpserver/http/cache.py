"""The result of one request: from the cache, or made by the SDK's `serve_one` in process."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import anyio
import mcp_types as types
import orjson
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_one
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.transport_context import TransportContext
from mcp_types.methods import CLIENT_REQUESTS, validate_client_request

from config.http import memory_cache
from mcpserver.http.bearer import bearer
from mcpserver.tooling.tools import PAYMENT
from mcpserver.tooling.usage import CountedCall

CACHED: Final = {
    *("tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read"),
    *("prompts/list", "prompts/get", "server/discover"),
}
"""Methods whose results depend on nothing but the wire and the question."""
TIMELESS: Final = frozenset(("resources/templates/list", "prompts/list", "server/discover"))
"""Methods whose results depend not even on the wire."""
UNCACHED_TOOLS: Final = ("get_changes", "check_limits")  # a log that grows when changes are told; limits of one client
OVERHEAD: Final = 500  # bytes of a cached entry beside its text and its key

Key = tuple[Any, ...]


class Caller(NamedTuple):
    """The client's account of itself: protocol revision, info, capabilities."""

    version: str
    info: Any = None
    capabilities: Any = None


class Result(NamedTuple):
    json: bytes
    worked: bool  # whether it is none that reports an error


class Repeat(NamedTuple):
    """A request that succeeded: the key of its result, and what it counts as."""

    key: Key
    method: str
    asked: CountedCall | None


@dataclass(slots=True)
class Exchange:
    """The SDK's dispatch context for one request: nothing can be sent back but its answer."""

    request_id: types.RequestId
    transport: TransportContext
    message_metadata: None = None
    can_send_request: bool = False
    cancel_requested: anyio.Event = field(default_factory=anyio.Event)

    async def send_raw_request(self, method: str, _params: Mapping[str, Any] | None, _opts: Any = None) -> dict[str, Any]:
        raise NoBackChannelError(method)

    async def notify(self, _method: str, _params: Mapping[str, Any] | None, _opts: Any = None) -> None:
        return

    async def progress(self, _progress: float, _total: float | None = None, _message: str | None = None) -> None:
        return


def build_result_key(server: str, version: str, method: str, params: Any) -> Key | None:
    """Return the key of a result, the question without `_meta`; None for what is not cached, such as what somebody paid for."""
    meta = params.get("_meta") if params else None
    is_paid = isinstance(meta, dict) and PAYMENT in meta
    if method not in CACHED or bearer.get() is not None or is_paid or (params and params.get("name") in UNCACHED_TOOLS):
        return None
    question = {name: value for name, value in params.items() if name != "_meta"} if params else {}
    try:
        return "mcp", server, version, method, orjson.dumps(question, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # nested too deeply, as no question of ours is
        return None


async def get_result(
    name: str, server: Server[Any], caller: Caller, method: str, params: Any, headers: Mapping[str, str], *, cacheable: bool = True
) -> tuple[Result, Key | None]:
    """Return the result, and its key in the cache if it succeeded. Raises: Unavailable, whatever the SDK answers with an error."""
    key = build_result_key(name, caller.version, method, params) if cacheable else None

    async def make() -> tuple[Result, int | None]:
        connection = Connection.from_envelope(*caller)
        transport = TransportContext(kind="streamable-http", can_send_request=False, headers=headers)
        found = await serve_one(server, Exchange(0, transport), method, params, connection=connection, lifespan_state={})
        result = Result(orjson.dumps(found), not found.get("isError"))
        structured = found.get("structuredContent")
        # An answer of which a part failed is not cached: the next who asks may get a better one.
        is_degraded = isinstance(structured, dict) and structured.get("degraded")
        is_cached = result.worked and key and not is_degraded
        return result, len(result.json) + 2 * len(key[-1]) + OVERHEAD if is_cached and key else None

    if key is None:
        return (await make())[0], None
    validate_request(server, caller.version, method, params)
    if (cached := memory_cache.answers.get(key)) is not None:
        return _mark_if_stale(method, cached), key
    made: Result = await memory_cache.answers.make(key, make)
    return made, key if made.worked else None


def find_cached_repeat(key: Key) -> tuple[Repeat, bytes] | None:
    """Return the cached result of a request that is the same as one that succeeded: every check would come to the same."""
    repeat: Repeat | None = memory_cache.answers.get(key)
    cached: Result | None = memory_cache.answers.get(repeat.key) if repeat is not None else None
    return (repeat, _mark_if_stale(repeat.method, cached).json) if repeat is not None and cached is not None else None


def cache_repeat(key: Key, result: Key, method: str, asked: CountedCall | None) -> None:
    headers = sum(len(name) + len(value) + 200 for name, value in key[2])
    memory_cache.answers.put(key, Repeat(result, method, asked), len(key[-1]) + len(result[-1]) + headers + OVERHEAD)


def validate_request(server: Server[Any], version: str, method: str, params: Any) -> None:
    """Check what the SDK checks of the first client: a bad `_meta`, in no result's key, is refused. Raises: ValidationError."""
    if (method, version) in CLIENT_REQUESTS:
        validate_client_request(method, version, params)
    entry = server.get_request_handler(method)
    if entry is not None:
        entry.params_type.model_validate(params or {}, by_name=False)


def _mark_if_stale(method: str, cached: Result) -> Result:
    """Return the result; one that was made before the database went away says so."""
    if not memory_cache.answers.is_stale or method in TIMELESS:
        return cached
    found = orjson.loads(cached.json)
    return Result(orjson.dumps(found | {"_meta": {**found.get("_meta", {}), "is_stale": True}}), cached.worked)
