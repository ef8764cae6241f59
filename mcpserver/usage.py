"""Counts what agents ask for: kind, name, minute and outcome, and nothing of who asked or with what arguments."""

import re
from collections import Counter
from typing import Any, Final

from django.utils import timezone
from mcp.server.context import CallNext, HandlerResult, ServerRequestContext

from mcpserver.seam import ask
from mcpserver.servers.wire.prompts import PROMPTS
from mcpserver.servers.wire.tools import TOOLS
from wire.usage import UsageKey, add
from wire.vocabulary import Category

COUNTED: Final = {"tools/call": "name", "resources/read": "uri", "prompts/get": "name"}
UNKNOWN: Final = "(unknown)"

_waiting: Counter[UsageKey] = Counter()


async def counted(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
    """SDK middleware. Only counts in memory; `flush` writes in batches, so no answer ever waits for it."""
    if ctx.method not in COUNTED:
        return await call_next(ctx)
    outcome = "error"
    try:
        result = await call_next(ctx)
        if not (isinstance(result, dict) and result.get("isError")):
            outcome = "success"
        return result
    finally:
        minute = timezone.now().replace(second=0, microsecond=0)
        _waiting[UsageKey(ctx.method, _name(ctx), minute, outcome)] += 1


async def flush() -> None:
    """Write what was counted; what cannot be written now waits for the next time."""
    taken = Counter(_waiting)
    _waiting.subtract(taken)
    for key in [key for key, number in _waiting.items() if number == 0]:
        del _waiting[key]
    try:
        await ask(add, taken)
    except Exception:
        _waiting.update(taken)
        raise


def _name(ctx: ServerRequestContext[Any, Any]) -> str:
    """The name of a tool or prompt of ours, or the pattern of a resource; never a text of the caller's."""
    given = (ctx.params or {}).get(COUNTED[ctx.method])
    if ctx.method == "tools/call":
        return given if isinstance(given, str) and given in TOOLS else UNKNOWN
    if ctx.method == "prompts/get":
        return given if isinstance(given, str) and given in PROMPTS else UNKNOWN
    return _pattern(str(given))


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
