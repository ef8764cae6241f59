"""Counts each attempt before it is sent, those that come together in one transaction."""

import hashlib
from collections.abc import Sequence
from functools import partial

from mcpserver.gateway import limiter
from mcpserver.gateway.auth import Caller
from mcpserver.gateway.host import Batcher, Host
from mcpserver.gateway.limiter import Admission, Limit
from mcpserver.gateway.request import GatewayRequest
from mcpserver.gateway.resource_policy import Policy


class Quota:
    """`is_on`: False lets every attempt pass."""

    def __init__(self, policy: Policy, host: Host, *, is_on: bool = True) -> None:
        self.is_on = is_on
        self._upstreams = policy.upstreams
        self._host = host
        self._batches = Batcher(self._acquire_all, host)

    def list_limits(self, request: GatewayRequest, caller: Caller, *, is_retry: bool = False) -> list[Limit]:
        """Return the limits that an attempt is counted in: the upstream's, and the agent's share of it."""
        resource = request.resource
        values = "".join(f" {request.params.get(name)}" for name in resource.limit_per)
        if len(values) > 100:
            values = f" {hashlib.sha256(values.encode()).hexdigest()}"
        owner = f" @{request.agent or caller.name}" if resource.limit_scope == "agent" else ""
        bucket = f"{resource.name}{values}{owner}"
        if is_retry and resource.retry_limit:
            return [Limit(f"{bucket} retries", resource.retry_limit, resource.period)]
        # Our own wire needs no protection from its readers: only the share of an agent holds there.
        is_own = self._upstreams[resource.upstream].kind == "wire"
        limits = [] if is_own else [Limit(bucket, resource.limit, resource.period, resource.min_interval)]
        if caller.share < 100 and resource.limit_scope != "agent":
            share = max(1, resource.limit * caller.share // 100)
            limits.append(Limit(f"{bucket} share @{caller.name}", share, resource.period))
        return limits

    async def acquire(self, limits: Sequence[Limit]) -> Admission:
        return await self._batches.ask(limits) if self.is_on else Admission(0.0, 0)

    async def _acquire_all(self, attempts: Sequence[Sequence[Limit]]) -> Sequence[Admission]:
        return await self._host.write(partial(limiter.acquire_all, attempts, self._host.now(), self._host.steady()))
