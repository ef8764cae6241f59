"""Counts what agents ask for: kind, name, minute and outcome, and nothing of who asked or with what arguments."""

import datetime as dt
import re
import time
from collections import Counter
from collections.abc import Mapping
from functools import lru_cache, partial
from typing import Any, Final

from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from mcpserver.seam import store
from mcpserver.servers.wire.prompts import PROMPTS
from mcpserver.servers.wire.tools import TOOLS
from wire.usage import UsageKey, add
from wire.vocabulary import Category

COUNTED: Final = {"tools/call": "name", "resources/read": "uri", "prompts/get": "name"}
UNKNOWN: Final = "(unknown)"

LONGEST: Final = 100  # characters; no name of ours has more

_waiting: Counter[tuple[str, str, int, bool]] = Counter()
"""By method, name, minute since 1970 and whether it worked."""


async def counted(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """SDK middleware, for transports of the SDK's own."""
    worked = False
    try:
        result = await call_next(ctx)
        worked = not (isinstance(result, dict) and result.get("isError"))
        return result
    finally:
        count(ctx.method, ctx.params, worked=worked)


def count(method: str, params: Mapping[str, Any] | None, *, worked: bool) -> None:
    """Count one request, in memory; `flush` writes in batches, so no answer ever waits for it."""
    if method in COUNTED:
        name = (params or {}).get(COUNTED[method])
        known = _name(method, name) if isinstance(name, str) and len(name) <= LONGEST else UNKNOWN
        _waiting[method, known, int(time.time() // 60), worked] += 1


async def flush() -> None:
    """Write what was counted; what cannot be written now waits for the next time."""
    taken = Counter(_waiting)
    _waiting.subtract(taken)
    for key in [key for key, number in _waiting.items() if number == 0]:
        del _waiting[key]
    try:
        await store(partial(add, Counter({_key(*key): number for key, number in taken.items()})))
    except Exception:
        _waiting.update(taken)
        raise


def _key(method: str, name: str, minute: int, worked: bool) -> UsageKey:
    return UsageKey(method, name, dt.datetime.fromtimestamp(minute * 60, dt.UTC), "success" if worked else "error")


@lru_cache(maxsize=1_000)
def _name(method: str, given: str) -> str:
    """The name of a tool or prompt of ours, or the pattern of a resource; never a text of the caller's."""
    if method == "tools/call":
        return given if given in TOOLS else UNKNOWN
    if method == "prompts/get":
        return given if given in PROMPTS else UNKNOWN
    return _pattern(given)


def _pattern(uri: str) -> str:
    for pattern, name in (
        (rf"wire://(today|today/({'|'.join(Category.values)})|sources|llms\.txt|editor-take/today|provenance/today)", None),
        (r"wire://story/.{1,40}", "wire://story/{id}"),
        (r"wire://topic/[a-z]{1,12}", "wire://topic/{slug}"),
        (r"wire://archive/[0-9-]{10}", "wire://archive/{date}"),
        (r"wire://provenance/[0-9-]{10}", "wire://provenance/{date}"),
    ):
        if re.fullmatch(pattern, uri):
            return name or uri
    return UNKNOWN
