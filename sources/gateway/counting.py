"""How often upstreams are asked: each attempt is counted before it is sent, those that come together in one transaction."""

from collections.abc import Sequence
from functools import partial
from typing import Any

from sources.gateway import limiter
from sources.gateway.asked import Question
from sources.gateway.behind import Behind
from sources.gateway.callers import Caller
from sources.gateway.limiter import Verdict, Want
from sources.gateway.policy import Policy
from sources.gateway.reach import Reach
from sources.gateway.together import Together


class Counting(Behind):
    """`counts`: False lets every attempt pass."""

    def __init__(self, policy: Policy, to: Reach, *, counts: bool = True, **more: Any) -> None:
        super().__init__(policy, to, **more)
        self._counts = counts
        self._limiting = Together(self._acquired, self._go)

    def _begin_anew(self) -> None:
        super()._begin_anew()
        self._limiting.begin_anew()

    def wants(self, asked: Question, caller: Caller, *, is_retry: bool = False) -> list[Want]:
        """The buckets that an attempt is counted in: the upstream's, and the agent's share of it."""
        one = asked.resource
        of = "".join(f" {asked.params.get(name)}" for name in one.limit_per)
        whose = f" @{asked.agent or caller.name}" if one.limit_scope == "agent" else ""
        bucket = f"{one.name}{of}{whose}"
        if is_retry and one.retry_limit:
            return [Want(f"{bucket} retries", one.retry_limit, one.period)]
        wants = [Want(bucket, one.limit, one.period, one.min_interval)]
        if caller.share < 100 and one.limit_scope != "agent":
            share = max(1, one.limit * caller.share // 100)
            wants.append(Want(f"{bucket} share @{caller.name}", share, one.period))
        return wants

    async def _acquire(self, wants: Sequence[Want]) -> Verdict:
        """Requests that come together are counted in one transaction."""
        if not self._counts:
            return Verdict(0.0, 0)
        return await self._limiting.ask(wants)

    async def _acquired(self, asked: Sequence[Sequence[Want]]) -> list[Verdict]:
        found: list[Verdict] = await self._run(partial(limiter.acquire_all, asked, self.now()))
        return found
