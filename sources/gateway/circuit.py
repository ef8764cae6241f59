"""Whether an upstream is asked: after failures in a row it is left alone, ever longer, then one probe. Pure: a clock is given."""

from dataclasses import dataclass
from typing import Final

from sources.vocabulary import Circuit

PROBE: Final = 65.0  # seconds after which a probe that never came back lets another one go


@dataclass(slots=True)
class Breaker:
    """The circuit of one upstream in this process. Times are seconds of one clock."""

    opens_at: int = 3
    first_wait: float = 30.0
    longest_wait: float = 600.0
    failures: int = 0
    opened_until: float = 0.0
    probing_since: float | None = None
    error: str = ""

    def state(self, now: float) -> Circuit:
        if self.failures < self.opens_at:
            return Circuit.CLOSED
        return Circuit.OPEN if now < self.opened_until else Circuit.HALF_OPEN

    def may_ask(self, now: float) -> bool:
        """Whether an attempt may begin. Of a half-open circuit one may: it is the probe."""
        state = self.state(now)
        if state != Circuit.HALF_OPEN:
            return state == Circuit.CLOSED
        if self.probing_since is not None and now < self.probing_since + PROBE:
            return False
        self.probing_since = now
        return True

    def worked(self) -> bool:
        """Note an answer. Whether that closed an open circuit."""
        was_open = self.failures >= self.opens_at
        self.failures, self.opened_until, self.probing_since, self.error = 0, 0.0, None, ""
        return was_open

    def failed(self, code: str, now: float) -> bool:
        """Note a failure. Whether that opened the circuit."""
        self.failures += 1
        self.probing_since = None
        self.error = code
        if self.failures < self.opens_at:
            return False
        wait = self.first_wait * 2 ** min(self.failures - self.opens_at, 20)
        self.opened_until = now + min(wait, self.longest_wait)
        return self.failures == self.opens_at

    def let_go(self) -> None:
        """A probe that was never sent."""
        self.probing_since = None
