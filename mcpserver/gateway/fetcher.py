"""Fetches from upstreams: one fetch for all equal requests, counted before it is sent, retried, validated and cached."""

import asyncio
import datetime as dt
import itertools
import logging
from collections.abc import Mapping
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Final

import orjson
import rfc8785

from config.errors import InternalError
from mcpserver.gateway import heartbeat_verification, payload_schemas
from mcpserver.gateway.cache import EntryCache
from mcpserver.gateway.canonical_json import hash_json
from mcpserver.gateway.circuit_breaker import CircuitBreaker
from mcpserver.gateway.limiter import Quota
from mcpserver.gateway.models import Entry
from mcpserver.gateway.process_context import BOOT, ProcessContext
from mcpserver.gateway.request import GatewayRequest
from mcpserver.gateway.request_log import RequestLogger
from mcpserver.gateway.resource_policy import Policy
from mcpserver.gateway.response import Attempt, format_timestamp
from mcpserver.upstreams import client_interface
from mcpserver.upstreams.client_interface import UpstreamAnswer, UpstreamCall, UpstreamClient, UpstreamError

REFRESH_PAUSE: Final = 10.0  # seconds after a refresh began, before the same entry is refreshed again
MAX_DATA: Final = 1_000_000  # bytes of an answer's data as JSON
MAX_RETRY_WAIT: Final = 65.0  # seconds; an upstream that asks for more patience is asked again by the next request

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Fetch:
    """A fetch under way, for which all equal requests wait. Times are of the loop's clock."""

    request: GatewayRequest
    deadline: float  # of the request that began it: until then our own spacing is waited for
    is_refresh: bool = False  # nobody waits for it
    attempts: list[Attempt] = field(default_factory=list)
    entry: Entry | None = None
    is_over: bool = False
    next_at: float | None = None  # when the next attempt begins, while it is waited for
    remaining: int | None = None
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def notify_waiting(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    async def pause_before_retry(self, seconds: float) -> None:
        self.next_at = asyncio.get_running_loop().time() + seconds
        self.notify_waiting()
        await asyncio.sleep(seconds)
        self.next_at = None


@dataclass(frozen=True)
class Fetcher:
    policy: Policy
    client: UpstreamClient
    cache: EntryCache
    quota: Quota
    breakers: Mapping[str, CircuitBreaker]
    logger: RequestLogger
    context: ProcessContext
    _fetches: dict[str, Fetch] = field(default_factory=dict, init=False)
    _refreshed_at: dict[str, float] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self.context.on_new_loop.append(self._fetches.clear)

    def is_fetching(self, request: GatewayRequest) -> bool:
        return request.key in self._fetches

    async def fetch(
        self, request: GatewayRequest, deadline: float, attempts: list[Attempt], max_attempts: int | None = None
    ) -> Fetch | None:
        """Ask the upstream, or join an equal request; wait until `deadline` at most. None if it cannot be asked."""
        resource, fetch = request.resource, self._fetches.get(request.key)
        if fetch is None:
            if refusal := self.client.explain_refusal(_build_upstream_call(request)):
                attempts.append(self.to_attempt(request.uri, resource.upstream, refusal.code, refusal.detail))
                return None
            fetch = self._start_fetch(Fetch(request, deadline), max_attempts or resource.attempts)
        loop = asyncio.get_running_loop()
        while fetch.entry is None and not fetch.is_over and (left := deadline - loop.time()) > 0:
            if fetch.next_at is not None and fetch.next_at + resource.timeout > deadline:
                break
            with suppress(TimeoutError):
                await asyncio.wait_for(fetch.changed.wait(), left)
        attempts += fetch.attempts
        if fetch.entry is None and not fetch.is_over and fetch.next_at is None:
            detail = "No answer within this request's time; fetching continues in the background."
            attempts.append(self.to_attempt(request.uri, resource.upstream, client_interface.TIMEOUT, detail))
        return fetch

    def refresh(self, request: GatewayRequest) -> None:
        now, last = self.context.steady(), self._refreshed_at.get(request.key, float("-inf"))
        if self.is_fetching(request) or now < last + REFRESH_PAUSE or self.client.explain_refusal(_build_upstream_call(request)):
            return
        if len(self._refreshed_at) >= 10_000:
            self._refreshed_at.clear()
        self._refreshed_at[request.key] = now
        self._start_fetch(Fetch(request, asyncio.get_running_loop().time(), is_refresh=True), 1)

    def find_worst_breaker(self, upstream: str) -> CircuitBreaker:
        of = (breaker for name, breaker in self.breakers.items() if self.policy.resources[name].upstream == upstream)
        return max(of, key=lambda breaker: breaker.failures, default=CircuitBreaker(self.policy.circuit, self.context))

    def to_attempt(self, uri: str, upstream: str, code: str, detail: str) -> Attempt:
        return Attempt(uri, upstream, self.context.now(), error=code, detail=detail)

    def _start_fetch(self, fetch: Fetch, max_attempts: int) -> Fetch:
        self._fetches[fetch.request.key] = fetch
        self.context.start_task(self._retry_until_done(fetch, max_attempts))
        return fetch

    async def _retry_until_done(self, fetch: Fetch, max_attempts: int) -> None:
        request, upstream = fetch.request, fetch.request.resource.upstream
        try:
            for number in itertools.count(1):
                try:
                    fetch.entry = await self._try_fetch_once(fetch, is_retry=number > 1)
                    break
                except UpstreamError as error:
                    waits = self.policy.defaults.waits
                    wait = waits[min(number, len(waits)) - 1] if waits else 0.0
                    wait = max(wait, error.retry_after or 0.0)  # a wait that the upstream tells wins if it is longer
                    is_timeout = error.code == client_interface.TIMEOUT
                    most = min(max_attempts, request.resource.timeout_attempts) if is_timeout else max_attempts
                    if error.code not in client_interface.RETRIED or number >= most or wait > MAX_RETRY_WAIT:
                        break
                await fetch.pause_before_retry(wait)
        except Exception:
            log.exception("Asking %s failed on our side.", upstream)
            fetch.attempts.append(self.to_attempt(request.uri, upstream, client_interface.INTERNAL, InternalError().message))
        finally:
            fetch.is_over = True
            if self._fetches.get(request.key) is fetch:
                del self._fetches[request.key]
            fetch.notify_waiting()

    async def _try_fetch_once(self, fetch: Fetch, *, is_retry: bool) -> Entry:
        """Raises: UpstreamError."""
        request, upstream = fetch.request, fetch.request.resource.upstream
        breaker, attempt = self.breakers[request.resource.name], Attempt(request.uri, upstream, self.context.now())
        fetch.attempts.append(attempt)
        try:
            if not breaker.admit_attempt():
                detail = f"{request.resource.title} of {upstream} is not asked for now, after failures ({breaker.error})."
                raise UpstreamError(client_interface.CIRCUIT_OPEN, detail, max(0.0, breaker.open_for))
            try:
                await self._acquire_quota(fetch, is_retry=is_retry)
            except BaseException:
                breaker.release_probe()
                raise
            attempt.at, attempt.is_sent = self.context.now(), True
            began = asyncio.get_running_loop().time()
            try:
                entry = await self._ask_upstream(request)
            finally:
                attempt.took = asyncio.get_running_loop().time() - began
        except UpstreamError as error:
            attempt.error, attempt.detail, attempt.retry_after = error.code, error.detail, error.retry_after
            attempt.words = error.words
            self._note_failure(request, error)
            fetch.notify_waiting()
            raise
        if breaker.note_success():
            log.warning("%s of %s answers again.", request.resource.name, upstream)
        self.logger.log_upstream_state(upstream, self.find_worst_breaker(upstream))
        return entry

    async def _acquire_quota(self, fetch: Fetch, *, is_retry: bool) -> None:
        """Count an attempt before it is sent. Raises: UpstreamError where it would have to wait too long."""
        loop, resource = asyncio.get_running_loop(), fetch.request.resource
        while limits := self.quota.list_limits(fetch.request, is_retry=is_retry, is_refresh=fetch.is_refresh):
            try:
                wait, fetch.remaining = await self.quota.acquire(limits)
            except Exception as error:
                log.exception("Limits cannot be counted.")
                detail = "Calls cannot be counted at the moment, so no upstream is asked."
                raise UpstreamError(client_interface.INTERNAL, detail) from error
            if not wait:
                return
            if loop.time() + wait + resource.timeout <= fetch.deadline:
                await fetch.pause_before_retry(wait)
            elif resource.retry_limit and not is_retry:
                # Nothing came of the call that was counted last, or it would be answered again: this is its retry.
                is_retry = True
            else:
                spacing = f", {resource.min_interval:g} s apart" if resource.min_interval else ""
                limit = f"Our own limit for {resource.upstream} ({resource.limit} in {resource.period:g} s{spacing})"
                raise UpstreamError(client_interface.LIMITED_HERE, f"{limit} allows the next request in {wait:.0f} s.", wait)

    def _note_failure(self, request: GatewayRequest, error: UpstreamError) -> None:
        if error.code in (client_interface.CIRCUIT_OPEN, client_interface.LIMITED_HERE):
            return
        resource, upstream, breaker = request.resource, request.resource.upstream, self.breakers[request.resource.name]
        if error.code not in client_interface.OPENS_CIRCUIT:
            breaker.release_probe()
        elif breaker.count_failure(error.code, request.key if error.is_of_call else ""):
            until = format_timestamp(breaker.opened_until)
            log.error("%s of %s is not asked until %s: %s %s", resource.name, upstream, until, error.detail, error.words)
        if error.code in (client_interface.UNAUTHORIZED, client_interface.INVALID):  # for the operator to mend
            log.error("%s: %s (%s)", upstream, error.detail, error.code)
        self.logger.log_upstream_state(upstream, self.find_worst_breaker(upstream), error)

    async def _ask_upstream(self, request: GatewayRequest) -> Entry:
        """Return the validated answer of the upstream, stored. Raises: UpstreamError."""
        resource = request.resource
        try:
            async with asyncio.timeout(resource.timeout):
                answer = await self.client.ask(_build_upstream_call(request))
        except TimeoutError:
            detail = f"{resource.upstream} did not answer within {resource.timeout:g} s."
            raise UpstreamError(client_interface.TIMEOUT, detail) from None
        data = payload_schemas.validate_payload(resource, request.params, answer.data)
        if resource.answers == "heartbeat":
            agent_id, key = request.params["agent_id"], self.policy.upstreams[resource.upstream].public_key
            now = dt.datetime.fromtimestamp(self.context.now(), dt.UTC)
            record = partial(heartbeat_verification.record_beat, agent_id, data, key, now, request.key, untrusted=answer.untrusted)
            data, reason = await self.context.write(record)
            if reason:
                log.error("A heartbeat for %s was rejected: %s.", agent_id, reason)
                raise UpstreamError(client_interface.INVALID, f"The heartbeat was rejected: {reason}.")
        entry = self.build_entry(request, replace(answer, data=data))
        if entry.gone_after > entry.fetched_at:
            # Stored before it is answered: an entry that was given is there after a crash.
            if resource.answers == "transactions":
                self.cache.add(await self._build_history(request, entry))
            if resource.answers != "transactions" or all(row["status"] != "pending" for row in data["transactions"]):
                self.cache.add(entry)
            await self.cache.write_pending_entries()
        return entry

    def build_entry(self, request: GatewayRequest, answer: UpstreamAnswer) -> Entry:
        """Raises: UpstreamError for data that are too large or no JSON."""
        resource, now = request.resource, self.context.now()
        ttl = resource.get_ttl(request.params)
        is_stored = ttl and (resource.private or not answer.is_private)
        ttl = min(ttl, ttl if answer.ttl is None else answer.ttl) if is_stored else 0.0  # as short as the upstream wants it
        entry = Entry(
            key=request.key,
            resource=resource.name,
            agent=request.owner,
            attributes_sha256=request.attributes_sha256,
            uri=request.build_uri(with_local=False),
            upstream=resource.upstream,
            untrusted=answer.untrusted,
            marker=answer.marker,
            note=answer.note,
            fetched_at=now,
            fresh_until=now + ttl,
            gone_after=now + max(ttl, resource.stale) if is_stored else now,
            steady_at=self.context.steady(),
            boot=BOOT,
        )
        try:
            _set_entry_data(entry, resource.answers, answer.data)
        except (rfc8785.CanonicalizationError, RecursionError) as error:
            raise UpstreamError(client_interface.INVALID, "The answer contains something that is not JSON.") from error
        if entry.size > MAX_DATA:
            raise UpstreamError(client_interface.INVALID, f"The answer has {entry.size:,} bytes; the limit is {MAX_DATA:,}.")
        return entry

    async def _build_history(self, request: GatewayRequest, entry: Entry) -> Entry:
        """Return an entry of all transactions that were ever seen, for the time when nobody answers."""
        await self.cache.load_entry_from_table(request.history_key)  # another process may have added to it
        before = [await self.cache.find(key) for key in (request.history_key, request.key)]
        found = payload_schemas.merge_settled_transactions([entry.data, *(old.data for old in before if old is not None)])
        history = copy_entry_with_data(entry, request.history_key, request.resource.answers, found)
        history.fresh_until = entry.fetched_at
        history.note = "These are all the transactions seen so far that can no longer change."
        return history


def copy_entry_with_data(entry: Entry, key: str, kind: str, data: Any) -> Entry:
    other = copy(entry)
    other.key = key
    _set_entry_data(other, kind, data)
    return other


def _set_entry_data(entry: Entry, kind: str, data: Any) -> None:
    """Raises: CanonicalizationError, RecursionError for what is no JSON."""
    entry.data, entry.sha256, entry.body = data, hash_json(data), orjson.dumps(data)
    entry.size, entry.count = len(entry.body), len(payload_schemas.list_items(kind, data))


def _build_upstream_call(request: GatewayRequest) -> UpstreamCall:
    resource = request.resource
    return UpstreamCall(
        resource.upstream,
        resource.name,
        request.uri,
        request.upstream_params,
        request.caller.attributes,
        is_exact=resource.answers == "heartbeat",
        answers=resource.answers,
    )
