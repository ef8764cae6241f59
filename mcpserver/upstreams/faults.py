"""What went wrong upstream, as the gateway's codes: out of HTTP statuses, JSON-RPC errors, and the words of a tool."""

import re
from collections.abc import Mapping
from typing import Any, Final

from mcp.shared.exceptions import MCPError
from mcp_types import CONNECTION_CLOSED, INVALID_PARAMS, METHOD_NOT_FOUND

from sources.gateway.reach import RATE_LIMITED, REFUSED, SERVER_ERROR, UNAUTHORIZED, UNREACHABLE, UpstreamError

LONGEST: Final = 3_600.0 * 24  # seconds; a longer wait that an upstream tells is not believed
_LIMIT: Final = re.compile(r"\b429\b|rate.?limit|too many requests|quota", re.I)
_KEY: Final = re.compile(r"\b40[13]\b|unauthori[sz]ed|forbidden|invalid (?:api )?(?:key|token|credentials)|authentication", re.I)
_DOWN: Final = re.compile(
    r"\b50[0234]\b|unavailable|bad gateway|internal server error|timed? ?out|max retries exceeded|name resolution|failed to resolve"
    r"|connection ?(?:error|refused|reset|aborted)|ECONN|ENOTFOUND|ETIMEDOUT|fetch failed|network error",
    re.I,
)
"""A server that its own source does not answer fails, whatever was asked."""
_SECONDS: Final = re.compile(
    r"(?:retry|again|wait|reset|limit)[^0-9]{0,40}?([0-9]{1,6}(?:\.[0-9]+)?)\s*(ms|s\b|sec|m\b|min)?", re.I
)
_NAMES: Final = ("retry_after", "retryAfter", "retry-after", "retry_after_seconds", "reset_in", "resetIn")


def of_mcp(upstream: str, error: MCPError) -> UpstreamError:
    """A JSON-RPC error."""
    found = error.error
    data = found.data if isinstance(found.data, Mapping) else {}
    told = f"{found.message} {data.get('status', '')} {data.get('error', '')}"
    if found.code == CONNECTION_CLOSED and "closed" in found.message.lower():
        return UpstreamError(UNREACHABLE, f"{upstream} broke the connection off.")
    return _classified(upstream, told, retry_after(data, found.message), found.code)


def of_tool(upstream: str, text: str, meta: Mapping[str, Any] | None) -> UpstreamError:
    """What a tool says when it failed."""
    return _classified(upstream, text, retry_after(meta or {}, text), None)


def of_status(upstream: str, status: int, after: float | None = None) -> UpstreamError:
    """An HTTP status that is no answer."""
    if status == 429:
        return UpstreamError(RATE_LIMITED, f"{upstream} answers 429: too many requests.", after)
    if status in (401, 403):
        return UpstreamError(UNAUTHORIZED, f"{upstream} answers {status}: it does not accept our credentials.")
    if status >= 500:
        return UpstreamError(SERVER_ERROR, f"{upstream} answers {status}.", after)
    return UpstreamError(REFUSED, f"{upstream} answers {status}.")


def retry_after(data: Mapping[str, Any], text: str) -> float | None:
    """How many seconds to wait: of the data beside an error, else the number in its text."""
    for name in _NAMES:
        value = data.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= LONGEST:
            return float(value)
    match = _SECONDS.search(text[:1_000])
    if match is None or not _LIMIT.search(text[:1_000]):
        return None
    seconds = float(match[1]) * {"ms": 0.001, "m": 60.0, "min": 60.0}.get((match[2] or "s").lower(), 1.0)
    return seconds if seconds <= LONGEST and match[1] != "429" else None


def _classified(upstream: str, text: str, after: float | None, code: int | None) -> UpstreamError:
    text = text[:1_000]
    if _LIMIT.search(text):
        told = f" It says: wait {after:.0f} seconds." if after is not None else ""
        return UpstreamError(RATE_LIMITED, f"{upstream} says that it is asked too often.{told}", after)
    if _KEY.search(text):
        return UpstreamError(UNAUTHORIZED, f"{upstream} does not accept our credentials.")
    if _DOWN.search(text) or (code is not None and code not in (INVALID_PARAMS, METHOD_NOT_FOUND, -32002)):
        return UpstreamError(SERVER_ERROR, f"{upstream} failed{'' if code is None else f' (error {code})'}.")
    return UpstreamError(REFUSED, f"{upstream} does not take the question{'' if code is None else f' (error {code})'}.")
