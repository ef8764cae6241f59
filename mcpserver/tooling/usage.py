"""Counts what agents ask for: server, kind, name, minute and outcome, and nothing of who asked or with what arguments."""

import datetime as dt
import time
from collections.abc import Callable, Hashable, Mapping
from typing import Any, Final, NamedTuple, Protocol

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext

from mcpserver.tooling.batched_counter import Tally
from wire.usage import UsageKey, add_usage_counts

COUNTED: Final = {"tools/call": "name", "resources/read": "uri", "prompts/get": "name"}
UNKNOWN: Final = "(unknown)"
LONGEST: Final = 100  # characters; no name of ours has more

Naming = Callable[[str, str], str]  # a server's `usage_name`: what a method and a name count under, "" for an unknown one


class CountedCall(NamedTuple):
    """The name that a request counts under. `about`: whatever a UsageHook wants to know of it."""

    method: str
    name: str
    about: Hashable = None


class UsageHook(Protocol):
    """Counts what worked for those whom a server serves."""

    def get_subject(self, asked: CountedCall, params: Mapping[str, Any]) -> Hashable:
        """Interface for those who are told of requests. Called once for requests that are the same."""

    def count_call(self, asked: CountedCall) -> None:
        """Count one request, cached or not."""


def name_call(naming: Naming, method: str, params: Mapping[str, Any] | None) -> CountedCall | None:
    if method not in COUNTED:
        return None
    given = (params or {}).get(COUNTED[method])
    name = naming(method, given) if isinstance(given, str) and len(given) <= LONGEST else ""
    return CountedCall(method, name or UNKNOWN)


def count_call(server: str, what: CountedCall, *, worked: bool) -> None:
    _waiting[server, what.method, what.name, int(time.time() // 60), worked] += 1


def build_usage_middleware(server: str, naming: Naming) -> ServerMiddleware[Any]:

    async def handle_and_count(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        worked = False
        try:
            result = await call_next(ctx)
            worked = not (isinstance(result, dict) and result.get("isError"))
            return result
        finally:
            if (what := name_call(naming, ctx.method, ctx.params)) is not None:
                count_call(server, what, worked=worked)

    return handle_and_count


def _write_counts(counted: Mapping[tuple[str, str, str, int, bool], int]) -> None:
    rows = {}
    for (server, method, name, minute, worked), number in counted.items():
        when = dt.datetime.fromtimestamp(minute * 60, dt.UTC)
        rows[UsageKey(server, method, name, when, "success" if worked else "error")] = number
    add_usage_counts(rows)


_waiting: Final[Tally[tuple[str, str, str, int, bool]]] = Tally(_write_counts)  # the minute since 1970, whether it worked
flush = _waiting.flush
