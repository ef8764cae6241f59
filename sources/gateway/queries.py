"""What is asked of the gateway. REST, MCP and commands ask these and nothing else."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from ninja import Field, Schema

from config.errors import Forbidden, InvalidArgument, NotFound
from sources.gateway import accounting, callers, heartbeat, limiter, serving
from sources.gateway.asked import Question, made, question
from sources.gateway.callers import Caller
from sources.gateway.gateway import LONGEST_WAIT, WAIT, Gateway
from sources.gateway.models import Entry, UpstreamState
from sources.gateway.outcome import Answer, AttemptOut, moment
from sources.gateway.policy import Parameter, Resource

Wait = Annotated[float, Field(ge=0, le=LONGEST_WAIT, description=f"Seconds to wait at most; {WAIT:g} if left out.")]
VECTOR_SEARCH: Final = "weaviate_vector_search"


class ParameterOut(Schema):
    name: str
    type: str
    default: Any = None
    values: list[str] = []
    required: bool = False


class ResourceOut(Schema):
    """One resource and how it stands."""

    uri: str
    title: str
    description: str
    may_read: bool = Field(description="With the key that was sent, or without one.")
    unavailable: str | None = Field(description="Why it cannot be fetched at all here; null if it can.")
    upstream: str
    circuit: str = Field(description="closed: asked. open: left alone after failures. half_open: the next question probes it.")
    limit: int
    period_s: float
    min_interval_s: float
    remaining: int | None = Field(description="Calls left in the window; null where the limit depends on a parameter.")
    next_in_s: float | None = Field(description="Seconds until the next call may go out.")
    ttl_s: float
    stale_s: float
    timeout_s: float
    newest_age_s: float | None = Field(description="Age of the newest stored answer that this caller may read.")
    chain: list[str]
    params: list[ParameterOut]


class ResourcesOut(Schema):
    resources: list[ResourceOut]


class ExplainOut(Schema):
    """One line of the log."""

    request_id: str
    timestamp: str
    resource: str
    agent_id: str
    asked: str
    answered: str
    outcome: str
    upstream: str
    duration_ms: float
    cache_hit: bool
    result_count: int | None
    error_code: str | None
    retry_attempt: int
    rate_limit_remaining: int | None
    cost_units: float
    stale_s: float
    sha256: str
    attempts: list[AttemptOut]


class UpstreamOut(Schema):
    """How an upstream fares: the circuit of this process, and what any process noted last."""

    name: str
    kind: str
    circuit: str
    failures: int
    opened_until: str | None
    answered_at: str | None
    failed_at: str | None
    error: str
    detail: str


class HeartbeatOut(Schema):
    agent_id: str
    state: str
    received_at: str | None


class StatusOut(Schema):
    upstreams: list[UpstreamOut]
    heartbeats: list[HeartbeatOut]


async def caller_of(token: str | None) -> Caller:
    """Who bears this key. Raises: Unauthorized."""
    known = callers.remembered(token)
    return known if known is not None else await serving.read(lambda: callers.of_token(token))


async def read(uri: str, caller: Caller, wait: float = WAIT) -> Answer:
    """The answer to an address. Raises: NotFound, InvalidArgument, Unauthorized, Forbidden."""
    gateway = await serving.gateway()
    asked = question(gateway.policy, uri, caller.name, caller.attributes)
    if asked.resource.tool_only:
        raise InvalidArgument(f"{asked.resource.uri} takes more than an address holds.", "Call the tool gateway_vector_search.")
    return await gateway.ask(asked, caller, wait)


async def vector_search(given: Mapping[str, Any], caller: Caller, wait: float = WAIT) -> Answer:
    """Documents like an embedding. Raises: InvalidArgument, Unauthorized, Forbidden."""
    gateway = await serving.gateway()
    asked = made(gateway.policy.resources[VECTOR_SEARCH], given, caller.name, caller.attributes)
    return await gateway.ask(asked, caller, wait)


async def resources(caller: Caller) -> ResourcesOut:
    """Every resource, in the order of the policy."""
    gateway = await serving.gateway()
    return await serving.read(
        lambda: ResourcesOut(resources=[_resource(gateway, one, caller) for one in gateway.policy.resources.values()])
    )


async def explain(request_id: str, caller: Caller) -> ExplainOut:
    """One question of this caller's. Raises: NotFound."""
    gateway = await serving.gateway()
    row = gateway.accounts.recent(request_id) or await serving.read(lambda: accounting.explain(request_id))
    if row is None or row["agent_id"] != caller.name:
        raise NotFound("There is no such request, or it was somebody else's.", "provenance.request_id of an answer names it.")
    return ExplainOut(**row)


async def status() -> StatusOut:
    """How upstreams and heartbeats stand."""
    gateway = await serving.gateway()
    return await serving.read(lambda: _status(gateway))


def _resource(gateway: Gateway, one: Resource, caller: Caller) -> ResourceOut:
    now = gateway.now()
    sample = None if one.limit_per else Question(one, {}, caller.name)
    verdict = limiter.remaining(gateway.wants(sample, caller), now) if sample else None
    may_read = caller.may_read(one.uri)
    newest = Entry.objects.filter(resource=one.name, agent=caller.name if one.private else "").order_by("-fetched_at")
    fetched = newest.values_list("fetched_at", flat=True).first() if may_read else None
    return ResourceOut(
        uri=one.uri,
        title=one.title,
        description=one.description,
        may_read=may_read,
        unavailable=_unavailable(gateway, one),
        upstream=one.upstream,
        circuit=str(gateway.breaker(one.upstream).state(now).value),
        limit=one.limit,
        period_s=one.period,
        min_interval_s=one.min_interval,
        remaining=verdict.remaining if verdict else None,
        next_in_s=round(verdict.wait, 1) if verdict else None,
        ttl_s=one.ttl,
        stale_s=one.stale,
        timeout_s=one.timeout,
        newest_age_s=round(now - fetched, 1) if fetched else None,
        chain=list(one.chain),
        params=[_parameter(parameter) for parameter in one.params.values()],
    )


def _unavailable(gateway: Gateway, one: Resource) -> str | None:
    if gateway.policy.upstreams[one.upstream].kind == "off":
        return f"{one.upstream} is not configured in this installation."
    return None


def _parameter(one: Parameter) -> ParameterOut:
    return ParameterOut(name=one.name, type=one.type, default=one.default, values=list(one.values), required=one.is_required)


def _status(gateway: Gateway) -> StatusOut:
    import datetime as dt

    rows = {row.name: row for row in UpstreamState.objects.all()}
    now = gateway.now()
    upstreams = []
    for name, upstream in gateway.policy.upstreams.items():
        breaker, row = gateway.breaker(name), rows.get(name)
        upstreams.append(
            UpstreamOut(
                name=name,
                kind=upstream.kind,
                circuit=str(breaker.state(now).value),
                failures=breaker.failures,
                opened_until=moment(breaker.opened_until) if breaker.opened_until else None,
                answered_at=moment(row.answered_at.timestamp()) if row and row.answered_at else None,
                failed_at=moment(row.failed_at.timestamp()) if row and row.failed_at else None,
                error=row.error if row else "",
                detail=row.detail if row else "",
            )
        )
    when = dt.datetime.fromtimestamp(now, dt.UTC)
    states = [heartbeat.state(agent_id, when) for agent_id in heartbeat.agent_ids()]
    beats = [HeartbeatOut(**{name: one[name] for name in ("agent_id", "state", "received_at")}) for one in states]
    return StatusOut(upstreams=upstreams, heartbeats=beats)


__all__ = ["Forbidden", "caller_of", "explain", "read", "resources", "status", "vector_search"]
