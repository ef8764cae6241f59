"""The gateway's figures in this process, by the names that the specification gives: milliseconds, one family for each resource."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from sources.gateway.outcome import CACHED, Answer

BUCKETS: Final = (0.1, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 65_000)
registry: Final = CollectorRegistry()


class Family:
    """The figures of one resource."""

    def __init__(self, resource: str) -> None:
        name = f"mcp_{resource}"
        self.duration = Histogram(f"{name}_duration_ms", "Milliseconds to an answer.", buckets=BUCKETS, registry=registry)
        self.hit_rate = Gauge(f"{name}_cache_hit_rate", "Share of answers from the cache since the start.", registry=registry)
        self.errors = Counter(f"{name}_errors", "Failures by code.", ["error_code"], registry=registry)
        self.remaining = Gauge(f"{name}_rate_limit_remaining", "Calls left in the upstream's limit.", registry=registry)
        self._hits = self._all = 0

    def observe(self, answer: Answer, ms: float) -> None:
        self.duration.observe(ms)
        self._all += 1
        self._hits += answer.outcome == CACHED
        self.hit_rate.set(self._hits / self._all)
        for one in answer.attempts:
            if one.error is not None:
                self.errors.labels(one.error).inc()
        if answer.remaining is not None:
            self.remaining.set(answer.remaining)


@lru_cache(maxsize=500)
def _family(resource: str) -> Family:
    return Family(re.sub(r"[^a-z0-9_]", "_", resource))


def observe(answer: Answer, ms: float) -> None:
    _family(answer.resource).observe(answer, ms)


def lines() -> Iterator[str]:
    """Prometheus' text format."""
    yield from generate_latest(registry).decode().splitlines()
