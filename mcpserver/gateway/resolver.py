"""The resolver, which leads a request from the cache to the chain: fresh, else fetched, else of another resource, else stale.

A caller waits no longer than it said. What it does not wait for goes on in the background and fills the cache.
"""

import asyncio
import datetime as dt
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import orjson

from mcpserver.gateway import heartbeat_verification, payload_schemas
from mcpserver.gateway.auth import Caller
from mcpserver.gateway.cache import EntryCache
from mcpserver.gateway.canonical_json import hash_json
from mcpserver.gateway.circuit_breaker import CircuitBreaker
from mcpserver.gateway.fetcher import Fetch, Fetcher, copy_entry_with_data
from mcpserver.gateway.limiter import Quota
from mcpserver.gateway.models import Entry, UpstreamState
from mcpserver.gateway.process_context import ProcessContext
from mcpserver.gateway.request import GatewayRequest, build_chain_request
from mcpserver.gateway.request_log import POLICY_ROW, RequestLogger
from mcpserver.gateway.resource_policy import Policy, PolicyError
from mcpserver.gateway.response import CACHED, EXHAUSTED, FALLBACK, FRESH, STALE, Attempt, GatewayResponse, format_timestamp
from mcpserver.upstreams.client_interface import ENDS_CHAIN, NOT_GRANTED, SKIPPED, UpstreamAnswer, UpstreamClient

WAIT: Final = 20.0  # seconds that a request waits, unless it says otherwise
LONGEST_WAIT: Final = 65.0
LOOK: Final = 5.0  # seconds between two looks at what the desk and other processes did

log = logging.getLogger(__name__)


class Resolver:
    """The resolver of one process. `read_policy` returns the policy with the desk's numbers; `reload` has its files read again."""

    def __init__(
        self,
        policy: Policy,
        client: UpstreamClient,
        context: ProcessContext,
        *,
        counts: bool = True,
        max_bytes: int = 1_000_000_000,
        log_rows: int = 200_000,
        journal: Path | None = None,
        read_policy: Callable[[], Policy] | None = None,
        reload: Callable[[], None] = lambda: None,
    ) -> None:
        self.policy, self.client, self.context = policy, client, context
        self.cache = EntryCache(context)
        self.quota = Quota(policy, context, is_on=counts)
        self.breakers = {name: CircuitBreaker(policy.circuit, context) for name in policy.resources}
        self.logger = RequestLogger(context, self.cache, log_rows, max_bytes, journal)
        self.fetcher = Fetcher(policy, client, self.cache, self.quota, self.breakers, self.logger, context)
        self.read_policy = read_policy
        self._reload = reload
        self._looked_at = float("-inf")
        self._resets: dict[str, int] | None = None

    async def resolve(self, request: GatewayRequest, wait: float = WAIT) -> GatewayResponse:
        """Return the response to a request, within `wait` seconds. Raises: Unauthorized, Forbidden."""
        request.caller.expect_grant(request.resource.uri)
        self.context.reset_on_new_loop()
        began = time.perf_counter()
        response = await self._find_response(request, asyncio.get_running_loop().time() + wait)
        self._log_response(response, request.caller, began)
        return response

    def repeat_cached_response(self, request: GatewayRequest, entry: Entry, before: GatewayResponse) -> GatewayResponse:
        """Return once more what was answered from this entry: with an id and an age of its own, logged and counted."""
        began = time.perf_counter()
        response = self._build_response(request, CACHED, entry, before=before)
        self._log_response(response, request.caller, began)
        return response

    def get_fresh_entry_in_memory(self, request: GatewayRequest) -> Entry | None:
        now, entry = self.context.now(), self.cache.get(request.key)
        if entry is None or not entry.is_fresh(now, self.client.marker(request.resource.upstream)):
            return None
        if now > entry.fetched_at + self.policy.defaults.refresh_at * (entry.fresh_until - entry.fetched_at):
            self.fetcher.refresh(request)
        return entry

    async def follow_desk_changes(self) -> None:
        """Follow the desk's numbers and `gateway forget`. What cannot be read changes nothing."""
        try:
            await self.cache.drop_deleted_entries()
            resets = await self.context.read(lambda: dict(UpstreamState.objects.values_list("name", "resets")))
            policy = await self.context.read(self.read_policy) if self.read_policy is not None else self.policy
        except PolicyError as error:
            log.error("The overrides from the desk could not be applied: %s", error)
        except Exception:
            log.exception("Changes by the desk and other processes cannot be read.")
        else:
            before, self._resets = self._resets, resets
            for name, breaker in self.breakers.items():
                upstream = self.policy.resources[name].upstream
                if before is not None and resets.get(upstream, 0) != before.get(upstream, 0):
                    breaker.reset()
            if before is not None and resets.get(POLICY_ROW, 0) != before.get(POLICY_ROW, 0):
                self._reload()
            if policy.resources != self.policy.resources:
                self.policy = policy

    async def close(self) -> None:
        """Give up what goes on in the background, write what waits, and let go of every upstream."""
        await self.context.cancel_tasks()
        await self.client.close()
        await self.logger.flush()

    def _log_response(self, response: GatewayResponse, caller: Caller, began: float) -> None:
        cost = self.policy.resources[response.resource].cost
        self.logger.log_response(response, caller.name, time.perf_counter() - began, cost)
        now = self.context.steady()
        if abs(now - self._looked_at) > LOOK:
            self._looked_at = now
            self.context.start_task(self.follow_desk_changes())

    async def _find_response(self, request: GatewayRequest, deadline: float) -> GatewayResponse:
        entry = await self._find_fresh_entry(request) or await self._find_last_heartbeat_answer(request)
        if entry is not None:
            return self._build_response(request, CACHED, entry)
        attempts: list[Attempt] = []
        fetch = await self.fetcher.fetch(request, deadline, attempts)
        if fetch is not None and fetch.entry is not None:
            return self._build_response(request, FRESH, fetch.entry, attempts, fetch)
        entry = await self._follow_chain(request, deadline, attempts)
        kind = request.resource.answers
        if entry is not None:
            other = self.policy.resources[entry.resource].answers
            if other != kind:
                entry = copy_entry_with_data(entry, entry.key, kind, payload_schemas.convert_payload(entry.data, other, kind))
            return self._build_response(request, FALLBACK, entry, attempts, fetch)
        if kind == "transactions":  # those that were seen in answers to any question answer each
            entry = await self.cache.find(request.history_key)
            if entry is not None:
                wallet, rows = str(request.params.get("wallet_address") or "").lower(), entry.data["transactions"]
                found = [row for row in rows if not wallet or wallet in (row["from"].lower(), row["to"].lower())]
                entry = copy_entry_with_data(entry, request.key, kind, {"transactions": found})
        else:
            entry = await self.cache.find(request.key)
        if entry is not None and entry.is_usable(self.context.now()):
            return self._build_response(request, STALE, entry, attempts, fetch)
        return self._build_response(request, EXHAUSTED, None, attempts, fetch)

    async def _find_fresh_entry(self, request: GatewayRequest) -> Entry | None:
        entry = self.get_fresh_entry_in_memory(request)
        if entry is None and request.resource.get_ttl(request.params) and not self.fetcher.is_fetching(request):
            await self.cache.load_entry_from_table(request.key)
            entry = self.get_fresh_entry_in_memory(request)
        return entry

    async def _find_last_heartbeat_answer(self, request: GatewayRequest) -> Entry | None:
        """Return the heartbeat that answered this request last, until the next is due: its response may have been lost."""
        resource = request.resource
        if resource.answers != "heartbeat" or self.fetcher.is_fetching(request):
            return None
        now = dt.datetime.fromtimestamp(self.context.now(), dt.UTC)
        since = now - dt.timedelta(seconds=max(resource.min_interval, resource.period / resource.limit))
        try:
            found = await self.context.read(partial(heartbeat_verification.find_answered_heartbeat, request.key, since, now))
        except Exception:
            log.exception("The table of heartbeats cannot be read.")
            return None
        if found is None:
            return None
        data, at = orjson.loads(bytes(found.data)), found.received_at.timestamp()
        note = f"This heartbeat was already handed out at {format_timestamp(at)}: carry out each instruction_id once."
        entry = self.fetcher.build_entry(request, UpstreamAnswer(data, found.untrusted, note=note))
        entry.fetched_at = entry.fresh_until = entry.gone_after = at
        return entry

    async def _follow_chain(self, request: GatewayRequest, deadline: float, attempts: list[Attempt]) -> Entry | None:
        """Return what another resource answers, in the order of the policy. An upstream that does not answer is not asked twice."""
        for uri in request.resource.chain:
            member = build_chain_request(self.policy, uri, request)
            if member is None:
                attempts.append(self.fetcher.to_attempt(uri, request.resource.upstream, SKIPPED, "An agent attribute is missing."))
                continue
            upstream = member.resource.upstream
            if not request.caller.may_read(member.resource.uri):
                attempts.append(self.fetcher.to_attempt(member.uri, upstream, NOT_GRANTED, "The agent may not read it."))
                continue
            if (entry := await self._find_fresh_entry(member)) is not None:
                return entry
            if any(attempt.upstream == upstream and attempt.error in ENDS_CHAIN for attempt in attempts):
                detail = f"{upstream} does not answer at the moment."
                attempts.append(self.fetcher.to_attempt(member.uri, upstream, SKIPPED, detail))
                continue
            fetch = await self.fetcher.fetch(member, deadline, attempts, max_attempts=1)
            if fetch is not None and fetch.entry is not None:
                return fetch.entry
        return None

    def _build_response(
        self,
        request: GatewayRequest,
        outcome: str,
        entry: Entry | None,
        attempts: Sequence[Attempt] = (),
        fetch: Fetch | None = None,
        before: GatewayResponse | None = None,
    ) -> GatewayResponse:
        resource = request.resource
        response = GatewayResponse(
            request_id=secrets.token_hex(12),
            resource=resource.name,
            asked=request.uri,
            outcome=outcome,
            now=self.context.now(),
            private=resource.private,
            attempts=list(attempts),
            remaining=fetch.remaining if fetch else None,
        )
        if entry is None:
            response.is_error = resource.exhausted == "error"
            response.data_json = b"null" if response.is_error else orjson.dumps(payload_schemas.EMPTY[resource.answers])
        else:
            response.answered = request.uri if entry.key == request.key else entry.uri
            response.upstream, response.untrusted = entry.upstream, entry.untrusted
            response.fetched_at, response.fresh_until = entry.fetched_at, entry.fresh_until
            most, (data_json, sha256, count) = request.max_items, (bytes(entry.body), entry.sha256, entry.count)
            if before:
                data_json, sha256, count = before.data_json, before.sha256 or "", before.count
            elif most is not None and most < count:
                kind = self.policy.resources[entry.resource].answers
                data: Any = payload_schemas.list_items(kind, entry.data)[:most]
                if kind in payload_schemas.LISTS:
                    data = {**entry.data, payload_schemas.LISTS[kind]: data}
                data_json, sha256, count = orjson.dumps(data), hash_json(data), most
            response.data_json, response.sha256, response.count = data_json, sha256, count
        response.note = " ".join(filter(None, (response.explain_substitute(resource.title), entry.note if entry else "")))
        return response
