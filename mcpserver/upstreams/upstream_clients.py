"""The client of all upstreams: each call goes to the wire in this process, or to a server over stdio or HTTP."""

import asyncio
import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Final

from django.conf import settings

from config.errors import WireError
from config.http import memory_cache
from mcpserver.http.threads import run_query
from mcpserver.upstreams import client_interface
from mcpserver.upstreams.client_interface import UpstreamAnswer, UpstreamCall, UpstreamError
from mcpserver.upstreams.config import Upstream, parse_duration
from mcpserver.upstreams.connection import Connection, wait_until_closed
from mcpserver.upstreams.policy_drift import list_differences
from wire.queries.events import list_trending_events
from wire.text.choices import Category

# By category of the gateway: the wire's categories that have it; None is every category. The wire reports on nothing else.
CATEGORIES: Final[dict[str, tuple[Category, ...] | None]] = {
    "general": None,
    "news": None,
    "technology": None,
    "finance": (Category.FUNDING,),
    "other": (Category.INDUSTRY, Category.ANALYSIS),
}


class Upstreams:
    def __init__(self, upstreams: Mapping[str, Upstream]) -> None:
        self._upstreams = upstreams
        self._connections: dict[str, Connection] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def explain_refusal(self, call: UpstreamCall) -> UpstreamError | None:
        upstream, category = self._upstreams[call.upstream], call.params.get("category")
        if upstream.kind == "off":
            return UpstreamError(client_interface.UNCONFIGURED, f"{call.upstream} is not configured in this installation.")
        if upstream.kind != "wire":
            missing = upstream.find_missing_secret()
            detail = f"{call.upstream} needs {missing}, which is not set."
            return UpstreamError(client_interface.UNCONFIGURED, detail) if missing else None
        detail = ""
        if call.resource == "news_region_trends" and call.params["region"] != "global":
            detail = "The wire stores no place of origin, so it cannot tell regions apart."
        if call.resource == "news_category_trends" and category not in CATEGORIES:
            detail = f"The wire reports on the AI industry only and has no category {category}."
        return UpstreamError(client_interface.UNSUPPORTED, detail) if detail else None

    def marker(self, upstream: str) -> str:
        return _get_wire_version() if self._upstreams[upstream].kind == "wire" else ""

    async def ask(self, call: UpstreamCall) -> UpstreamAnswer:
        if self._upstreams[call.upstream].kind == "wire":
            return await _ask_own_wire(call)
        return await self.connection(call.upstream).ask(call)

    async def list_differences(self, upstream: str, addresses: Sequence[str]) -> list[str]:
        return await list_differences(self.connection(upstream), self._upstreams[upstream].adapters, addresses)

    def connection(self, upstream: str) -> Connection:
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._connections, self._loop = {}, loop
        if upstream not in self._connections:
            self._connections[upstream] = Connection(self._upstreams[upstream], settings.WIRE_FETCH_ALLOW)
        return self._connections[upstream]

    async def close(self) -> None:
        await asyncio.gather(*(connection.close() for connection in self._connections.values()))
        self._connections = {}
        await wait_until_closed()


def _get_wire_version() -> str:
    """Return the wire version, while this process follows it: a publish makes every trend old."""
    generation = memory_cache.answers.generation
    return "" if generation is None else str(generation[0])


async def _ask_own_wire(call: UpstreamCall) -> UpstreamAnswer:
    """Answer news:// by one query; what the wire cannot know is never guessed. Raises: UpstreamError."""
    version, params = _get_wire_version(), call.params
    category, order = params.get("category"), str(params.get("sortBy", "engagement_score"))
    window, of = dt.timedelta(seconds=parse_duration(str(params["timeWindow"]))), CATEGORIES.get(str(category or "general"))
    try:
        trends, note = await run_query(list_trending_events, window, of, order, int(params["limit"]))
    except WireError as error:
        raise UpstreamError(client_interface.SERVER_ERROR, error.message) from error
    if category and category != "general":
        for trend in trends:
            trend["metadata"]["category"] = category
    untrusted = any(trend["metadata"]["untrusted_instructions"] for trend in trends)
    return UpstreamAnswer(trends, untrusted, version, note)
