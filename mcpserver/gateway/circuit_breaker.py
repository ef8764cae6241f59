"""The circuit of a resource and its upstream in this process: after failures in a row it is left alone, ever longer, then probed.

An error that answers one call counts once for each question, so that no odd id closes a resource for everybody.

It uses the steady clock. Should that step all the same, no circuit stays open for longer than its longest wait.
"""

from typing import Final

from mcpserver.gateway.process_context import ProcessContext
from mcpserver.gateway.resource_policy import CircuitPolicy
from sources.choices import Circuit

PROBE: Final = 65.0  # seconds after which a probe that never came back lets another one go


class CircuitBreaker:
    def __init__(self, policy: CircuitPolicy, context: ProcessContext) -> None:
        self._policy = policy
        self._context = context
        self.reset()

    def reset(self) -> None:
        self.failures = 0
        self.error = ""
        self._questions = set[str]()  # that were answered with an error since the last success
        self._open_until = 0.0
        self._probing_since: float | None = None

    @property
    def state(self) -> Circuit:
        if self.failures < self._policy.opens_at:
            return Circuit.CLOSED
        return Circuit.OPEN if 0 < self.open_for <= self._policy.longest_wait else Circuit.HALF_OPEN

    @property
    def open_for(self) -> float:
        """Return the seconds until it is half open; negative since then."""
        return self._open_until - self._context.steady()

    @property
    def opened_until(self) -> float | None:
        return self._context.now() + self.open_for if self._open_until else None

    def admit_attempt(self) -> bool:
        """Return whether an attempt may begin. A half-open circuit admits a probe."""
        state, now = self.state, self._context.steady()
        if state != Circuit.HALF_OPEN:
            return state == Circuit.CLOSED
        if self._probing_since is not None and self._probing_since <= now < self._probing_since + PROBE:
            return False
        self._probing_since = now
        return True

    def count_failure(self, code: str, question: str = "") -> bool:
        """Count a failure; of the same `question` once. Return whether that opened the circuit."""
        if question and question in self._questions and self.failures < self._policy.opens_at:
            self._probing_since = None
            return False
        self._questions.add(question)
        self.failures += 1
        self.error = code
        self._probing_since = None
        if self.failures < self._policy.opens_at:
            return False
        wait = self._policy.first_wait * 2 ** min(self.failures - self._policy.opens_at, 20)
        self._open_until = self._context.steady() + min(wait, self._policy.longest_wait)
        return self.failures == self._policy.opens_at

    def note_success(self) -> bool:
        was_open = self.failures >= self._policy.opens_at
        self.reset()
        return was_open

    def release_probe(self) -> None:
        """Admit another probe: the last one failed without saying anything of the upstream, or was never sent."""
        self._probing_since = None
