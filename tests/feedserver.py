"""A real HTTP/1.1 server on loopback for tests and benchmarks: well-behaved by default, hostile on demand.

`python -m tests.feedserver DIR` serves the files of a directory and prints its port.
"""

import argparse
import asyncio
import contextlib
import gzip
import hashlib
import mimetypes
import socket
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from pathlib import Path
from typing import Any, Self

FEED = b'<?xml version="1.0"?><rss version="2.0"><channel><title>A feed</title></channel></rss>'


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer. `raw` is sent as it is instead of all else; `drop` closes the connection without a word.

    `delay` is in seconds before the answer, `drip` before each byte of the body. `cut` bytes of the body are sent, then the
    connection is closed. A body of several chunks, or one with `length` off, is sent without Content-Length and ended by closing.
    """

    body: bytes | Iterable[bytes] = FEED
    status: int = 200
    content_type: str = "application/rss+xml"
    etag: str = ""
    last_modified: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)
    packed: bool = False
    length: bool = True
    delay: float = 0.0
    drip: float = 0.0
    cut: int | None = None
    drop: bool = False
    raw: bytes | None = None


@dataclass(slots=True)
class Request:
    """One request as it came. `host` is the address it came to; `at` and `ended` are `time.monotonic()`."""

    path: str
    host: str
    headers: dict[str, str]
    at: float
    ended: float = 0.0


Handler = Callable[[Request], Reply]


class FeedServer:
    """Listens on 127.0.0.1 to 127.0.0.`hosts`, all on one port, while it is entered. Paths without a route are 404."""

    def __init__(self, hosts: int = 32, tls: ssl.SSLContext | None = None, port: int = 0) -> None:
        self.requests: list[Request] = []
        self.port = port
        self._scheme = "https" if tls else "http"
        self._tls = tls
        self._hosts = hosts
        self._routes: dict[tuple[str | None, str], Handler] = {}
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self._stop = asyncio.Event()
        self._thread = threading.Thread(target=self._run, name="feedserver", daemon=True)

    def route(self, path: str, handler: Handler | None = None, *, host: str | None = None, **reply: Any) -> None:
        """Answer this path, on one host or on all, with the handler's Reply or with `Reply(**reply)`. "*" is every other path."""
        fixed = None if handler else Reply(**reply)
        self._routes[host, path] = handler or (lambda _request: fixed or Reply())

    def forget(self) -> None:
        """No routes and no requests, as at the start."""
        self._routes.clear()
        self.requests.clear()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        """The address of a path; `host` may be any name or spelling, whether or not it leads here."""
        return f"{self._scheme}://{host}:{self.port}{path}"

    def seen(self, path: str, host: str | None = None) -> list[Request]:
        """The requests for a path so far, in order."""
        return [request for request in self.requests if request.path == path and host in (None, request.host)]

    def __enter__(self) -> Self:
        self._sockets = self._bind()
        self._thread.start()
        self._started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def _bind(self) -> list[socket.socket]:
        for _attempt in range(20):  # somebody may hold the port on another of the addresses
            port, sockets = self.port, []
            with contextlib.suppress(OSError):
                for number in range(1, self._hosts + 1):
                    sockets.append(socket.create_server((f"127.0.0.{number}", port), backlog=128))
                    port = sockets[0].getsockname()[1]
                self.port = port
                return sockets
            for bound in sockets:
                bound.close()
        raise OSError("no port is free on all addresses")

    def _run(self) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        async with contextlib.AsyncExitStack() as stack:
            for bound in self._sockets:
                await stack.enter_async_context(await asyncio.start_server(self._converse, sock=bound, ssl=self._tls))
            self._started.set()
            await self._stop.wait()
            for task in asyncio.all_tasks() - {asyncio.current_task()}:
                task.cancel()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError, ssl.SSLError):
            while await self._answer(reader, writer):
                pass
        writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Reads one request and answers it; whether the connection stays open."""
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        host = writer.get_extra_info("sockname")[0]
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)}
        request = Request(lines[0].split(" ")[1], host, headers, time.monotonic())
        self.requests.append(request)
        try:
            return await self._send(request, self._reply(request), writer)
        finally:
            request.ended = time.monotonic()

    def _reply(self, request: Request) -> Reply:
        path = request.path.partition("?")[0]
        candidates = ((request.host, path), (None, path), (request.host, "*"), (None, "*"))
        keys = [key for key in candidates if key in self._routes and not (path == "/robots.txt" and key[1] == "*")]
        reply = self._routes[keys[0]](request) if keys else Reply(b"", 404)
        sent = request.headers
        same = (reply.etag and sent.get("if-none-match") == reply.etag) or (
            "if-none-match" not in sent and reply.last_modified and sent.get("if-modified-since") == reply.last_modified
        )
        if same and reply.status == 200:
            return Reply(b"", 304, "", reply.etag, reply.last_modified, reply.headers)
        return reply

    async def _send(self, request: Request, reply: Reply, writer: asyncio.StreamWriter) -> bool:
        await asyncio.sleep(reply.delay)
        if reply.drop:
            writer.transport.abort()
            return False
        if reply.raw is not None:
            writer.write(reply.raw)
            await writer.drain()
            return False
        headers = {"Content-Type": reply.content_type, "ETag": reply.etag, "Last-Modified": reply.last_modified}
        chunks = reply.body
        if isinstance(chunks, bytes):
            if reply.packed:
                chunks = gzip.compress(chunks, mtime=0)
                headers["Content-Encoding"] = "gzip"
            if reply.length and reply.status != 304:
                headers["Content-Length"] = str(len(chunks))
            chunks = [chunks]
        stays = "Content-Length" in headers and reply.cut is None
        if not stays:
            headers["Connection"] = "close"
        head = f"HTTP/1.1 {reply.status} {_phrase(reply.status)}\r\n"
        head += "".join(f"{name}: {value}\r\n" for name, value in {**headers, **reply.headers}.items() if value)
        writer.write(head.encode("latin-1") + b"\r\n")
        for chunk in chunks:
            for piece in _dripped(chunk[: reply.cut]) if reply.drip else (chunk[: reply.cut],):
                await asyncio.sleep(reply.drip)
                writer.write(piece)
                await writer.drain()
        return stays and request.headers.get("connection") != "close"


def _dripped(chunk: bytes) -> Iterator[bytes]:
    return (chunk[n : n + 1] for n in range(len(chunk)))


def _phrase(status: int) -> str:
    return HTTPStatus(status).phrase if status in HTTPStatus._value2member_map_ else "Unknown"


def serve_directory(server: FeedServer, directory: Path) -> None:
    """Routes every path to the file of that name, with an ETag."""

    def answer(request: Request) -> Reply:
        file = (directory / request.path.partition("?")[0].lstrip("/")).resolve()
        if not file.is_relative_to(directory.resolve()) or not file.is_file():
            return Reply(b"", 404)
        body = file.read_bytes()
        etag = f'"{hashlib.sha256(body).hexdigest()[:16]}"'
        return Reply(body, content_type=mimetypes.guess_type(file.name)[0] or "application/rss+xml", etag=etag)

    server.route("*", answer)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--hosts", type=int, default=32, help="listen on 127.0.0.1 to 127.0.0.N")
    options = parser.parse_args()
    with FeedServer(options.hosts, port=options.port) as server:
        serve_directory(server, options.directory)
        sys.stdout.write(f"{server.port}\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
