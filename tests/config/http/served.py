"""The server's own HTTP/1.1 on a real socket, with an application behind the edge that notes which requests reach it."""

import asyncio
import socket
import threading
import time
from typing import Final

import uvicorn

from config.http import uvicorn_protocol
from config.http.request_guard import Edge, Message, Receive, Scope, Send

PATIENCE: Final = 20.0  # seconds that a test waits for anything of the server before it fails
LARGE: Final = 4_000_000  # bytes of an answer


class Application:
    """Answers with its path; `/slow` when it is told to go on, `/large` at length. Knows which clients left it waiting."""

    def __init__(self) -> None:
        self.reached: list[str] = []
        self.left: list[str] = []
        self.go_on = threading.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        path = scope["path"]
        self.reached.append(path)
        body = path.encode() if path != "/large" else b"x" * LARGE
        if path == "/slow":
            leaving = asyncio.create_task(self._note_leaving(path, receive))
            while not self.go_on.is_set():
                await asyncio.sleep(0.01)
            leaving.cancel()
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"%d" % len(body))]})
        for begin in range(0, len(body), 65_536):
            part: Message = {"type": "http.response.body", "body": body[begin : begin + 65_536]}
            await send({**part, "more_body": begin + 65_536 < len(body)})

    async def _note_leaving(self, path: str, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self.left.append(path)


class Served:
    """A server in a thread of its own."""

    def __init__(self) -> None:
        self.app = Application()
        # `http` takes a class or a name; --ws, --server-header and so on as `manage.py serve` has them matter to nothing here.
        options = {"http": uvicorn_protocol.WireProtocol, "ws": "none", "lifespan": "off", "log_level": "critical", "port": 0}
        options["timeout_graceful_shutdown"] = 1
        self._server = uvicorn.Server(uvicorn.Config(Edge(self.app, {"/mcp": "wire"}), **options))  # type: ignore[arg-type]
        self._thread = threading.Thread(target=self._server.run)

    def __enter__(self) -> "Served":
        self._thread.start()
        while not self._server.started:
            time.sleep(0.01)
        self.address: tuple[str, int] = self._server.servers[0].sockets[0].getsockname()
        return self

    def __exit__(self, *_: object) -> None:
        self.app.go_on.set()
        self._server.should_exit = self._server.force_exit = True
        self._thread.join(PATIENCE)

    def stop(self) -> None:
        """Ask it to end, as SIGTERM does."""
        self._server.should_exit = True

    def connect(self) -> socket.socket:
        return socket.create_connection(self.address, timeout=PATIENCE)
