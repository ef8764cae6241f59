"""One question, from the cache to the chain: fresh, else asked upstream within limits, else another resource, else old.

Whoever asks waits no longer than it said. What it does not wait for goes on behind and fills the cache. Questions that are the same
share one upstream call. How upstreams are asked stands in fetching.py, what is written behind the answers in behind.py.
"""

import asyncio
import time
from collections.abc import Sequence
from typing import Final

import orjson

from sources.gateway import answers, reach
from sources.gateway.asked import Question, filled
from sources.gateway.behind import LOOK
from sources.gateway.callers import Caller
from sources.gateway.canonical import digest
from sources.gateway.entries import Kept
from sources.gateway.fetching import Fetching, Job
from sources.gateway.outcome import CACHED, EXHAUSTED, FALLBACK, FRESH, STALE, Answer, Tried, in_words, new_id

WAIT: Final = 20.0  # seconds that a question waits, unless it says otherwise
LONGEST_WAIT: Final = 65.0

__all__ = ["LONGEST_WAIT", "LOOK", "WAIT", "Gateway"]


class Gateway(Fetching):
    """The gateway of one process."""

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
            request_id=new_id(),
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
            request_id=new_id(),
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
