"""Failures of upstreams as the gateway's codes, by what the protocols signal: HTTP statuses, JSON-RPC codes, `isError`, headers.

Words decide nothing: a text may repeat what was asked for, such as an id 503. They are passed on to the operator.
"""

from collections.abc import Mapping
from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, ErrorData

from mcpserver.upstreams.client_interface import RATE_LIMITED, REFUSED, SERVER_ERROR, UNAUTHORIZED, UNREACHABLE, UpstreamError
from wire.text.plain_text import plain_line

MAX_WAIT: Final = 3_600.0 * 24  # seconds; a longer wait that an upstream tells is not believed
RESOURCE_NOT_FOUND: Final = -32002
_CLOSED: Final = ErrorData(code=CONNECTION_CLOSED, message="Connection closed")  # what the SDK's client says, and no server
_REFUSALS: Final = (INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND, RESOURCE_NOT_FOUND)
_WAITS: Final = ("retry_after", "retryAfter", "retry-after", "retry_after_seconds", "reset_in", "resetIn")


def from_rpc(upstream: str, error: MCPError | None) -> UpstreamError:
    """Return the failure of a request; None: its connection broke off."""
    found = error.error if error is not None else _CLOSED
    if found == _CLOSED:
        return UpstreamError(UNREACHABLE, f"{upstream} closed the connection.")
    if fault := _from_data(upstream, found.data, found.message):
        return fault
    if found.code in _REFUSALS:
        return UpstreamError(REFUSED, f"{upstream} rejects the question (error {found.code}).", words=_clean_text(found.message))
    detail = f"{upstream} failed (error {found.code})."
    return UpstreamError(SERVER_ERROR, detail, words=_clean_text(found.message), is_of_call=True)


def from_tool(upstream: str, words: str, meta: Mapping[str, Any] | None, *, are_arguments_valid: bool) -> UpstreamError:
    if fault := _from_data(upstream, meta, words):
        return fault
    if not are_arguments_valid:
        detail = f"{upstream} rejects the question: it does not fit the tool's schema."
        return UpstreamError(REFUSED, detail, words=_clean_text(words))
    return UpstreamError(SERVER_ERROR, f"{upstream} failed: its tool reports an error.", words=_clean_text(words), is_of_call=True)


def from_status(upstream: str, status: int, retry_after: float | None = None) -> UpstreamError:
    if status == 429:
        return UpstreamError(RATE_LIMITED, f"{upstream} answers 429: too many requests.", retry_after)
    if status in (401, 403):
        return UpstreamError(UNAUTHORIZED, f"{upstream} answers {status}: it does not accept our credentials.")
    if status >= 500:
        return UpstreamError(SERVER_ERROR, f"{upstream} answers {status}.", retry_after)
    return UpstreamError(REFUSED, f"{upstream} answers {status}.")


def _from_data(upstream: str, data: Any, words: str) -> UpstreamError | None:
    """Return the failure that fields beside an error state: an HTTP status, or how long to wait."""
    if not isinstance(data, Mapping):
        return None
    numbers = [value for name in _WAITS if isinstance(value := data.get(name), int | float) and not isinstance(value, bool)]
    retry_after = next((float(value) for value in numbers if 0 <= value <= MAX_WAIT), None)
    status = data.get("status")
    if not isinstance(status, int) or not 400 <= status <= 599:
        status = 429 if retry_after is not None else None
    if status is None:
        return None
    fault = from_status(upstream, status, retry_after)
    fault.words, fault.is_of_call = _clean_text(words), True
    return fault


def _clean_text(words: str) -> str:
    return plain_line(words[:1_000], 300)
