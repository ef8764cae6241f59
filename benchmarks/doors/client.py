"""A load generator of our own: a constant rate, or, where there is no wrk, as fast as answers come.

`python -m benchmarks.doors.client`, told what to do as JSON on its standard input: host, port, raw (base64), first, seconds,
connections, rate (requests a second, or null). It says, among others, the p99 of the whole and of each tenth of a second, in ms.
At a constant rate a request's time runs from the moment when it was due, so that waiting for a free connection counts. It wants a
core of its own, and leaves it when there is nothing to do: Linux stops a realtime process that never sleeps 50 ms in each second.
"""

import base64
import gc
import json
import select
import socket
import sys
import time
from collections import defaultdict, deque
from dataclasses import dataclass, field
from typing import Any

from benchmarks.doors.questions import fill

HEAD_END = b"\r\n\r\n"
LENGTH = b"content-length: "
AT_ONCE = 1 << 16  # bytes


@dataclass(slots=True)
class Connection:
    """Answers come one at a time. One whose head is the last one's is as long: reading it again would cost more than all else."""

    socket: socket.socket
    due: float = 0.0
    received: list[bytes] = field(default_factory=list)
    head: bytes = b""
    whole: int = 0  # bytes of an answer with this head
    missing: int = 0  # bytes of this answer

    def read(self) -> bool:
        """Read, and return whether the answer is complete. Raises: ConnectionError."""
        chunk = self.socket.recv(AT_ONCE)
        if not chunk:
            raise ConnectionError("the server closed a connection")
        if self.missing:
            self.received.append(chunk)
            self.missing -= len(chunk)
            return not self.missing
        if not self.head or not chunk.startswith(self.head):
            while HEAD_END not in chunk:
                chunk += self.socket.recv(AT_ONCE)
            self.head = chunk[: chunk.index(HEAD_END) + len(HEAD_END)]
            _, _, length = self.head.lower().partition(LENGTH)
            self.whole = len(self.head) + int(length.split(b"\r\n", 1)[0] or 0)
        self.received = [chunk]
        self.missing = self.whole - len(chunk)
        return not self.missing

    @property
    def answer(self) -> bytes:
        return b"".join(self.received)


def run(host: str, port: int, raw: bytes, first: int, seconds: float, connections: int, rate: float | None) -> dict[str, Any]:
    gc.disable()
    everyone = [Connection(connect(host, port)) for _ in range(connections)]
    by_number = {connection.socket.fileno(): connection for connection in everyone}
    for connection in everyone:
        connection.socket.settimeout(None)  # with one, Python polls before it reads or writes
    poll = select.epoll()
    for number in by_number:
        poll.register(number, select.EPOLLIN)
    written = [fill(raw, first + number) for number in range(int(rate * seconds) + 1 if rate else 0)]
    free, took = deque(everyone), list[tuple[float, float]]()
    sent = failed = size = 0
    now = time.perf_counter
    start = now()
    end = start + seconds
    while (moment := now()) < end:
        while free:
            due = start + sent / rate if rate else moment
            if due > moment:
                break
            connection = free.popleft()
            connection.due = due
            connection.socket.sendall(written[sent] if rate else fill(raw, first + sent))
            sent += 1
        if not (events := poll.poll(0)):
            next_due = start + sent / rate if rate and free else end
            select.select(by_number, (), (), max(0.0, next_due - now()))
        for number, _event in events:
            connection = by_number[number]
            if connection.read():
                took.append((connection.due, now()))
                size += connection.whole
                failed += not connection.head.startswith((b"HTTP/1.1 2", b"HTTP/1.1 3"))
                free.append(connection)
    lasted = now() - start
    waits, tenths = [], defaultdict[int, list[float]](list)
    for due, done in took:
        waits.append(done - due)
        tenths[int((due - start) * 10)].append(done - due)
    told = {"requests": len(took), "seconds": lasted, "failed": failed, "bytes": size, "sent": sent}
    return told | {"p99": p99(waits), "tenths": [p99(some) for some in tenths.values()]}


def p99(took: list[float]) -> float:
    """In ms, of seconds in any order."""
    return sorted(took)[min(len(took) - 1, int(len(took) * 0.99))] * 1000 if took else float("inf")


def connect(host: str, port: int) -> socket.socket:
    """Raises: OSError."""
    found = socket.create_connection((host, port), timeout=10)
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return found


if __name__ == "__main__":
    told = json.load(sys.stdin)
    told["raw"] = base64.b64decode(told["raw"])
    json.dump(run(**told), sys.stdout)
