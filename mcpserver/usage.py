"""Counts what agents ask for: server, kind, name, minute and outcome, and nothing of who asked or with what arguments."""

import datetime as dt
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext

from mcpserver.adapter import store
from wire.usage import UsageKey, add

COUNTED: Final = {"tools/call": "name", "resources/read": "uri", "prompts/get": "name"}
UNKNOWN: Final = "(unknown)"
LONGEST: Final = 100  # characters; no name of ours has more

Naming = Callable[[str, str], str]
"""`usage_name` of a server: the name under which a method and a name or URI are counted, "" for one that it does not know."""

_waiting: Counter[tuple[str, str, str, int, bool]] = Counter()
"""By server, method, name, minute since 1970 and whether it worked."""


def counting(server: str, naming: Naming) -> ServerMiddleware[Any]:
    """SDK middleware that counts, for transports of the SDK's own."""

    async def counted(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        worked = False
        try:
            result = await call_next(ctx)
            worked = not (isinstance(result, dict) and result.get("isError"))
            return result
        finally:
            count(server, naming, ctx.method, ctx.params, worked=worked)

    return counted


def count(server: str, naming: Naming, method: str, params: Mapping[str, Any] | None, *, worked: bool) -> None:
    """Count one request, in memory; `flush` writes in batches, so no answer ever waits for it."""
    if method in COUNTED:
        given = (params or {}).get(COUNTED[method])
        name = naming(method, given) if isinstance(given, str) and len(given) <= LONGEST else ""
        _waiting[server, method, name or UNKNOWN, int(time.time() // 60), worked] += 1


async def flush() -> None:
    """Write what was counted; what cannot be written now waits for the next time."""
    counted = Counter(_waiting)
    _waiting.clear()
    try:
        await store(partial(add, Counter({_key(*key): number for key, number in counted.items()})))
    except Exception:
        _waiting.update(counted)
        raise


def _key(server: str, method: str, name: str, minute: int, worked: bool) -> UsageKey:
    return UsageKey(server, method, name, dt.datetime.fromtimestamp(minute * 60, dt.UTC), "success" if worked else "error")
