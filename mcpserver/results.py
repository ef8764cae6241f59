"""The result of one request: made by the SDK's `serve_one`, in process, or kept from an earlier one that asked the same."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import anyio
import mcp_types as types
import orjson
from mcp.server.connection import Connection
from mcp.server.lowlevel import Server
from mcp.server.runner import serve_one
from mcp.shared.exceptions import NoBackChannelError
from mcp.shared.transport_context import TransportContext
from mcp_types.methods import CLIENT_REQUESTS, validate_client_request

from config import kept
from mcpserver import usage
from mcpserver.recognition import TIMELESS, Shape, key_of

OVERHEAD: Final = 500  # bytes of a kept result beside its text and its key

Spoken = tuple[str, Any, Any]
"""Protocol revision, and what the client says of itself: its info and its capabilities."""


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


async def result_of(
    server: Server[Any], spoken: Spoken, method: str, params: Any, headers: Mapping[str, str]
) -> tuple[bytes, bool]:
    """The result as JSON, and whether it is none that tells of an error. Kept, unless it depends on who asks.

    Raises: MCPError and whatever else the SDK answers with a JSON-RPC error; Unavailable.
    """
    key = key_of(spoken[0], method, params)

    async def make() -> tuple[tuple[bytes, bool], int | None]:
        connection = Connection.from_envelope(*spoken)
        transport = TransportContext(kind="streamable-http", can_send_request=False, headers=headers)
        result = await serve_one(server, Exchange(0, transport), method, params, connection=connection, lifespan_state={})
        told, worked = orjson.dumps(result), not result.get("isError")
        return (told, worked), len(told) + 2 * len(key[-1]) + OVERHEAD if worked and key else None

    if key is None:
        return (await make())[0]
    _check(server, spoken[0], method, params)
    found: tuple[bytes, bool] | None = kept.answers.find(key)
    if found is None:
        made: tuple[bytes, bool] = await kept.answers.make(key, make)
        return made
    return (_as_stale(method, found[0]), found[1]) if kept.answers.is_stale else found


def answered_before(shape: Shape | None, request_id: bytes) -> bytes | None:
    """The answer to a request that was recognised by its bytes, if it is still kept."""
    again = kept.answers.find(shape) if shape else None
    if again is None or (answer := kept.answers.find(again.key)) is None:
        return None
    usage.count(again.method, again.named, worked=True)
    return answered(request_id, _as_stale(again.method, answer[0]) if kept.answers.is_stale else answer[0])


def answered(request_id: bytes, result: bytes) -> bytes:
    """The JSON-RPC response; id and result are JSON already."""
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (request_id, result)


def _check(server: Server[Any], version: str, method: str, params: Any) -> None:
    """What the SDK checks of whoever asks first: `_meta` is in no key, and a bad one must be refused to its sender, and to nobody
    else who asks the same meanwhile. Raises: pydantic.ValidationError.
    """
    if (method, version) in CLIENT_REQUESTS:
        validate_client_request(method, version, params)
    entry = server.get_request_handler(method)
    if entry is not None:
        entry.params_type.model_validate(params or {}, by_name=False)


def _as_stale(method: str, result: bytes) -> bytes:
    """A result that was kept before the database went away, saying so."""
    if method in TIMELESS:
        return result
    found = orjson.loads(result)
    return orjson.dumps(found | {"_meta": {**found.get("_meta", {}), "is_stale": True}})
