"""Requests to a server of 2026-07-28 over HTTP: one POST, one answer, without the SDK's streams and tasks in between.

From that revision on a request is whole in itself, so nothing is kept between two of them. The SDK's session makes the requests
and checks the results as ever; this stands where its transport would, which costs most of a read.
"""

import itertools
from collections.abc import Mapping
from typing import Any, Final

import anyio
import httpx2
import orjson
from anyio.abc import TaskStatus
from mcp.client.session import ClientSession
from mcp.shared.dispatcher import CallOptions, OnNotify, OnNotifyIntercept, OnRequest
from mcp.shared.exceptions import MCPError
from mcp_types import HEADER_MISMATCH, INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, PARSE_ERROR, CallToolResult

from mcpserver.upstreams.guarded_http import MAX_BODY, PLAIN, TIMEOUT, GuardedTransport

HEADERS: Final = {**PLAIN, "accept": "application/json, text/event-stream", "content-type": "application/json"}


class HttpSession(ClientSession):
    async def call_tool_with_relisting(self, name: str, arguments: dict[str, Any]) -> CallToolResult:
        """Return the result of a tool. Raises: MCPError, what `call_tool` raises."""
        # A server that wants arguments repeated in headers says so in its list of tools, and refuses whoever has not read it.
        try:
            return await self.call_tool(name, arguments)
        except MCPError as error:
            if error.code != HEADER_MISMATCH:
                raise
            await self.list_tools()
            return await self.call_tool(name, arguments)


class HttpDispatcher:
    """The SDK's Dispatcher. It gives no notifications and takes none: the revision has none over HTTP but within streams."""

    def __init__(self, address: str, transport: GuardedTransport, headers: Mapping[str, str]) -> None:
        self._url = httpx2.URL(address)
        self._transport = transport
        self._headers = {**headers, **HEADERS}
        self._numbers = itertools.count(1)

    async def run(
        self,
        _on_request: OnRequest,
        _on_notify: OnNotify,
        _on_notify_intercept: OnNotifyIntercept | None = None,
        *,
        task_status: TaskStatus[None] = anyio.TASK_STATUS_IGNORED,
    ) -> None:
        task_status.started()
        await anyio.sleep_forever()

    async def notify(self, _method: str, _params: Mapping[str, Any] | None, _opts: CallOptions | None = None) -> None:
        return

    async def send_raw_request(
        self, method: str, params: Mapping[str, Any] | None, opts: CallOptions | None = None
    ) -> dict[str, Any]:
        """Raises: MCPError; httpx2.TransportError."""
        number = next(self._numbers)
        body = orjson.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}})
        response = await self._post(body, {**self._headers, **((opts or {}).get("headers") or {})})
        try:
            message = await _read_message(response, number)
        finally:
            await response.aclose()
        if "error" in message:
            error = message["error"]
            raise MCPError(error.get("code"), error.get("message"), error.get("data"))
        result: dict[str, Any] = message["result"]
        return result

    async def _post(self, body: bytes, headers: Mapping[str, str]) -> httpx2.Response:
        """Return the answer, its body unread. A redirect to another path of the same origin is followed once, and remembered."""
        for is_last in (False, True):
            request = httpx2.Request("POST", self._url, headers=headers, content=body, extensions={"timeout": TIMEOUT.as_dict()})
            response = await self._transport.handle_async_request(request)
            response.request = request
            if response.status_code not in (307, 308) or is_last:
                break
            found = self._url.join(response.headers.get("location", ""))
            if (found.scheme, found.host, found.port) != (self._url.scheme, self._url.host, self._url.port):
                break
            await response.aclose()
            self._url = found
        return response


async def _read_message(response: httpx2.Response, number: int) -> dict[str, Any]:
    """Return the JSON-RPC answer to the request of this number. Raises: MCPError for none."""
    kind, status = response.headers.get("content-type", "").lower(), response.status_code
    if status != 200:
        return await _read_refusal(response, kind, number)
    if kind.startswith("application/json"):
        message = _parse_message(await _read_body(response), number)
    elif kind.startswith("text/event-stream"):
        message = await _read_stream(response, number)
    else:
        raise MCPError(INVALID_REQUEST, "The answer is neither JSON nor a stream of events.")
    if message is None:
        raise MCPError(PARSE_ERROR, "The answer is not a JSON-RPC response to the request.")
    return message


async def _read_refusal(response: httpx2.Response, kind: str, number: int) -> dict[str, Any]:
    """Return the error in the body of a status other than 200. Raises: MCPError where there is none."""
    if response.status_code >= 400 and kind.startswith("application/json"):
        message = _parse_message(await _read_body(response), number)
        if message is not None and "error" in message:
            return message
    if response.status_code == 404:
        raise MCPError(METHOD_NOT_FOUND, "Not Found")
    if response.status_code < 400:
        raise MCPError(INVALID_REQUEST, f"The server answers {response.status_code} to a request.")
    raise MCPError(INTERNAL_ERROR, "The server answers with an error.")


async def _read_stream(response: httpx2.Response, number: int) -> dict[str, Any] | None:
    try:
        async for event in httpx2.EventSource(response, max_event_size=MAX_BODY):
            if event.event == "message" and (message := _parse_message(event.data.encode(), number)) is not None:
                return message
    except httpx2.SSEError as error:
        raise MCPError(PARSE_ERROR, "The stream of events cannot be read.") from error
    return None


async def _read_body(response: httpx2.Response) -> bytes:
    assert isinstance(response.stream, httpx2.AsyncByteStream)  # noqa: S101
    return b"".join([chunk async for chunk in response.stream])


def _parse_message(body: bytes, number: int) -> dict[str, Any] | None:
    """Return a result or an error; None for everything else. An error that came before the id was read has none."""
    try:
        message = orjson.loads(body)
    except ValueError:
        return None
    if not isinstance(message, dict):
        return None
    is_result = isinstance(message.get("result"), dict) and message.get("id") == number
    is_error = isinstance(message.get("error"), dict) and message.get("id") in (number, None)
    return message if is_result or is_error else None
