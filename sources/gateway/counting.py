"""How often upstreams are asked: each attempt is counted before it is sent, those that come together in one transaction."""

import asyncio
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


class Counting(Behind):
    """`counts`: False lets every attempt pass."""

    def __init__(self, policy: Policy, to: Reach, *, counts: bool = True, **more: Any) -> None:
        super().__init__(policy, to, **more)
        self._counts = counts
        self._limiting: list[tuple[Sequence[Want], asyncio.Future[Verdict]]] = []
        self._is_limiting = False

    def _begin_anew(self) -> None:
        self._limiting, self._is_limiting = [], False

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
        answer: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self._limiting.append((wants, answer))
        if not self._is_limiting:
            self._is_limiting = True
            self._go(self._acquire_waiting())
        return await answer

    async def _acquire_waiting(self) -> None:
        try:
            while self._limiting:
                batch, self._limiting = self._limiting, []
                now = self.now()
                try:
                    verdicts = await self._run(partial(limiter.acquire_all, [wants for wants, _ in batch], now))
                except Exception as error:
                    for _, answer in batch:
                        if not answer.done():
                            answer.set_exception(error)
                    continue
                for (_, answer), verdict in zip(batch, verdicts, strict=True):
                    if not answer.done():
                        answer.set_result(verdict)
        finally:
            self._is_limiting = False
