"""One question, from the cache to the chain: fresh, else asked upstream within limits, else another resource, else old.

Whoever asks waits no longer than it said. What it does not wait for goes on behind and fills the cache. Questions that are the same
share one upstream call. Everything runs on one event loop; the tables are asked in threads.
"""

import asyncio
import logging
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, TypeVar

import orjson
import rfc8785

from config.errors import InternalError
from sources.gateway import answers, entries, heartbeat, limiter, reach
from sources.gateway.accounting import Accounts
from sources.gateway.asked import Question, filled
from sources.gateway.callers import Caller
from sources.gateway.canonical import digest
from sources.gateway.circuit import Breaker
from sources.gateway.entries import Entries, Kept
from sources.gateway.limiter import Verdict, Want
from sources.gateway.outcome import CACHED, EXHAUSTED, FALLBACK, FRESH, STALE, Answer, Tried, in_words, moment
from sources.gateway.policy import Policy
from sources.gateway.pursuit import Pursuit, attempts_of
from sources.gateway.reach import Call, Reach, UpstreamError

T = TypeVar("T")
Run = Callable[[Callable[[], T]], Awaitable[T]]

WAIT: Final = 20.0  # seconds that a question waits, unless it says otherwise
LONGEST_WAIT: Final = 65.0
BEHIND_REST: Final = 10.0  # seconds after a refresh behind an answer failed, before another is tried
FLUSH: Final = 0.5  # seconds in which entries and accounts are written
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


class Gateway:
    """The gateway of one process. `run` does blocking work for it, `now` is its clock in seconds since 1970."""

    def __init__(
        self,
        policy: Policy,
        to: Reach,
        *,
        run: Run[Any],
        read: Run[Any] | None = None,
        now: Callable[[], float] = time.time,
        max_bytes: int = 1_000_000_000,
        log_rows: int = 200_000,
        counts: bool = True,
    ) -> None:
        self.policy = policy
        self.reach = to
        self.now = now
        self.entries = Entries(max_bytes)
        self.accounts = Accounts(log_rows)
        self._max_bytes = max_bytes
        self._counts = counts
        self._run = run
        self._read = read or run
        self._breakers = {name: Breaker(policy.opens_at, policy.first_wait, policy.longest_wait) for name in policy.upstreams}
        self._jobs: dict[str, Job] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._resting: dict[str, float] = {}
        self._limiting: list[tuple[Sequence[Want], asyncio.Future[Verdict]]] = []
        self._is_limiting = False
        self._flushing: asyncio.Task[None] | None = None
        self._swept_at = 0.0
        self._loop: asyncio.AbstractEventLoop | None = None

    # What is asked

    async def ask(self, asked: Question, caller: Caller, wait: float = WAIT) -> Answer:
        """The answer to a question, within `wait` seconds. Raises: Unauthorized, Forbidden."""
        caller.check(asked.resource.uri)
        self._on_this_loop()
        began = time.perf_counter()
        answer = await self._answer(asked, caller, asyncio.get_running_loop().time() + wait)
        self._account(answer, caller, time.perf_counter() - began)
        return answer

    def again(self, asked: Question, entry: Kept, before: Answer, caller: Caller) -> Answer:
        """What was answered from this entry, given once more: with an id and an age of its own, logged and counted as any other."""
        began = time.perf_counter()
        answer = self._of_entry(asked, entry, CACHED, cut=(before.data_json, before.sha256 or "", before.count))
        self._account(answer, caller, time.perf_counter() - began)
        return answer

    def fresh_in_memory(self, asked: Question) -> Kept | None:
        now = self.now()
        entry = self.entries.get(asked.key, now)
        if entry is None or not entry.is_fresh(now, self.reach.marker(asked.resource.upstream)):
            return None
        if now > entry.fetched_at + self.policy.refresh_at * (entry.fresh_until - entry.fetched_at):
            self._refresh(asked)
        return entry

    async def _answer(self, asked: Question, caller: Caller, deadline: float) -> Answer:
        entry = await self._fresh(asked)
        if entry is not None:
            return self._of_entry(asked, entry, CACHED)
        tried: list[Tried] = []
        job = await self._fetched(asked, caller, deadline, tried)
        if job is not None and job.found is not None:
            return self._of_entry(asked, job.found, FRESH, tried, job)
        found = await self._by_chain(asked, caller, deadline, tried)
        if found is not None:
            return self._of_entry(asked, found, FALLBACK, tried, job)
        old = self.entries.get(asked.key, self.now()) or await self._stored(asked.key)
        if old is not None and old.may_be_given(self.now()):
            return self._of_entry(asked, old, STALE, tried, job)
        return self._exhausted(asked, tried, job)

    async def _fresh(self, asked: Question) -> Kept | None:
        """From memory, else from the table."""
        entry = self.fresh_in_memory(asked)
        if entry is None and asked.resource.ttl_for(asked.params) and asked.key not in self._jobs:
            await self._stored(asked.key)
            entry = self.fresh_in_memory(asked)
        return entry

    async def _stored(self, key: str) -> Kept | None:
        try:
            found: Kept | None = await self._read(lambda: entries.read(key))
        except Exception:
            log.exception("The table of entries cannot be read.")
            return None
        if found is not None:
            self.entries.remember(found)
        return found

    async def _by_chain(self, asked: Question, caller: Caller, deadline: float, tried: list[Tried]) -> Kept | None:
        """What another resource answers, in the order of the policy. An upstream that does not answer at all is not asked twice."""
        for uri in asked.resource.chain:
            member = filled(self.policy, uri, asked)
            if member is None:
                tried.append(self._not_tried(uri, asked.resource.upstream, reach.SKIPPED, "The agent has no such attribute."))
                continue
            upstream = member.resource.upstream
            if not caller.may_read(member.resource.uri):
                tried.append(self._not_tried(member.uri, upstream, reach.NOT_GRANTED, "The agent may not read it."))
                continue
            entry = await self._fresh(member)
            if entry is not None:
                return entry
            if any(one.upstream == upstream and one.error in reach.LEAVES_ALONE for one in tried):
                tried.append(self._not_tried(member.uri, upstream, reach.SKIPPED, f"{upstream} does not answer at the moment."))
                continue
            job = await self._fetched(member, caller, deadline, tried, attempts=1)
            if job is not None and job.found is not None:
                return job.found
        return None

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
        from sources.gateway.callers import ANYBODY

        job = self._jobs[asked.key] = Job(asked, asyncio.get_running_loop().time())
        self._go(self._pursue(job, ANYBODY, 1))

    # What upstreams are asked

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
        import datetime as dt

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
            wants = self._wants(job.question, caller, is_retry=number > 1)
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

    def _wants(self, asked: Question, caller: Caller, *, is_retry: bool = False) -> list[Want]:
        """The buckets that an attempt is counted in: the upstream's, and the agent's share of it."""
        one = asked.resource
        of = "".join(f" {asked.params.get(name)}" for name in one.limit_per)
        whose = f" @{asked.agent or caller.name}" if one.limit_scope == "agent" else ""
        bucket = f"{one.name}{of}{whose}"
        if is_retry and one.retry_limit:
            return [Want(f"{bucket} retries", one.retry_limit, one.period)]
        wants = [Want(bucket, one.limit, one.period, one.min_interval)]
        if caller.share < 100 and one.limit_scope != "agent":
            share = max(1, one.limit * caller.share // 100)
            wants.append(Want(f"{bucket} share @{caller.name}", share, one.period))
        return wants

    async def _acquire(self, wants: Sequence[Want]) -> Verdict:
        """Requests that come together are counted in one transaction."""
        if not self._counts:
            return Verdict(0.0, 0)
        answer: asyncio.Future[Verdict] = asyncio.get_running_loop().create_future()
        self._limiting.append((wants, answer))
        if not self._is_limiting:
            self._is_limiting = True
            self._go(self._acquire_waiting())
        return await answer

    async def _acquire_waiting(self) -> None:
        try:
            while self._limiting:
                batch, self._limiting = self._limiting, []
                now = self.now()
                try:
                    verdicts = await self._run(partial(limiter.acquire_all, [wants for wants, _ in batch], now))
                except Exception as error:
                    for _, answer in batch:
                        if not answer.done():
                            answer.set_exception(error)
                    continue
                for (_, answer), verdict in zip(batch, verdicts, strict=True):
                    if not answer.done():
                        answer.set_result(verdict)
        finally:
            self._is_limiting = False

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

    # Parts of an answer

    def _of_entry(
        self,
        asked: Question,
        entry: Kept,
        outcome: str,
        tried: Sequence[Tried] = (),
        job: Job | None = None,
        cut: tuple[bytes, str, int] | None = None,
    ) -> Answer:
        now, one = self.now(), asked.resource
        kind = self.policy.resources[entry.resource].answers
        data_json, sha256, count = cut or self._cut(entry, asked.cut, kind)
        answer = Answer(
            request_id=secrets.token_hex(12),
            resource=one.name,
            asked=asked.uri,
            outcome=outcome,
            kind=kind,
            data_json=data_json,
            count=count,
            now=now,
            private=one.private,
            answered=asked.uri if entry.key == asked.key else entry.uri,
            upstream=entry.upstream,
            fetched_at=entry.fetched_at,
            fresh_until=entry.fresh_until,
            sha256=sha256,
            untrusted=entry.untrusted,
            note=entry.note,
            attempts=list(tried),
            remaining=job.remaining if job else None,
        )
        answer.note = " ".join(filter(None, (in_words(answer, one.title), entry.note)))
        return answer

    def _cut(self, entry: Kept, most: int | None, kind: str) -> tuple[bytes, str, int]:
        """The data as JSON, at most so many items of them, with their hash and number."""
        if most is None or most >= entry.count:
            return orjson.dumps(entry.data), entry.sha256, entry.count
        data = answers.with_items(kind, entry.data, answers.items(kind, entry.data)[:most])
        return orjson.dumps(data), digest(data), most

    def _exhausted(self, asked: Question, tried: list[Tried], job: Job | None) -> Answer:
        one = asked.resource
        answer = Answer(
            request_id=secrets.token_hex(12),
            resource=one.name,
            asked=asked.uri,
            outcome=EXHAUSTED,
            kind=one.answers,
            data_json=b"null" if one.exhausted == "error" else orjson.dumps(answers.empty(one.answers)),
            count=0,
            now=self.now(),
            private=one.private,
            attempts=tried,
            is_error=one.exhausted == "error",
            remaining=job.remaining if job else None,
        )
        answer.note = in_words(answer, one.title)
        return answer

    def _not_tried(self, uri: str, upstream: str, code: str, detail: str) -> Tried:
        return Tried(uri, upstream, self.now(), error=code, detail=detail)

    def _call(self, asked: Question) -> Call:
        return Call(asked.resource.upstream, asked.resource.name, asked.uri, asked.upstream_params, asked.attributes)

    def breaker(self, upstream: str) -> Breaker:
        return self._breakers[upstream]

    def wants(self, asked: Question, caller: Caller) -> list[Want]:
        return self._wants(asked, caller)

    # Work behind

    def _account(self, answer: Answer, caller: Caller, took: float) -> None:
        self.accounts.note(answer, caller.name, took, self.policy.resources[answer.resource].cost)
        self._flush_soon()

    def _on_this_loop(self) -> None:
        """Tasks of a loop that is gone are gone with it."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop = loop
            self._jobs.clear()
            self._tasks.clear()
            self._limiting, self._is_limiting = [], False
            self._flushing = None

    def _go(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _flush_soon(self) -> None:
        self._on_this_loop()
        if self._flushing is None or self._flushing.done():
            self._flushing = asyncio.get_running_loop().create_task(self._flush_later())

    async def _flush_later(self) -> None:
        while True:
            await asyncio.sleep(FLUSH)
            await self.flush()
            if not self.accounts.is_waiting:
                return

    async def flush(self) -> None:
        """Write entries and accounts. What cannot be written now is lost if it is an entry, and waits if it is an account."""
        now, (kept, touched) = self.now(), self.entries.pending()
        rows = self.accounts.pending()

        def write() -> None:
            if kept or touched:
                entries.write(kept, touched, now)
            self.accounts.write(rows)
            if now - self._swept_at > 600:
                self._swept_at = now
                entries.sweep(self._max_bytes, now)
                self.accounts.sweep()

        try:
            await self._run(write)
        except Exception:
            log.exception("The gateway's accounts cannot be written; they are kept for the next try.")
            self.accounts.put_back(rows)

    async def close(self) -> None:
        """Give up what goes on behind, write what waits, and let go of every upstream."""
        for task in [*self._tasks, *([self._flushing] if self._flushing else [])]:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.reach.close()
        await self.flush()
