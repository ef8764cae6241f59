"""Asking upstreams: one fetching for all who ask the same, counted before it is sent, tried again, checked, and kept."""

import asyncio
import datetime as dt
import logging
from dataclasses import dataclass, field
from typing import Any, Final

import orjson
import rfc8785

from config.errors import InternalError
from sources.gateway import answers, heartbeat, reach
from sources.gateway.asked import Question
from sources.gateway.callers import ANYBODY, Caller
from sources.gateway.canonical import digest
from sources.gateway.circuit import Breaker
from sources.gateway.counting import Counting
from sources.gateway.entries import Kept
from sources.gateway.outcome import Tried, moment
from sources.gateway.policy import Policy
from sources.gateway.pursuit import Pursuit, attempts_of
from sources.gateway.reach import Call, Reach, UpstreamError

BEHIND_REST: Final = 10.0  # seconds after a refresh behind an answer failed, before another is tried
MAX_DATA: Final = 1_000_000  # bytes of an answer's data as JSON

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Job:
    """The fetching of one question: its attempts so far, and what came of them. All who ask the same wait for it."""

    question: Question
    deadline: float
    """Of whoever began it, on the loop's clock: within it, our own spacing is waited for."""
    tried: list[Tried] = field(default_factory=list)
    found: Kept | None = None
    is_over: bool = False
    next_at: float | None = None
    """When the next attempt begins, while it is waited for."""
    remaining: int | None = None
    sent: int = 0
    _waiting: set["asyncio.Future[None]"] = field(default_factory=set)

    def tell(self) -> None:
        for waiting in self._waiting:
            if not waiting.done():
                waiting.set_result(None)

    async def changed(self, most: float) -> None:
        """Wait until something happened, at most so many seconds."""
        waiting: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(waiting)
        try:
            await asyncio.wait_for(waiting, most)
        except TimeoutError:
            pass
        finally:
            self._waiting.discard(waiting)


class Fetching(Counting):
    """The half of a gateway that asks."""

    def __init__(self, policy: Policy, to: Reach, **more: Any) -> None:
        super().__init__(policy, to, **more)
        self._breakers = {name: Breaker(policy.opens_at, policy.first_wait, policy.longest_wait) for name in policy.upstreams}
        self._jobs: dict[str, Job] = {}
        self._resting: dict[str, float] = {}

    def _begin_anew(self) -> None:
        super()._begin_anew()
        self._jobs.clear()

    async def _fetched(
        self, asked: Question, caller: Caller, deadline: float, tried: list[Tried], attempts: int | None = None
    ) -> Job | None:
        """Ask the upstream, or join whoever asks it the same; wait no longer than is worth it. None if it need not be asked."""
        loop = asyncio.get_running_loop()
        job = self._jobs.get(asked.key)
        if job is None:
            cannot = self.reach.cannot(self._call(asked))
            if cannot is not None:
                tried.append(self._not_tried(asked.uri, asked.resource.upstream, cannot.code, cannot.detail))
                return None
            job = self._begin(asked, caller, deadline, attempts)
        while job.found is None and not job.is_over:
            fits = job.next_at is None or job.next_at + asked.resource.timeout <= deadline
            left = deadline - loop.time()
            if not fits or left <= 0:
                break
            await job.changed(left)
        tried += job.tried
        if job.found is None and not job.is_over and job.next_at is None:
            tried.append(
                self._not_tried(
                    asked.uri,
                    asked.resource.upstream,
                    reach.TIMEOUT,
                    "No answer within the time of this question; it goes on behind.",
                )
            )
        return job

    def _begin(self, asked: Question, caller: Caller, deadline: float, attempts: int | None) -> Job:
        job = self._jobs[asked.key] = Job(asked, deadline)
        self._go(self._pursue(job, caller, attempts))
        return job

    def _refresh(self, asked: Question) -> None:
        """Renew an entry behind the answer that it gives."""
        if asked.key in self._jobs or self._resting.get(asked.key, 0.0) > self.now() or self.reach.cannot(self._call(asked)):
            return
        self._resting[asked.key] = self.now() + BEHIND_REST
        if len(self._resting) > 10_000:
            self._resting.clear()
        job = self._jobs[asked.key] = Job(asked, asyncio.get_running_loop().time())
        self._go(self._pursue(job, ANYBODY, 1))

    async def _pursue(self, job: Job, caller: Caller, attempts: int | None) -> None:
        """All attempts of a job."""
        one = job.question.resource
        pursuit = Pursuit(self.policy.waits, attempts or one.attempts, one.timeout_attempts)
        try:
            async for number in attempts_of(pursuit, lambda at: self._until(job, at)):
                job.next_at = None
                with pursuit.attempt():
                    job.found = await self._attempt(job, caller, number)
        except UpstreamError:
            pass  # it stands in `tried`
        except Exception:
            log.exception("Asking %s failed on our side.", one.upstream)
            job.tried.append(self._not_tried(job.question.uri, one.upstream, reach.INTERNAL, InternalError().message))
        finally:
            job.is_over = True
            if self._jobs.get(job.question.key) is job:
                del self._jobs[job.question.key]
            job.tell()

    def _until(self, job: Job, seconds: float) -> None:
        job.next_at = asyncio.get_running_loop().time() + seconds
        job.tell()

    async def _attempt(self, job: Job, caller: Caller, number: int) -> Kept:
        """One attempt. Raises: UpstreamError."""
        asked, upstream = job.question, job.question.resource.upstream
        breaker, tried = self._breakers[upstream], Tried(asked.uri, upstream, self.now())
        job.tried.append(tried)
        try:
            if not breaker.may_ask(self.now()):
                left = max(0.0, breaker.opened_until - self.now())
                raise UpstreamError(reach.CIRCUIT_OPEN, f"{upstream} is left alone after failures ({breaker.error}).", left)
            try:
                await self._counted(job, caller, number)
            except BaseException:
                breaker.let_go()
                raise
            tried.at, tried.sent = self.now(), True
            job.sent += 1
            began = asyncio.get_running_loop().time()
            try:
                found = await self._reached(asked)
            finally:
                tried.took = asyncio.get_running_loop().time() - began
        except UpstreamError as error:
            tried.error, tried.detail, tried.retry_after = error.code, error.detail, error.retry_after
            self._failed(upstream, error)
            job.tell()
            raise
        if breaker.worked():
            log.warning("%s answers again.", upstream)
        self.accounts.upstream(upstream, breaker, self.now(), worked=True)
        return found

    async def _reached(self, asked: Question) -> Kept:
        """What the upstream answers, checked. Raises: UpstreamError."""
        one = asked.resource
        try:
            async with asyncio.timeout(one.timeout):
                reached = await self.reach.ask(self._call(asked))
        except TimeoutError:
            raise UpstreamError(reach.TIMEOUT, f"{one.upstream} did not answer within {one.timeout:g} s.") from None
        data = answers.fitted(one.answers, reached.data)
        check = answers.CHECKS.get(one.name)
        if check is not None and not check(asked.params, data):
            raise UpstreamError(reach.INVALID, "The answer is of something else than was asked.")
        if one.answers == "heartbeat":
            data = await self._recorded(asked, data)
        return await self._kept(asked, data, reached)

    async def _recorded(self, asked: Question, beat: dict[str, Any]) -> dict[str, Any]:
        """The heartbeat, verified. Raises: UpstreamError for one that is rejected."""
        key = self.policy.upstreams[asked.resource.upstream].public_key
        now = dt.datetime.fromtimestamp(self.now(), dt.UTC)
        found, reason = await self._run(lambda: heartbeat.record(asked.params["agent_id"], beat, key, now))
        if reason:
            log.error("A heartbeat for %s was rejected: %s.", asked.params["agent_id"], reason)
            raise UpstreamError(reach.INVALID, f"The heartbeat was rejected: {reason}.")
        checked: dict[str, Any] = found
        return checked

    async def _kept(self, asked: Question, data: Any, reached: reach.Reached) -> Kept:
        one, now = asked.resource, self.now()
        ttl = one.ttl_for(asked.params)
        try:
            sha256 = digest(data)
        except (rfc8785.CanonicalizationError, RecursionError) as error:
            raise UpstreamError(reach.INVALID, "The answer holds what is no JSON.") from error
        size = len(orjson.dumps(data))
        if size > MAX_DATA:
            raise UpstreamError(reach.INVALID, f"The answer has {size:,} bytes; at most {MAX_DATA:,} are taken.")
        entry = Kept(
            key=asked.key,
            resource=one.name,
            agent=asked.agent if one.private else "",
            uri=asked.shared_uri,
            data=data,
            sha256=sha256,
            count=len(answers.items(one.answers, data)),
            upstream=one.upstream,
            untrusted=reached.untrusted,
            marker=reached.marker,
            note=reached.note,
            fetched_at=now,
            fresh_until=now + ttl,
            gone_after=now + max(ttl, one.stale) if ttl else now,
            size=size,
        )
        if ttl:
            await self._store(asked, entry)
        return entry

    async def _store(self, asked: Question, entry: Kept) -> None:
        """Store what may be given again: of some answers that is less, or more, than what just came."""
        stored = entry
        if asked.resource.answers == "transactions":
            before = self.entries.get(asked.key, self.now()) or await self._stored(asked.key)
            data = answers.kept("transactions", entry.data, before.data if before else None)
            pending = len(entry.data["transactions"]) - sum(one["status"] != "pending" for one in entry.data["transactions"])
            note = "Pending transactions are not kept; they are in fresh answers only." if pending else entry.note
            stored = Kept(
                **{name: getattr(entry, name) for name in Kept.__slots__}
                | {
                    "data": data,
                    "sha256": digest(data),
                    "count": len(data["transactions"]),
                    "size": len(orjson.dumps(data)),
                    "note": note,
                }
            )
        self.entries.put(stored)
        self._flush_soon()

    async def _counted(self, job: Job, caller: Caller, number: int) -> None:
        """Count an attempt before it is sent. Raises: UpstreamError where it would have to wait too long."""
        loop, one = asyncio.get_running_loop(), job.question.resource
        while True:
            wants = self.wants(job.question, caller, is_retry=number > 1)
            try:
                verdict = await self._acquire(wants)
            except Exception as error:
                log.exception("Limits cannot be counted.")
                raise UpstreamError(reach.INTERNAL, "Limits cannot be counted at the moment, so nobody is asked.") from error
            job.remaining = verdict.remaining
            if not verdict.wait:
                return
            if loop.time() + verdict.wait + one.timeout > job.deadline:
                detail = f"Our own limit for {one.upstream} ({one.limit} in {one.period:g} s"
                spaced = f", {one.min_interval:g} s apart" if one.min_interval else ""
                raise UpstreamError(
                    reach.LIMITED_HERE, f"{detail}{spaced}) lets the next one pass in {verdict.wait:.0f} s.", verdict.wait
                )
            job.next_at = loop.time() + verdict.wait
            job.tell()
            await asyncio.sleep(verdict.wait)
            job.next_at = None

    def _failed(self, upstream: str, error: UpstreamError) -> None:
        breaker = self._breakers[upstream]
        if error.code in reach.OPENS:
            if breaker.failed(error.code, self.now()):
                log.error("%s is left alone until %s: %s", upstream, moment(breaker.opened_until), error.detail)
        elif error.code not in (reach.CIRCUIT_OPEN, reach.LIMITED_HERE):
            breaker.let_go()
        if error.code in reach.TELLS_OPS:
            log.error("%s: %s (%s)", upstream, error.detail, error.code)
        if error.code not in (reach.CIRCUIT_OPEN, reach.LIMITED_HERE):
            self.accounts.upstream(upstream, breaker, self.now(), worked=False, code=error.code, detail=error.detail)
            self._flush_soon()

    def _not_tried(self, uri: str, upstream: str, code: str, detail: str) -> Tried:
        return Tried(uri, upstream, self.now(), error=code, detail=detail)

    def _call(self, asked: Question) -> Call:
        return Call(asked.resource.upstream, asked.resource.name, asked.uri, asked.upstream_params, asked.attributes)

    def breaker(self, upstream: str) -> Breaker:
        return self._breakers[upstream]
