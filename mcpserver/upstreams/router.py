"""The client of all upstreams: each call goes to the wire in this process, or to a server over stdio or HTTP."""

import asyncio
from collections.abc import Mapping

from django.conf import settings

from mcpserver.upstreams import own_wire
from mcpserver.upstreams.config import Upstream
from mcpserver.upstreams.connection import Connection, wait_until_closed
from mcpserver.upstreams.protocol import UNCONFIGURED, UpstreamAnswer, UpstreamCall, UpstreamError
from mcpserver.upstreams.sanitize import clean_json


class Upstreams:
    def __init__(self, upstreams: Mapping[str, Upstream]) -> None:
        self._upstreams = upstreams
        self._connections: dict[str, Connection] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def explain_refusal(self, call: UpstreamCall) -> UpstreamError | None:
        upstream = self._upstreams[call.upstream]
        if upstream.kind == "off":
            return UpstreamError(UNCONFIGURED, f"{call.upstream} is not configured in this installation.")
        if upstream.kind == "wire":
            return own_wire.explain_refusal(call)
        if missing := upstream.find_missing_secret():
            return UpstreamError(UNCONFIGURED, f"{missing} is not set, which {call.upstream} needs.")
        return None

    def marker(self, upstream: str) -> str:
        return own_wire.marker() if self._upstreams[upstream].kind == "wire" else ""

    async def ask(self, call: UpstreamCall) -> UpstreamAnswer:
        if self._upstreams[call.upstream].kind == "wire":
            return await own_wire.ask(call)
        answer = await self.connection(call.upstream).ask(call)
        return UpstreamAnswer(*clean_json(answer, is_exact=call.is_exact))

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
