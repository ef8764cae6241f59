"""`parse_article` in processes that can be ended: a hostile page costs its time limit, and no thread of the caller's.

A worker is this module run as a program. It reads requests from its standard input, each a line of JSON and the page's bytes, and
answers each with a line of JSON. A timer of its own work ends it when a page takes too long; it also ends when its input does.
"""

import datetime as dt
import logging
import os
import queue
import resource
import signal
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, suppress
from functools import cache
from pathlib import Path
from typing import IO, Any, Final, cast

import orjson

from sources.entries import Entry
from sources.parse.article import Article, InvalidArticle, parse_article

SECONDS: Final = 5.0  # of a core, for one page
PAGES: Final = 1_000  # that one worker reads; the next one begins with fresh memory
MEMORY: Final = 512 << 20  # bytes of addresses that one worker may use; the worst pages make trafilatura use 1 GB
WORKERS: Final = 2  # of the pool that `extract_article` uses
_ROOT: Final = Path(__file__).parents[2]

Page = tuple[bytes, str, str]  # a page's bytes, content type and address


def extract_article(data: bytes, content_type: str, url: str, seconds: float) -> Article:
    """Return what `parse_article` does, in `seconds` by the clock. Raises: InvalidArticle, also timeout; broken beyond MEMORY."""
    with _LOCK:
        pool = _create_pool(os.getpid())  # a process that was forked must not read what its parent asked
    return pool.extract(data, content_type, url, seconds)


def extract_articles(pages: Iterable[Page], workers: int = 0) -> Iterator[Article | InvalidArticle]:
    """Yield article or refusal of each page, in order, read by `workers` processes (0: one for each core), in bounded memory."""
    workers = workers or os.cpu_count() or 1
    with Pool(workers) as pool, ThreadPoolExecutor(workers) as threads:
        waiting: deque[Future[Article | InvalidArticle]] = deque()
        for page in pages:
            waiting.append(threads.submit(pool.read, *page))
            if len(waiting) > 2 * workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


class Pool(AbstractContextManager["Pool"]):
    """Up to `workers` processes, started when they are first needed. Any number of threads may use it."""

    def __init__(self, workers: int) -> None:
        self._free: queue.LifoQueue[_Worker | None] = queue.LifoQueue()  # the last one used first, so that few are started
        for _ in range(workers):
            self._free.put(None)
        self._workers = workers

    def __exit__(self, *_: object) -> None:
        for worker in [self._free.get() for _ in range(self._workers)]:
            if worker:
                worker.end()
            self._free.put(None)

    def read(self, data: bytes, content_type: str, url: str) -> Article | InvalidArticle:
        try:
            return self.extract(data, content_type, url)
        except InvalidArticle as refusal:
            return refusal

    def extract(self, data: bytes, content_type: str, url: str, seconds: float | None = None) -> Article:
        """`seconds` are by the clock; None waits as long as the work takes, which SECONDS bound."""
        until = None if seconds is None else time.monotonic() + seconds
        try:
            worker = self._free.get(timeout=seconds)
        except queue.Empty:
            raise InvalidArticle("timeout", f"Reading the page took more than {seconds:g} s.") from None
        answer = None
        try:
            worker = worker or _Worker()
            answer = worker.ask(data, content_type, url, 0 if until is None else max(0.1, until - time.monotonic()))
        finally:
            if worker and (answer is None or answer.get("code") in {"broken", "timeout"} or worker.pages >= PAGES):
                worker.end()
                worker = None
            self._free.put(worker)
        if answer is None:
            raise InvalidArticle("broken", "Reading the page ended unexpectedly.")
        if code := answer.get("code"):
            raise InvalidArticle(code, answer["message"])
        fields = answer["entry"]
        if fields["published_at"]:
            fields["published_at"] = dt.datetime.fromisoformat(fields["published_at"])
        return Article(Entry(**fields | {"other_summaries": tuple(fields["other_summaries"])}), answer["markdown"])


class _Worker:
    def __init__(self) -> None:
        self.pages = 0
        self._process = subprocess.Popen(
            [sys.executable, "-m", "sources.parse.extractor_pool"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=_ROOT
        )
        self._requests, self._answers = cast("IO[bytes]", self._process.stdin), cast("IO[bytes]", self._process.stdout)

    def ask(self, data: bytes, content_type: str, url: str, seconds: float) -> dict[str, Any] | None:
        """Return the worker's answer, within `seconds` by the clock unless they are 0; None if it died."""
        self.pages += 1
        head = orjson.dumps({"size": len(data), "content_type": content_type, "url": url, "seconds": seconds, "work": SECONDS})
        try:
            self._requests.write(head + b"\n" + data)
            self._requests.flush()
            answer = self._answers.readline()
        except OSError:
            answer = b""
        if answer.endswith(b"\n"):
            return cast("dict[str, Any]", orjson.loads(answer))
        took = {-signal.SIGPROF: f"{SECONDS:g} s of work", -signal.SIGALRM: f"{seconds:.1f} s"}.get(self._process.wait())
        return {"code": "timeout", "message": f"Reading the page took more than {took}."} if took else None

    def end(self) -> None:
        self._process.kill()
        self._process.communicate()


_LOCK: Final = threading.Lock()


@cache
def _create_pool(_process: int) -> Pool:
    return Pool(WORKERS)


def _run_worker() -> None:
    with suppress(ValueError, OSError):  # not every system can
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # who pressed Ctrl-C ends the caller, and so the input
    for ending in (signal.SIGALRM, signal.SIGPROF):
        signal.signal(ending, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGALRM, signal.SIGPROF})
    logging.disable()  # trafilatura reports every page that it discards
    requests, answers = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # a library that prints must not answer
    while head := requests.readline():
        request = orjson.loads(head)
        data = requests.read(request["size"])
        signal.setitimer(signal.ITIMER_PROF, request["work"])
        signal.setitimer(signal.ITIMER_REAL, request["seconds"])
        try:
            answer = orjson.dumps(parse_article(data, content_type=request["content_type"], url=request["url"]))
        except InvalidArticle as refusal:
            answer = orjson.dumps({"code": refusal.code, "message": str(refusal)})
        for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
            signal.setitimer(timer, 0)
        answers.write(answer + b"\n")
        answers.flush()


if __name__ == "__main__":
    _run_worker()
