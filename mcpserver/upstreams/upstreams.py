"""The gateway's Reach: each question to the wire in this process, or to a server over stdio or HTTP."""

import asyncio
from typing import Any

from django.conf import settings

from mcpserver.upstreams import wire
from mcpserver.upstreams.connection import Connection, closed
from mcpserver.upstreams.texts import cleaned
from sources.gateway.policy import Policy
from sources.gateway.reach import UNCONFIGURED, Call, Reached, UpstreamError


class Upstreams:
    """All upstreams of a policy."""

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self._connections: dict[str, Connection] = {}
        self._loop: Any = None

    def cannot(self, call: Call) -> UpstreamError | None:
        upstream = self._policy.upstreams[call.upstream]
        if upstream.kind == "off":
            return UpstreamError(UNCONFIGURED, f"{call.upstream} is not configured in this installation.")
        if upstream.kind == "wire":
            return wire.cannot(call)
        if missing := self.connection(call.upstream).missing():
            return UpstreamError(UNCONFIGURED, f"{missing} is not set, which {call.upstream} needs.")
        return None

    def marker(self, upstream: str) -> str:
        return wire.marker() if self._policy.upstreams[upstream].kind == "wire" else ""

    async def ask(self, call: Call) -> Reached:
        if self._policy.upstreams[call.upstream].kind == "wire":
            return await wire.ask(call)
        found = await self.connection(call.upstream).ask(call)
        data, untrusted = cleaned(found, exact=self._policy.resources[call.resource].answers == "heartbeat")
        return Reached(data, untrusted)

    def connection(self, upstream: str) -> Connection:
        """Connections belong to one event loop."""
        try:
            loop: Any = asyncio.get_running_loop()
        except RuntimeError:
            loop = None
        if loop is not self._loop and loop is not None:
            self._connections, self._loop = {}, loop
        if upstream not in self._connections:
            self._connections[upstream] = Connection(self._policy.upstreams[upstream], settings.WIRE_FETCH_ALLOW)
        return self._connections[upstream]

    async def close(self) -> None:
        await asyncio.gather(*(one.close() for one in self._connections.values()))
        self._connections = {}
        await closed()
