"""The policy: which resources there are, how often each upstream may be asked, and what answers in its place.

policy_file.py makes it of TOML. Pure: no Django, no clock.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final

FOREVER: Final = 10.0 * 365 * 86_400  # seconds; what "forever" is counted as
NUMBERS: Final = ("limit", "min_interval", "ttl", "stale", "timeout", "attempts", "cost")
"""What the desk may override: numbers, never an upstream, a command or a chain."""
_TIME: Final = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m|h|d)")
_UNITS: Final = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0}
_HOLE: Final = re.compile(r"\{([a-z_.]+)\}")


class PolicyError(Exception):
    """The policy cannot be used; the message names the place and what is expected there."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of a resource, in its path or behind the question mark."""

    name: str
    type: str
    default: Any = None
    min: float | None = None
    max: Any = None
    values: tuple[str, ...] = ()
    internal: tuple[str, ...] = ()
    """Values that only a chain may use."""
    pattern: str = ""
    optional: bool = False
    local: bool = False
    """Applied here to what was fetched, so that questions that differ in nothing else share an entry."""
    also: str = ""
    """Another name for the same thing; given both with different values, a question is refused."""
    help: str = ""

    @property
    def is_required(self) -> bool:
        return self.default is None and not self.optional


@dataclass(frozen=True, slots=True)
class Adapter:
    """How a resource is asked of its upstream. With neither `tool` nor `resource`, its own address is read there."""

    tool: str = ""
    resource: str = ""
    arguments: Mapping[str, Any] = field(default_factory=dict)
    """By argument of the tool: a value, in which `{name}` stands for a parameter `{agent.name}` for an attribute of the agent."""
    at: str = ""
    """Where in the answer the data lie: names and numbers with dots between, "" for all of it."""
    fields: Mapping[str, str] = field(default_factory=dict)
    """By field of an item here: where it lies in an item of the upstream's."""


@dataclass(frozen=True, slots=True)
class Upstream:
    """A server that resources are asked of."""

    name: str
    kind: str = "off"
    command: tuple[str, ...] = ()
    address: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    mode: str = "auto"
    networks: tuple[str, ...] = ()
    """Networks beside the public internet in which its address may lie, such as 10.0.0.0/8."""
    public_key: str = ""
    """Ed25519, 64 hex digits: who signs heartbeats."""
    adapters: Mapping[str, Adapter] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource. Times are seconds."""

    name: str
    uri: str
    title: str
    description: str
    upstream: str
    answers: str
    params: Mapping[str, Parameter]
    limit: int
    period: float
    ttl: float
    stale: float
    timeout: float
    chain: tuple[str, ...] = ()
    """Other addresses that answer in its place, in order: flattened, none twice, never its own."""
    min_interval: float = 0.0
    limit_scope: str = "shared"
    limit_per: tuple[str, ...] = ()
    private: bool = False
    tool_only: bool = False
    ttl_of: Mapping[str, float] = field(default_factory=dict)
    attempts: int = 3
    timeout_attempts: int = 2
    retry_limit: int = 0
    exhausted: str = "empty"
    cost: float = 0.0

    @property
    def scheme(self) -> str:
        return self.uri.partition("://")[0]

    @property
    def holes(self) -> tuple[str, ...]:
        return tuple(_HOLE.findall(self.uri))

    def ttl_for(self, params: Mapping[str, Any]) -> float:
        return next((ttl for given, ttl in self.ttl_of.items() if _matches(given, params)), self.ttl)


@dataclass(frozen=True)
class Policy:
    """A whole policy, checked."""

    resources: Mapping[str, Resource]
    upstreams: Mapping[str, Upstream]
    waits: tuple[float, ...] = (5.0, 30.0)
    refresh_at: float = 0.75
    opens_at: int = 3
    first_wait: float = 30.0
    longest_wait: float = 600.0

    def overridden(self, numbers: Mapping[str, Mapping[str, float]]) -> "Policy":
        """With other numbers, by resource. Raises: PolicyError."""
        found = dict(self.resources)
        for name, given in numbers.items():
            if name in found:
                changes: dict[str, Any] = {key: _number(name, key, value) for key, value in given.items()}
                found[name] = interval_lifts(replace(found[name], **changes), changes)
        return replace(self, resources=found)

    @cached_property
    def patterns(self) -> Sequence[tuple[re.Pattern[str], Resource]]:
        """For each resource what its address without parameters looks like, with a group for each hole."""
        return [(_pattern(one.uri), one) for one in self.resources.values()]


def member_of(policy: Policy, uri: str) -> Resource | None:
    """The resource that an address of a chain is of; a hole for an attribute of the agent fits every hole of the resource."""
    for pattern, one in policy.patterns:
        if (match := pattern.fullmatch(uri)) is None:
            continue
        given = zip((one.params[name] for name in one.holes), match.groups(), strict=True)
        if all(value.startswith("{agent.") or _fits(parameter, value) for parameter, value in given):
            return one
    return None


def _fits(parameter: Parameter, value: str) -> bool:
    if parameter.type == "enum":
        return value.lower() in {one.lower() for one in (*parameter.values, *parameter.internal)}
    return not parameter.pattern or re.fullmatch(parameter.pattern, value) is not None


def _pattern(uri: str) -> re.Pattern[str]:
    return re.compile(_HOLE.sub("([^/?#]+)", re.escape(uri).replace(r"\{", "{").replace(r"\}", "}")))


def interval_lifts(one: Resource, changes: Mapping[str, Any]) -> Resource:
    """A shorter interval that was set on purpose lifts the limit to what it lets through: four hours make six a day of four."""
    if "min_interval" in changes and "limit" not in changes and one.min_interval:
        return replace(one, limit=max(one.limit, int(one.period // one.min_interval)))
    return one


def _number(name: str, key: str, value: Any) -> float | int:
    """An override. Raises: PolicyError."""
    if key not in NUMBERS:
        raise PolicyError(f"{name}.{key} cannot be overridden; only {', '.join(NUMBERS)} can.")
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value > FOREVER:
        raise PolicyError(f"{name}.{key}: a number of 0 or more is needed.")
    if key in ("limit", "attempts"):
        if value != int(value) or value < 1:
            raise PolicyError(f"{name}.{key}: a whole number of 1 or more is needed.")
        return int(value)
    if key == "timeout" and not value:
        raise PolicyError(f"{name}.timeout is longer than nothing.")
    return float(value)


def seconds(text: str) -> float:
    """`90s`, `5m`, `24h`, `7d`, `forever`. Raises: ValueError."""
    if text == "forever":
        return FOREVER
    match = _TIME.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return float(match[1]) * _UNITS[match[2]]


def _matches(given: str, params: Mapping[str, Any]) -> bool:
    name, _, value = given.partition("=")
    return str(params.get(name)) == value
