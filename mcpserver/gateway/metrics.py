"""The gateway's figures in this process, by the names that the specification gives: milliseconds, one family for each resource."""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from mcpserver.gateway.response import CACHED, GatewayResponse

BUCKETS: Final = (0.1, 0.5, 1, 2.5, 5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 20_000, 65_000)
registry: Final = CollectorRegistry()


class Family:
    def __init__(self, resource: str) -> None:
        name = f"mcp_{resource}"
        self.duration = Histogram(f"{name}_duration_ms", "Milliseconds to an answer.", buckets=BUCKETS, registry=registry)
        self.hit_rate = Gauge(f"{name}_cache_hit_rate", "Share of answers from the cache since the start.", registry=registry)
        self.errors = Counter(f"{name}_errors", "Failures by code.", ["error_code"], registry=registry)
        self.remaining = Gauge(f"{name}_rate_limit_remaining", "Calls left in the upstream's limit.", registry=registry)
        self.hits = self.requests = 0


@lru_cache(maxsize=500)
def _get_family(resource: str) -> Family:
    return Family(re.sub(r"[^a-z0-9_]", "_", resource))


def observe_response(response: GatewayResponse, ms: float) -> None:
    family = _get_family(response.resource)
    family.duration.observe(ms)
    family.requests += 1
    family.hits += response.outcome == CACHED
    family.hit_rate.set(family.hits / family.requests)
    for attempt in response.attempts:
        if attempt.error is not None:
            family.errors.labels(attempt.error).inc()
    if response.remaining is not None:
        family.remaining.set(response.remaining)


def render_metrics() -> Iterator[str]:
    yield from generate_latest(registry).decode().splitlines()
