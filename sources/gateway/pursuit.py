"""When an upstream is asked again: tenacity, with the policy's own waits. A wait that the upstream tells wins if it is longer."""

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, Final

from tenacity import AsyncRetrying, RetryCallState, retry_if_exception

from sources.gateway.reach import RETRIED, TIMEOUT, UpstreamError

LONGEST: Final = 65.0  # seconds; an upstream that asks for more patience is asked again by the next question


@dataclass
class Pursuit:
    """The attempts of one question."""

    waits: tuple[float, ...]
    attempts: int
    timeout_attempts: int
    _attempt: Any = field(default=None, init=False)

    def attempt(self) -> AbstractContextManager[Any]:
        """What an attempt runs in: tenacity looks at how it ends."""
        return self._attempt  # type: ignore[no-any-return]

    def wait(self, state: RetryCallState) -> float:
        """Seconds before the next attempt."""
        number, error = state.attempt_number, _error(state)
        wait = self.waits[min(number, len(self.waits)) - 1] if self.waits else 0.0
        return max(wait, error.retry_after or 0.0) if isinstance(error, UpstreamError) else wait

    def is_over(self, state: RetryCallState) -> bool:
        error = _error(state)
        most = self.attempts
        if isinstance(error, UpstreamError) and error.code == TIMEOUT:
            most = min(most, self.timeout_attempts)
        return state.attempt_number >= most or self.wait(state) > LONGEST


async def attempts_of(pursuit: Pursuit, waiting: Callable[[float], None]) -> AsyncIterator[int]:
    """The number of each attempt, from 1 on; `waiting` is told how long the next is waited for. Raises: the last UpstreamError."""

    def before_sleep(state: RetryCallState) -> None:
        waiting(state.upcoming_sleep)

    retrying = AsyncRetrying(
        retry=retry_if_exception(lambda error: isinstance(error, UpstreamError) and error.code in RETRIED),
        stop=pursuit.is_over,
        wait=pursuit.wait,
        before_sleep=before_sleep,
        reraise=True,
    )
    async for attempt in retrying:
        pursuit._attempt = attempt
        yield attempt.retry_state.attempt_number


def _error(state: RetryCallState) -> BaseException | None:
    return state.outcome.exception() if state.outcome is not None else None
