"""Failures of upstreams as the gateway's codes: of HTTP statuses, JSON-RPC errors, and the words of a tool."""

import re
from collections.abc import Mapping
from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, METHOD_NOT_FOUND

from mcpserver.upstreams.client_interface import RATE_LIMITED, REFUSED, SERVER_ERROR, UNAUTHORIZED, UNREACHABLE, UpstreamError

MAX_WAIT: Final = 3_600.0 * 24  # seconds; a longer wait that an upstream tells is not believed
_LIMIT: Final = re.compile(r"\b429\b|rate.?limit|too many requests|quota", re.I)
_KEY: Final = re.compile(r"\b40[13]\b|unauthori[sz]ed|forbidden|invalid (?:api )?(?:key|token|credentials)|authentication", re.I)
# A server that its own source does not answer fails, whatever was asked.
_DOWN: Final = re.compile(
    r"\b50[0234]\b|unavailable|bad gateway|internal server error|timed? ?out|max retries exceeded|name resolution|failed to resolve"
    r"|connection ?(?:error|refused|reset|aborted)|ECONN|ENOTFOUND|ETIMEDOUT|fetch failed|network error",
    re.I,
)
_SECONDS: Final = re.compile(
    r"(?:retry|again|wait|reset|limit)[^0-9]{0,40}?([0-9]{1,6}(?:\.[0-9]+)?)\s*(ms|s\b|sec|m\b|min)?", re.I
)
_NAMES: Final = ("retry_after", "retryAfter", "retry-after", "retry_after_seconds", "reset_in", "resetIn")


def from_rpc(upstream: str, error: MCPError) -> UpstreamError:
    found = error.error
    data = found.data if isinstance(found.data, Mapping) else {}
    if found.code == CONNECTION_CLOSED and "closed" in found.message.lower():
        return UpstreamError(UNREACHABLE, f"{upstream} broke the connection off.")
    text = f"{found.message} {data.get('status', '')} {data.get('error', '')}"
    return _classify(upstream, text, find_retry_after(data, found.message), found.code)


def from_tool(upstream: str, text: str, meta: Mapping[str, Any] | None) -> UpstreamError:
    return _classify(upstream, text, find_retry_after(meta or {}, text), None)


def from_status(upstream: str, status: int, retry_after: float | None = None) -> UpstreamError:
    if status == 429:
        return UpstreamError(RATE_LIMITED, f"{upstream} answers 429: too many requests.", retry_after)
    if status in (401, 403):
        return UpstreamError(UNAUTHORIZED, f"{upstream} answers {status}: it does not accept our credentials.")
    if status >= 500:
        return UpstreamError(SERVER_ERROR, f"{upstream} answers {status}.", retry_after)
    return UpstreamError(REFUSED, f"{upstream} answers {status}.")


def find_retry_after(data: Mapping[str, Any], text: str) -> float | None:
    """Return the seconds to wait: of the data beside an error, else the number in its text."""
    for name in _NAMES:
        value = data.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= MAX_WAIT:
            return float(value)
    match = _SECONDS.search(text[:1_000])
    if match is None or match[1] == "429" or not _LIMIT.search(text[:1_000]):
        return None
    seconds = float(match[1]) * {"ms": 0.001, "m": 60.0, "min": 60.0}.get((match[2] or "s").lower(), 1.0)
    return seconds if seconds <= MAX_WAIT else None


def _classify(upstream: str, text: str, retry_after: float | None, code: int | None) -> UpstreamError:
    text, number = text[:1_000], "" if code is None else f" (error {code})"
    if _LIMIT.search(text):
        wait = f" It says: wait {retry_after:.0f} seconds." if retry_after is not None else ""
        return UpstreamError(RATE_LIMITED, f"{upstream} says that it is asked too often.{wait}", retry_after)
    if _KEY.search(text):
        return UpstreamError(UNAUTHORIZED, f"{upstream} does not accept our credentials.")
    if _DOWN.search(text) or (code is not None and code not in (INVALID_PARAMS, METHOD_NOT_FOUND, -32002)):
        return UpstreamError(SERVER_ERROR, f"{upstream} failed{number}.")
    return UpstreamError(REFUSED, f"{upstream} does not take the question{number}.")
