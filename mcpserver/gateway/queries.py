"""The queries of the gateway, for REST, MCP and commands.

The descriptions of the schemas are part of the OpenAPI document.
"""

import datetime as dt
import re
from collections.abc import Mapping
from typing import Any

from ninja import Field, Schema

from config.errors import InvalidArgument, NotFound
from mcpserver.gateway import auth, heartbeat_verification, limiter, runtime
from mcpserver.gateway.auth import Caller
from mcpserver.gateway.models import Entry, Heartbeat, RequestLog, UpstreamState
from mcpserver.gateway.request import GatewayRequest, build_request, parse_request
from mcpserver.gateway.resolver import WAIT, Resolver
from mcpserver.gateway.resource_policy import Resource
from mcpserver.gateway.response import AttemptOut, GatewayResponse, format_timestamp
from wire.schemas import build_from


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
    circuit: str = Field(description="closed: asked. open: paused after failures. half_open: the next request probes it.")
    limit: int
    period_s: float
    min_interval_s: float
    remaining: int | None = Field(description="Calls left in the window; null where a parameter decides, and for our own wire.")
    next_in_s: float | None = Field(description="Seconds until the next call may go out.")
    ttl_s: float
    stale_s: float
    timeout_s: float
    newest_age_s: float | None = Field(description="Age of the newest stored answer that this caller may read.")
    chain: list[str]
    params: list[ParameterOut]


class HeartbeatOut(Schema):
    agent_id: str
    state: str
    mode: str = Field(description="active; or paused (begin no new work): the network is silent or wants maintenance or an update.")
    received_at: str | None


class ResourcesOut(Schema):
    resources: list[ResourceOut]
    heartbeats: list[HeartbeatOut] = Field(default=[], description="For the network's agents, if the caller may read heartbeats.")


class ExplainOut(Schema):
    """A line of the log."""

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
    """State of an upstream: the circuit of this process, and what any process noted last."""

    name: str
    kind: str
    circuit: str
    failures: int
    opened_until: str | None
    answered_at: str | None
    failed_at: str | None
    error: str
    detail: str


class StatusOut(Schema):
    upstreams: list[UpstreamOut]
    heartbeats: list[HeartbeatOut]


async def find_caller(token: str | None) -> Caller:
    cached = auth.get_cached_caller(token)
    return cached if cached is not None else await runtime.run_read_query(lambda: auth.find_caller(token))


async def read_resource(uri: str, caller: Caller, wait: float = WAIT) -> GatewayResponse:
    resolver = await runtime.get_resolver()
    request = parse_request(resolver.policy, uri, caller)
    if request.resource.tool_only:
        raise InvalidArgument(f"{request.resource.uri} needs more than fits into a URL.", "Call the tool gateway_vector_search.")
    return await resolver.resolve(request, wait)


async def search_vectors(given: Mapping[str, Any], caller: Caller, wait: float = WAIT) -> GatewayResponse:
    resolver = await runtime.get_resolver()
    request = build_request(resolver.policy.resources["weaviate_vector_search"], given, caller)
    return await resolver.resolve(request, wait)


async def list_resources(caller: Caller) -> ResourcesOut:
    resolver = await runtime.get_resolver()
    return await runtime.run_read_query(
        lambda: ResourcesOut(
            resources=[_describe_resource(resolver, resource, caller) for resource in resolver.policy.resources.values()],
            heartbeats=_list_heartbeats(resolver) if caller.may_read("openclaw://heartbeat") else [],
        )
    )


async def get_request_log(request_id: str, caller: Caller) -> ExplainOut:
    """Return the log of a request of this caller. Raises: NotFound."""
    resolver = await runtime.get_resolver()
    # A database may take no text that cannot be an id, such as one with NUL.
    if not re.fullmatch("[0-9a-f]{1,32}", request_id):
        raise NotFound("This is not a request's id.", "provenance.request_id of an answer names it: small letters a-f and digits.")
    if resolver.logger.has_unwritten_rows:
        await resolver.logger.flush()
    rows = RequestLog.objects.filter(request_id=request_id, agent_id=caller.name).values(*ExplainOut.model_fields)
    row = await runtime.run_read_query(rows.first)
    if row is None:
        raise NotFound("There is no such request, or it was somebody else's.", "provenance.request_id of an answer names it.")
    return ExplainOut(**row | {"timestamp": format_timestamp(row["timestamp"].timestamp())})


async def get_status() -> StatusOut:
    resolver = await runtime.get_resolver()
    return await runtime.run_read_query(lambda: _read_status(resolver))


def _describe_resource(resolver: Resolver, resource: Resource, caller: Caller) -> ResourceOut:
    now, steady = resolver.context.now(), resolver.context.steady()
    sample = GatewayRequest(resource, {}, caller)
    limits = [] if resource.limit_per else resolver.quota.list_limits(sample)
    admission = limiter.peek_admission(limits, now, steady) if limits else None
    may_read = caller.may_read(resource.uri)
    entries = Entry.objects.filter(resource=resource.name, agent=sample.owner, attributes_sha256=sample.attributes_sha256)
    fetched = entries.order_by("-fetched_at").values_list("fetched_at", flat=True).first() if may_read else None
    is_off = resolver.policy.upstreams[resource.upstream].kind == "off"
    seconds = ("period", "min_interval", "ttl", "stale", "timeout")
    return build_from(
        ResourceOut,
        resource,
        **{f"{name}_s": getattr(resource, name) for name in seconds},
        may_read=may_read,
        unavailable=f"{resource.upstream} is not configured in this installation." if is_off else None,
        circuit=resolver.breakers[resource.name].state.value,
        remaining=admission.remaining if admission else None,
        next_in_s=round(admission.wait, 1) if admission else None,
        newest_age_s=round(max(0.0, now - fetched), 1) if fetched else None,
        params=[
            ParameterOut(name=one.name, type=one.type, default=one.default, values=list(one.values), required=one.is_required)
            for one in resource.params.values()
        ],
    )


def _read_status(resolver: Resolver) -> StatusOut:
    rows = {row.name: row for row in UpstreamState.objects.all()}
    upstreams = []
    for name, upstream in resolver.policy.upstreams.items():
        breaker, row = resolver.fetcher.find_worst_breaker(name), rows.get(name, UpstreamState())
        moments = {"answered_at": row.answered_at, "failed_at": row.failed_at}
        upstreams.append(
            UpstreamOut(
                name=name,
                kind=upstream.kind,
                circuit=breaker.state.value,
                failures=breaker.failures,
                opened_until=format_timestamp(breaker.opened_until),
                **{name: format_timestamp(moment.timestamp()) if moment else None for name, moment in moments.items()},
                error=row.error,
                detail=row.detail,
            )
        )
    return StatusOut(upstreams=upstreams, heartbeats=_list_heartbeats(resolver))


def _list_heartbeats(resolver: Resolver) -> list[HeartbeatOut]:
    now = dt.datetime.fromtimestamp(resolver.context.now(), dt.UTC)
    agent_ids = Heartbeat.objects.order_by("agent_id").values_list("agent_id", flat=True).distinct()
    return [HeartbeatOut.model_validate(heartbeat_verification.describe_agent_state(agent_id, now)) for agent_id in agent_ids]
