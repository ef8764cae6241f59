"""Work that is cheaper for many than for one: what comes while a lot is being worked on is the next lot."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Generic, TypeVar

Q = TypeVar("Q")
A = TypeVar("A")


class Together(Generic[Q, A]):
    """`work` answers a lot, in its order; `go` starts a task. For one event loop, until it is begun anew."""

    def __init__(
        self, work: Callable[[Sequence[Q]], Awaitable[Sequence[A]]], go: Callable[[Coroutine[Any, Any, None]], None]
    ) -> None:
        self._work = work
        self._go = go
        self.begin_anew()

    def begin_anew(self) -> None:
        self._waiting: list[tuple[Q, asyncio.Future[A]]] = []
        self._is_working = False

    async def ask(self, one: Q) -> A:
        """Raises: what `work` raises."""
        answer: asyncio.Future[A] = asyncio.get_running_loop().create_future()
        self._waiting.append((one, answer))
        if not self._is_working:
            self._is_working = True
            self._go(self._work_off())
        return await answer

    async def _work_off(self) -> None:
        try:
            while self._waiting:
                lot, self._waiting = self._waiting, []
                await self._answer(lot)
        finally:
            self._is_working = False

    async def _answer(self, lot: list[tuple[Q, "asyncio.Future[A]"]]) -> None:
        try:
            found = await self._work([one for one, _ in lot])
        except Exception as error:
            for _, answer in lot:
                if not answer.done():
                    answer.set_exception(error)
            return
        for (_, answer), one in zip(lot, found, strict=True):
            if not answer.done():
                answer.set_result(one)
