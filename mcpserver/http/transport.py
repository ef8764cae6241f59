"""Streamable HTTP: one request in, one JSON answer out, for every protocol revision from the same server.

Results come from `cache.py`; only a stream (`subscriptions/listen`) goes through the SDK's own application.
A server may give sessions (`sessions.py`); none needs one. Rules: MCP 2025-03-26 … 2026-07-28, "Streamable HTTP".
"""

import itertools
import logging
from collections.abc import Awaitable, Callable, Hashable, Mapping, Sequence, Set
from functools import partial
from typing import Any, Final

import mcp_types as types
import orjson
from django.db import DatabaseError
from mcp.server.lowlevel import Server
from mcp.server.runner import modern_error_data
from mcp.server.streamable_http import check_accept_headers
from mcp.server.subscriptions import InMemorySubscriptionBus, ListenHandler, ResourcesListChanged, ToolsListChanged
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared import inbound
from mcp.shared.exceptions import MCPError
from mcp.shared.inbound import ERROR_CODE_HTTP_STATUS, InboundLadderRejection
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS, LATEST_HANDSHAKE_VERSION, MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError
from starlette.requests import Request

from config.errors import Unavailable, WireError
from config.http import error_counts
from config.http.connection_slots import Places
from config.http.request_guard import JSONRPC_REFUSED, Message, Receive, Refusal, Scope, Send, replay_body
from config.tokens import get_bearer_token
from mcpserver.cards.negotiation import wants_cards
from mcpserver.http.bearer import bearer
from mcpserver.http.cache import Caller, Key, cache_repeat, find_cached_repeat, get_result, validate_request
from mcpserver.http.sessions import HEADER as SESSION_HEADER
from mcpserver.http.sessions import Sessions
from mcpserver.http.stream import ALLOW, Streams, serve_sdk_stream
from mcpserver.http.threads import run_query, run_write
from mcpserver.tooling import usage
from mcpserver.tooling.json_schema import spell_nullable_types
from wire.text.plain_text import plain_text

logger = logging.getLogger(__name__)

UNNAMED_VERSION: Final = "2025-03-26"  # what a request without MCP-Protocol-Version speaks, by that revision's rule
DEEPEST: Final = 100  # levels of lists and objects; no question needs ten
BARE: Final = {"uri"}
TYPE_LISTS: Final = b"schemas=types"  # the query that lists optional values for clients without `anyOf` (docs/clients.md)
MAX_ECHO: Final = 200  # characters of a name that a client gave and that nothing has
MOST_NAMED: Final = 3  # invalid parameters that one error names
MAX_REASONS: Final = 500  # characters of what is wrong with them
MAX_LISTENING: Final = 100  # subscriptions/listen streams of one process at a time
SESSION_UNKNOWN: Final = -32001  # what the SDKs' servers answer with the 404 of a session that is not there
VERSIONS: Final = (*HANDSHAKE_PROTOCOL_VERSIONS, *MODERN_PROTOCOL_VERSIONS)
MODERN_KEY: Final = types.PROTOCOL_VERSION_META_KEY
UNREADABLE: Final = object()
_DECIDING: Final = frozenset((b"accept", b"content-type"))
"""Headers that decide how a request is answered, beside those that begin with mcp-."""


class McpEndpoint:
    """The ASGI application of one MCP server whose lists never change, so that it has no streams.

    `name` stands in its cache keys. Several servers may be counted under one name, `counted_as`; `hook` counts for those whom
    such a server serves.
    """

    # What a server's module may offer, as `mcpserver.servers` explains.
    sessions: Sessions | None = None
    admit: Callable[[str | None], Awaitable[None]] | None = None
    uncached: Set[str] = frozenset()
    find_fast_path: Callable[[str, Any, str], Callable[[], bytes] | None] | None = None
    start: Callable[[], None] | None = None
    close: Callable[[], Awaitable[None]] | None = None
    # Answers clients of MCP Apps what differs for them (`mcpserver.cards`), where a server has pages to show.
    with_cards: "McpEndpoint | None" = None

    def __init__(
        self, name: str, server: Server[Any], usage_name: usage.Naming, counted_as: str = "", hook: usage.UsageHook | None = None
    ) -> None:
        self.name = name
        self.server = server
        self.usage_name = usage_name
        self._counted_as = counted_as or name
        self._usage_hook = hook
        # By tool: whether headers repeat arguments of it. Looking through its schema takes longer than answering.
        self._repeating: dict[str, bool] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        pairs = scope["headers"]
        fields = dict(pairs)
        if b"origin" in fields:
            send = _add_cors_headers(fields[b"origin"], send)
        method = scope["method"]
        if self.admit is not None and method != "OPTIONS":
            try:
                await self.admit(get_bearer_token(fields))
            except WireError as error:
                await Refusal.from_error(error).send(send, jsonrpc=True)
                return
        if method == "POST":
            await self._handle_post(scope, fields, receive, send)
        elif method == "OPTIONS":
            await _respond(send, 204, b"")
        elif method == "GET":
            await self._serve_get_stream(scope, receive, send)
        elif method == "DELETE" and self.sessions is not None:
            await self._end_session(self.sessions, fields, send)
        else:
            await _respond(send, 405, b"", [ALLOW])

    async def _end_session(self, sessions: Sessions, fields: Mapping[bytes, bytes], send: Send) -> None:
        session = fields.get(SESSION_HEADER)
        if session is None:
            await _respond(send, *_build_error(None, types.INVALID_REQUEST, "Name the session to end in Mcp-Session-Id."))
            return
        try:
            ended = await run_write(partial(sessions.end_session, session.decode("latin-1")))
        except DatabaseError:
            await _respond(
                send, *_build_error(None, JSONRPC_REFUSED, "The session cannot be ended at the moment. Try again.", status=503)
            )
            return
        await _respond(send, *((204, b"") if ended else _NO_SESSION))

    async def _has_live_session(self, fields: Mapping[bytes, bytes]) -> bool:
        """Return whether a request's session lives, if it names one; while nobody can look, its signature and age decide."""
        version, session = (fields.get(name, b"").decode("latin-1") for name in (b"mcp-protocol-version", SESSION_HEADER))
        if self.sessions is None or SESSION_HEADER not in fields or version in MODERN_PROTOCOL_VERSIONS:
            return True
        try:
            return await run_query(self.sessions.is_alive, session)
        except Unavailable:
            return self.sessions.count_seconds_left(session) > 0

    async def _serve_get_stream(self, _scope: Scope, _receive: Receive, send: Send) -> None:
        await _respond(send, 405, b"", [ALLOW])

    async def _serve_listen(self, _message: Any, _headers: dict[str, str], _scope: Scope, _receive: Receive, _send: Send) -> bool:
        """Return whether this is a request for a stream; then it was served."""
        return False

    async def _handle_post(self, scope: Scope, fields: Mapping[bytes, bytes], receive: Receive, send: Send) -> None:
        body = (await receive()).get("body", b"")
        try:
            message = _parse_message(body)
        except ValueError:
            message = UNREADABLE
        if self.with_cards is not None and wants_cards(message, fields):
            await self.with_cards._handle_post(scope, fields, replay_body(body, receive), send)
            return
        bearer.set(get_bearer_token(fields) if b"authorization" in fields else None)
        begins = self.sessions is not None and type(message) is dict and message.get("method") == "initialize"
        if self.sessions is not None and not begins and not await self._has_live_session(fields):
            await _respond(send, *_NO_SESSION)
            return
        is_listed_by_type = scope["query_string"] == TYPE_LISTS
        repeat = self._build_repeat_key(fields, message) if not is_listed_by_type and len(fields) == len(scope["headers"]) else None
        if repeat is not None and (found := find_cached_repeat(repeat)) is not None:
            (_, _, asked), result = found
            self._count_call(asked, worked=True)
            await _respond(send, 200, build_response(message["id"], result))
            return
        headers = dict(_decode_headers(scope["headers"]))
        reply = _refuse_content_type(headers)
        if reply is None and message is UNREADABLE:
            reply = _build_error(None, types.PARSE_ERROR, f"Parse error: the body is not JSON, or has over {DEEPEST} levels.")
        if reply is None and await self._serve_listen(message, headers, scope, replay_body(body, receive), send):
            return
        status, answer = reply or await self._answer_message(message, headers, scope, repeat)
        if is_listed_by_type and "tools" in (found := orjson.loads(answer or b"{}")).get("result", {}):
            answer = orjson.dumps(spell_nullable_types(found))
        begun = [(SESSION_HEADER, self.sessions.make_id().encode())] if begins and self.sessions and b'"result":' in answer else []
        await _respond(send, status, answer, begun)

    def _build_repeat_key(self, fields: Mapping[bytes, bytes], message: Any) -> Key | None:
        """Return the key of all that decides how a request is answered; None for one without a plain id, or that bears a key."""
        if bearer.get() is not None or type(message) is not dict or type(message.get("id")) not in (int, str):
            return None
        headers = tuple([pair for pair in fields.items() if pair[0] in _DECIDING or pair[0][:4] == b"mcp-"])
        try:
            return "repeat", self.name, headers, orjson.dumps({name: value for name, value in message.items() if name != "id"})
        except TypeError:
            return None

    async def _answer_message(self, message: Any, headers: dict[str, str], scope: Scope, repeat: Key | None) -> tuple[int, bytes]:
        """HTTP status and body for one JSON-RPC message, which is known by `repeat` if it comes again."""
        if not isinstance(message, dict) or message.get("jsonrpc") != "2.0":
            text = "The body must be a single JSON-RPC 2.0 request or notification; batches are not served."
            return _build_error(None, types.INVALID_REQUEST, text)
        request_id = message.get("id")
        if "id" in message and (isinstance(request_id, bool) or not isinstance(request_id, int | str)):
            return _build_error(None, types.INVALID_REQUEST, "id must be a string or a whole number.")
        method, params = message.get("method"), message.get("params")
        if not isinstance(method, str):
            if "id" in message and ("result" in message or "error" in message):
                return 202, b""  # the answer to a question that this server never asked
            return _build_error(request_id, types.INVALID_REQUEST, "method must be a string.")
        if params is not None and not isinstance(params, dict):
            status = None if headers.get("mcp-protocol-version") in MODERN_PROTOCOL_VERSIONS else 200
            return _build_error(request_id, types.INVALID_PARAMS, "params must be an object.", status=status)
        pairs = scope["headers"]
        if len(headers) < len(pairs) and (duplicated := inbound.find_duplicated_routing_header(_decode_headers(pairs))) is not None:
            return _build_error(request_id, types.HEADER_MISMATCH, f"The header {duplicated} appears more than once.")
        version = headers.get("mcp-protocol-version")
        if version is not None and version not in VERSIONS:
            # A client of the envelope reads the list that server/discover gives; any other is told of the handshake's, too.
            served = MODERN_PROTOCOL_VERSIONS if _has_modern_envelope(params) else VERSIONS
            return _build_rejection(request_id, inbound.unsupported_protocol_version_rejection(version, served))
        if "id" not in message:
            return 202, b""
        if version not in MODERN_PROTOCOL_VERSIONS and (method == "initialize" or not _has_modern_envelope(params)):
            caller = Caller(LATEST_HANDSHAKE_VERSION if method == "initialize" else version or UNNAMED_VERSION)
            return await self._call_method(caller, request_id, method, params, {}, {}, repeat)
        route = inbound.classify_inbound_request(message, headers=headers)
        if isinstance(route, InboundLadderRejection):
            return _build_rejection(request_id, route)
        if method == "tools/call" and (rejection := self._find_header_mismatch(params, headers)) is not None:
            return _build_rejection(request_id, rejection)
        caller = Caller(route.protocol_version, route.client_info, route.client_capabilities)
        return await self._call_method(caller, request_id, method, params, headers, ERROR_CODE_HTTP_STATUS, repeat)

    def _find_header_mismatch(self, params: Any, headers: Mapping[str, str]) -> InboundLadderRejection | None:
        lookup, name, arguments = self.server.get_tool_input_schema, params.get("name"), params.get("arguments")
        schema = lookup(name) if lookup is not None and isinstance(name, str) else None
        if not schema or not isinstance(arguments, dict):
            return None
        if name not in self._repeating:
            self._repeating[name] = inbound.X_MCP_HEADER_KEY.encode() in orjson.dumps(schema)
        return inbound.validate_mcp_param_headers(schema, arguments, headers) if self._repeating[name] else None

    async def _call_method(
        self,
        caller: Caller,
        request_id: Any,
        method: str,
        params: Any,
        headers: Mapping[str, str],
        statuses: Mapping[int, int],
        repeat: Key | None,
    ) -> tuple[int, bytes]:
        """`statuses`: the HTTP status of a JSON-RPC error code, where the protocol revision has one; 200 for the others."""
        worked, asked = False, usage.name_call(self.usage_name, method, params)
        try:
            quick = self.find_fast_path if method in self.uncached and isinstance(params, dict) else None
            if quick is not None and (find_result := quick(method, params, caller.version)) is not None:
                # A read that is nothing but an address, which `find_fast_path` knows, needs none of the SDK's checks.
                if params.keys() != BARE:
                    validate_request(self.server, caller.version, method, params)
                made, worked = find_result(), True
                return 200, build_response(request_id, made)
            cacheable = method not in self.uncached
            (result, worked), key = await get_result(self.name, self.server, caller, method, params, headers, cacheable=cacheable)
        except Unavailable as error:
            data = error.as_dict() | {"retry_after": error.retry_after}
            return _build_error(request_id, JSONRPC_REFUSED, f"{error.message} {error.hint}", data, status=200)
        except ValidationError as error:
            if method != "initialize" and self.server.get_request_handler(method) is None:  # the SDK looks at the parameters first
                code = types.METHOD_NOT_FOUND
                return _build_error(request_id, code, "Method not found", method, status=statuses.get(code, 200))
            code = types.INVALID_PARAMS
            return _build_error(request_id, code, _describe_invalid(error), status=statuses.get(code, 200))
        except Exception as error:
            found = modern_error_data(error)
            if not isinstance(error, MCPError):
                error_counts.counts["mcp"] += found.code == types.INTERNAL_ERROR
                logger.debug("refused %s: %s", method, found.message)
            return _build_error(request_id, found.code, found.message, found.data, status=statuses.get(found.code, 200))
        finally:
            if asked is not None and worked and self._usage_hook is not None:
                asked = asked._replace(about=self._usage_hook.get_subject(asked, params))
            self._count_call(asked, worked=worked)
        if repeat is not None and key is not None:
            cache_repeat(repeat, key, method, asked)
        return 200, build_response(request_id, result)

    def _count_call(self, asked: usage.CountedCall | None, *, worked: bool) -> None:
        if asked is None:
            return
        usage.count_call(self._counted_as, asked, worked=worked)
        if worked and self._usage_hook is not None:
            self._usage_hook.count_call(asked)


class StreamingEndpoint(McpEndpoint):
    """The application of a server that announces changes on streams; `tools_made_of`: what its list of tools follows."""

    def __init__(self, path: str, name: str, module: Any) -> None:
        super().__init__(name, module.build(), module.usage_name)
        server, tools_made_of = self.server, getattr(module, "tools_made_of", None)
        self._tools_made_of: Callable[[], Hashable] | None = tools_made_of
        self._tools_seen: Hashable = None
        self._streams, self._listening = Streams(path), Places(f"subscriptions/listen {path}")
        self._bus = InMemorySubscriptionBus()
        listening = ListenHandler(self._bus, max_subscriptions=MAX_LISTENING)
        server.add_request_handler("subscriptions/listen", types.SubscriptionsListenRequestParams, listening)
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)  # request_guard has checked Host and Origin
        self.sdk = server.streamable_http_app(
            streamable_http_path=path, json_response=True, stateless_http=True, transport_security=security
        )

    async def announce_list_changes(self) -> None:
        """Tell every open stream, of either era, that the list of resources changed, and that of tools if it did."""
        tools = await self.has_tool_list_changed()
        self._streams.announce_list_changes(["resources", "tools"] if tools else ["resources"])
        await self._bus.publish(ResourcesListChanged())
        if tools:
            await self._bus.publish(ToolsListChanged())

    async def has_tool_list_changed(self) -> bool:
        """Tell if the list of tools is made of something new since the last look; when nobody can look, the next look tells."""
        if self._tools_made_of is None:
            return False
        try:
            found = await run_query(self._tools_made_of)
        except WireError:
            return False
        before, self._tools_seen = self._tools_seen, found
        return before != found

    async def _serve_get_stream(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(_decode_headers(scope["headers"]))
        is_modern = headers.get("mcp-protocol-version") in MODERN_PROTOCOL_VERSIONS  # which has subscriptions/listen instead
        if "text/event-stream" in headers.get("accept", "").lower() and not is_modern:
            await self._streams.serve(scope, receive, send)
        else:
            await super()._serve_get_stream(scope, receive, send)

    async def _serve_listen(self, message: Any, headers: dict[str, str], scope: Scope, receive: Receive, send: Send) -> bool:
        is_modern = headers.get("mcp-protocol-version") in MODERN_PROTOCOL_VERSIONS
        if not (is_modern and isinstance(message, dict) and message.get("method") == "subscriptions/listen" and "id" in message):
            return False
        if all(check_accept_headers(Request(scope))):  # else the SDK would answer 406 and not a word
            with self._listening.hold_slot(scope, MAX_LISTENING) as refusal:
                if refusal is not None:
                    await refusal.send(send, jsonrpc=True)
                else:
                    await serve_sdk_stream(self.sdk, scope, receive, send)
        else:
            reply = _build_error(None, types.INVALID_REQUEST, "Accept must allow text/event-stream as well.", status=406)
            await _respond(send, *reply)
        return True


def build_response(request_id: Any, result: bytes) -> bytes:
    """Return the JSON-RPC response; `result` is JSON already."""
    return b"".join((b'{"jsonrpc":"2.0","id":', orjson.dumps(request_id), b',"result":', result, b"}"))


def _parse_message(body: bytes) -> Any:
    """Raises: ValueError for what is no JSON, and for nesting that somebody further in would run out of stack over."""
    message = orjson.loads(body)
    if body.count(b"{") + body.count(b"[") > DEEPEST:
        level = [message]
        for _ in range(DEEPEST):
            held = (inner.values() if isinstance(inner, dict) else inner for inner in level if isinstance(inner, dict | list))
            level = list(itertools.chain.from_iterable(held))
        if level:
            raise ValueError(f"more than {DEEPEST} levels")
    return message


def _has_modern_envelope(params: Any) -> bool:
    meta = params.get("_meta") if params else None
    return isinstance(meta, dict) and MODERN_KEY in meta


def _refuse_content_type(headers: Mapping[str, str]) -> tuple[int, bytes] | None:
    if headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        return _build_error(None, types.INVALID_REQUEST, "Content-Type must be application/json.", status=415)
    accept = headers.get("accept", "*/*").lower()
    if not any(kind in accept for kind in ("application/json", "application/*", "*/*")):
        return _build_error(None, types.INVALID_REQUEST, "Accept must allow application/json.", status=406)
    return None


def _describe_invalid(error: ValidationError) -> str:
    """Return which of a request's parameters the SDK refuses, and why, without the values that were sent."""
    rows = error.errors(include_url=False, include_input=False, include_context=False)[:MOST_NAMED]
    reasons = []
    for row in rows:
        place = row["loc"] if row["loc"][:1] == ("params",) else ("params", *row["loc"])
        reasons.append(f"{'.'.join(map(str, place))}: {row['msg']}.")
    return plain_text(f"Invalid params. {' '.join(reasons)}", MAX_REASONS)


def _build_rejection(request_id: Any, rejection: InboundLadderRejection | None) -> tuple[int, bytes]:
    assert rejection is not None  # noqa: S101
    return _build_error(request_id, rejection.code, rejection.message, rejection.data)


def _build_error(request_id: Any, code: int, message: str, data: Any = None, *, status: int | None = None) -> tuple[int, bytes]:
    error: dict[str, Any] = {"code": code, "message": message}
    if data is not None:
        error["data"] = data[:MAX_ECHO] if isinstance(data, str) else data
    status = status if status is not None else ERROR_CODE_HTTP_STATUS.get(code, 400)
    return status, orjson.dumps({"jsonrpc": "2.0", "id": request_id, "error": error})


_NO_SESSION: Final = _build_error(
    None, SESSION_UNKNOWN, "Session not found: it expired, was ended, or belongs to another server. Initialize again.", status=404
)


def _decode_headers(pairs: Sequence[tuple[bytes, bytes]]) -> list[tuple[str, str]]:
    """Names and values; blanks around a value are none of it (RFC 9110, 5.5), and not every HTTP parser takes them away."""
    return [(name.decode("latin-1"), value.decode("latin-1").strip(" \t")) for name, value in pairs]


def _add_cors_headers(origin: bytes, send: Send) -> Send:
    """Return a `send` whose answers a browser client of the allowlist may read; an Origin outside it never gets here."""
    sent = b"authorization, content-type, accept, mcp-protocol-version, mcp-method, mcp-name, mcp-session-id, last-event-id"
    allowed = [
        (b"access-control-allow-origin", origin),
        (b"access-control-allow-methods", b"POST, GET, DELETE, OPTIONS"),
        (b"access-control-allow-headers", sent),
        (b"access-control-expose-headers", b"mcp-session-id"),
        (b"access-control-max-age", b"86400"),
        (b"vary", b"Origin"),
    ]

    async def readable(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message["headers"], *allowed]}
        await send(message)

    return readable


async def _respond(send: Send, status: int, body: bytes, headers: Sequence[tuple[bytes, bytes]] = ()) -> None:
    kind = ((b"content-type", b"application/json"), (b"cache-control", b"no-store")) if body else ()
    headers = [*kind, (b"content-length", b"%d" % len(body)), *headers]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})
