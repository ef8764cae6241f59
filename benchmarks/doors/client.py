"""A load generator of our own: a constant rate, or, where there is no wrk, as fast as answers come.

`python -m benchmarks.doors.client`, told what to do as JSON on its standard input: host, port, raw (base64), first, seconds,
connections, rate (requests a second, or null). It says, among others, the p99 of the whole and of each tenth of a second, in ms.
At a constant rate a request's time runs from the moment when it was due, so that waiting for a free connection counts; the loop
never sleeps, and wants a core of its own.
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


@dataclass(slots=True)
class Connection:
    socket: socket.socket
    due: float = 0.0
    received: bytearray = field(default_factory=bytearray)
    needed: int = 0  # bytes of the whole answer; 0 until its head is here

    def read(self) -> bool:
        """Whether the answer is complete. Raises: ConnectionError."""
        chunk = self.socket.recv(1 << 18)
        if not chunk:
            raise ConnectionError("the server closed a connection")
        self.received += chunk
        if not self.needed:
            end = self.received.find(HEAD_END)
            if end < 0:
                return False
            head = bytes(self.received[:end]).lower()
            at = head.find(LENGTH)
            length = int(head[at + len(LENGTH) :].split(b"\r\n", 1)[0]) if at >= 0 else 0
            self.needed = end + len(HEAD_END) + length
        return len(self.received) >= self.needed


def run(host: str, port: int, raw: bytes, first: int, seconds: float, connections: int, rate: float | None) -> dict[str, Any]:
    gc.disable()
    everyone = [Connection(connect(host, port)) for _ in range(connections)]
    by_number = {connection.socket.fileno(): connection for connection in everyone}
    poll = select.epoll()
    for number in by_number:
        poll.register(number, select.EPOLLIN)
    free, took, tenths = deque(everyone), list[float](), defaultdict[int, list[float]](list)
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
            connection.socket.sendall(fill(raw, first + sent))
            sent += 1
        for number, _event in poll.poll(0):
            connection = by_number[number]
            if connection.read():
                took.append(now() - connection.due)
                tenths[int((connection.due - start) * 10)].append(took[-1])
                size += len(connection.received)
                failed += not connection.received.startswith((b"HTTP/1.1 2", b"HTTP/1.1 3"))
                connection.received.clear()
                connection.needed = 0
                free.append(connection)
    lasted = now() - start
    told = {"requests": len(took), "seconds": lasted, "failed": failed, "bytes": size, "sent": sent}
    return told | {"p99": p99(took), "tenths": [p99(some) for some in tenths.values()]}


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
