"""Asks an ASGI application and keeps each answer as a file: what was asked, the status, the headers, an empty line, the body."""

import asyncio
import hashlib
import json
import re
from collections import Counter, deque
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote

PATIENCE: Final = 120.0  # seconds
LONGEST_NAME: Final = 140
MASKS: Final = (
    (re.compile(r"(?<![0-9a-f])[0-9a-f]{24}(?![0-9a-f])"), "REQUEST-ID"),  # the gateway's
    (re.compile(r"(?m)^(mcp-session-id: ).*$"), r"\1SESSION"),
    (re.compile(r'(csrftoken=|name="csrfmiddlewaretoken" value=")\w+'), r"\1TOKEN"),
    (re.compile(r'((?:duration|took)_ms(?:\\?"|&quot;|&#x27;): ?)[0-9.]+'), r"\1DURATION"),
    (re.compile(r"(?s)((?:field-duration_ms|Duration ms</label>.{0,300}?readonly)[^>]*>\s*)[0-9.]+"), r"\1DURATION"),
    (re.compile(r"(?m)[0-9.]+ ms$"), "DURATION"),
    (re.compile(r"(?m)^((?:process_|wire_kept_|\w+_duration_ms_(?:bucket|sum))\S*) [0-9.]+$"), r"\1 NUMBER"),
)
CHANGING: Final = frozenset(("etag", "content-length", "content-digest"))
"""Headers that follow the body, left out where something of it was masked."""


@dataclass(slots=True)
class Answer:
    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""

    def json(self) -> Any:
        """Return what the body says; an empty object for what is no JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return {}


class Recorder:
    """Records what `application` answers into `folder`. Names of files below `scratch` are masked."""

    def __init__(self, application: Any, folder: Path, scratch: Path) -> None:
        self.scratch = scratch
        self.faults: list[str] = []
        """Which requests were answered with a fault of the server's."""
        self._application = application
        self._folder = folder
        self._labels: dict[Path, str] = {}

    def count(self) -> Mapping[str, int]:
        """Return how many answers were kept, by place."""
        return Counter(file.parent.name for file in self._labels)

    @asynccontextmanager
    async def serving(self) -> AsyncIterator[None]:
        """Hold the application between its startup and its shutdown."""
        to_app: asyncio.Queue[Any] = asyncio.Queue()
        from_app: asyncio.Queue[Any] = asyncio.Queue()
        running = asyncio.create_task(self._application({"type": "lifespan"}, to_app.get, from_app.put))
        to_app.put_nowait({"type": "lifespan.startup"})
        await asyncio.wait_for(from_app.get(), PATIENCE)
        await asyncio.sleep(2)  # until it looked at the database
        yield
        to_app.put_nowait({"type": "lifespan.shutdown"})
        await asyncio.wait_for(running, PATIENCE)

    async def ask(
        self, place: str, method: str, address: str, headers: Mapping[str, str] | None = None, body: bytes = b"", label: str = ""
    ) -> Answer:
        """Return the answer to one request, after keeping it. A stream is left a second after it began."""
        path, _, query = address.partition("?")
        told = {"host": "localhost:8000", "x-request-id": "recording", **(headers or {})}
        scope = {
            **{"type": "http", "asgi": {"version": "3.0", "spec_version": "2.3"}, "http_version": "1.1", "scheme": "http"},
            **{"method": method, "path": unquote(path), "raw_path": path.encode(), "query_string": query.encode(), "root_path": ""},
            **{"headers": [(name.encode(), value.encode("latin-1")) for name, value in told.items()]},
            **{"client": ("192.0.2.1", 50_000), "server": ("localhost", 8000)},
        }
        messages = deque([{"type": "http.request", "body": body, "more_body": False}])
        answer, is_left = Answer(), asyncio.Event()

        async def receive() -> Any:
            if messages:
                return messages.popleft()
            await is_left.wait()
            return {"type": "http.disconnect"}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                answer.status = message["status"]
                answer.headers = [(name.decode().lower(), value.decode("latin-1")) for name, value in message["headers"]]
                if dict(answer.headers).get("content-type", "").startswith("text/event-stream"):
                    asyncio.get_running_loop().call_later(1, is_left.set)
            else:
                answer.body += message.get("body", b"")

        await asyncio.wait_for(self._application(scope, receive, send), PATIENCE)
        label = label or " ".join([method, address, *(f"{name}: {value}" for name, value in (headers or {}).items())])
        if answer.status >= 500:
            self.faults.append(f"{answer.status} {label}")
        self.keep(place, label, answer.body, answer.status, answer.headers)
        return answer

    def keep(self, place: str, label: str, body: bytes, status: int = 0, headers: Iterable[tuple[str, str]] = ()) -> None:
        """Write one answer, masked, into the folder of its place. Of a body that is no text its checksum is kept."""
        try:
            text = body.decode()
        except UnicodeDecodeError:
            text = f"{len(body):,} bytes, SHA-256 {hashlib.sha256(body).hexdigest()}"
        label, shown = self._mask(label), self._mask(text)
        kept = [f"{name}: {value}" for name, value in sorted(headers) if shown == text or name not in CHANGING]
        head = "\n".join([label, *([str(status)] if status else []), *(self._mask(one) for one in kept)])
        file = self._folder / place / _name(label)
        if self._labels.setdefault(file, label) != label:
            raise RuntimeError(f"{label} and {self._labels[file]} would be one file")
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(f"{head}\n\n{shown}".encode())

    def _mask(self, text: str) -> str:
        text = text.replace(str(self.scratch), "SCRATCH")
        for pattern, instead in MASKS:
            text = pattern.sub(instead, text)
        return text


def _name(label: str) -> str:
    """Return a name of a file that can be read, with a checksum where it does not tell everything."""
    flat = label.replace("/", "_").replace(" ", "_")
    plain = re.sub(r"[^A-Za-z0-9.,=&?@_-]+", "_", flat).rstrip("_.")
    if plain == flat and len(plain) <= LONGEST_NAME:
        return plain
    return f"{plain[:LONGEST_NAME]}~{hashlib.sha256(label.encode()).hexdigest()[:8]}"
