"""Asks the real ASGI application, without a socket: one request in, one answer out."""

import asyncio
import itertools
import json
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from mcp.shared.inbound import encode_header_value

from config.asgi import application as application

MODERN: Final = "2026-07-28"
LEGACY: Final = "2025-11-25"
ERAS: Final = (LEGACY, MODERN)
PATIENCE: Final = 20.0  # seconds, after which a request counts as hanging
NAMED_BY: Final = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}

Headers = Mapping[str, str] | Sequence[tuple[str, str]]


@dataclass(slots=True)
class Answer:
    """What came back, and how often the application asked for the request's body."""

    status: int = 0
    headers: list[tuple[str, str]] = field(default_factory=list)
    body: bytes = b""
    times_received: int = 0

    def __getitem__(self, name: str) -> str | None:
        """The header's value; None without it."""
        return next((value for key, value in self.headers if key == name.lower()), None)

    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def result(self) -> dict[str, Any]:
        found: dict[str, Any] = self.json()["result"]
        return found

    @property
    def error(self) -> dict[str, Any]:
        found: dict[str, Any] = self.json()["error"]
        return found


def http_scope(method: str, path: str, headers: Headers = (), *, client: str = "192.0.2.1") -> dict[str, Any]:
    pairs = list(headers.items()) if isinstance(headers, Mapping) else list(headers)
    if not any(name.lower() == "host" for name, _ in pairs):
        pairs.append(("host", "localhost:8000"))
    plain, _, query = path.partition("?")
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": plain,
        "raw_path": plain.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "headers": [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in pairs],
        "client": (client, 50_000),
        "server": ("localhost", 8000),
    }


async def send_request(scope: dict[str, Any], body: Iterable[bytes] = (b"",), *, ends: bool = True, leaves: bool = False) -> Answer:
    """Sends the body in the given chunks, and that was all if it `ends`. Then the client waits, if it `leaves` until the answer
    begins.
    """
    answer = Answer()
    chunks = iter(body)
    following = next(chunks, b"")
    told, begun = False, asyncio.Event()

    async def receive() -> dict[str, Any]:
        nonlocal following, told
        answer.times_received += 1
        if told:
            await begun.wait()
            return {"type": "http.disconnect"}
        chunk, following_or_none = following, next(chunks, None)
        told = following_or_none is None
        following = following_or_none or b""
        return {"type": "http.request", "body": chunk, "more_body": not (told and ends)}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            answer.status = message["status"]
            answer.headers = [(name.decode("latin-1").lower(), value.decode("latin-1")) for name, value in message["headers"]]
            if leaves:
                begun.set()
        else:
            answer.body += message.get("body", b"")

    await asyncio.wait_for(application(scope, receive, send), PATIENCE)
    return answer


@asynccontextmanager
async def serving() -> AsyncIterator[None]:
    """The application between startup and shutdown, as an ASGI server runs it."""
    to_app: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    from_app: asyncio.Queue[Any] = asyncio.Queue()
    task = asyncio.create_task(application({"type": "lifespan"}, to_app.get, from_app.put))
    to_app.put_nowait({"type": "lifespan.startup"})
    assert (await asyncio.wait_for(from_app.get(), PATIENCE))["type"] == "lifespan.startup.complete"
    await asyncio.sleep(0.6)  # the watch takes its first look
    try:
        yield
    finally:
        to_app.put_nowait({"type": "lifespan.shutdown"})
        assert (await asyncio.wait_for(from_app.get(), PATIENCE))["type"] == "lifespan.shutdown.complete"
        await asyncio.wait_for(task, PATIENCE)


def request(method: str, path: str, body: bytes = b"", headers: Headers = (), *, client: str = "192.0.2.1") -> Answer:
    return asyncio.run(send_request(http_scope(method, path, headers, client=client), [body]))


def get(path: str) -> Any:
    """The JSON that REST answers."""
    answer = request("GET", path)
    assert answer.status == 200, (path, answer.status, answer.body)
    return answer.json()


_ids = itertools.count(1)


def message(method: str, params: Mapping[str, Any] | None = None, era: str = MODERN) -> dict[str, Any]:
    """A JSON-RPC request as a client of that revision sends it."""
    given = dict(params or {})
    meta = given.get("_meta", {})
    if era == MODERN and isinstance(meta, dict):
        given["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": era,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "tests", "version": "1"},
        } | meta
    return {"jsonrpc": "2.0", "id": next(_ids), "method": method, "params": given}


def rpc_headers(asked: Mapping[str, Any], era: str = MODERN) -> dict[str, str]:
    """The headers that go with it."""
    headers = {"content-type": "application/json", "accept": "application/json, text/event-stream", "mcp-protocol-version": era}
    if era == MODERN:
        headers["mcp-method"] = asked["method"]
        name = asked["params"].get(NAMED_BY.get(asked["method"], ""))
        if isinstance(name, str):
            headers["mcp-name"] = encode_header_value(name)
    return headers


def rpc(method: str, params: Mapping[str, Any] | None = None, era: str = MODERN, path: str = "/mcp") -> Answer:
    """One request by POST, which is answered with its own id and without a session."""
    asked = message(method, params, era)
    answer = request("POST", path, json.dumps(asked).encode(), rpc_headers(asked, era))
    found = answer.json()
    assert (found["jsonrpc"], found["id"]) == ("2.0", asked["id"]), found
    assert answer["mcp-session-id"] is None
    return answer


def call(tool: str, era: str = MODERN, **arguments: Any) -> dict[str, Any]:
    """The result of a tool."""
    return rpc("tools/call", {"name": tool, "arguments": arguments}, era).result


def structured(tool: str, **arguments: Any) -> dict[str, Any]:
    """A tool's structured content, after checking that it was no error."""
    result = call(tool, **arguments)
    assert not result.get("isError"), result
    found: dict[str, Any] = result["structuredContent"]
    return found


def said(result: Mapping[str, Any]) -> str:
    """The one text that a result holds."""
    (content,) = result["content"]
    assert content["type"] == "text"
    text: str = content["text"]
    return text


def refusal(tool: str, **arguments: Any) -> str:
    """What a tool says about arguments that it cannot use."""
    result = call(tool, **arguments)
    assert result["isError"] is True
    assert "structuredContent" not in result
    return said(result)


def read(uri: str, era: str = MODERN) -> dict[str, Any]:
    """The one content of a resource."""
    (content,) = rpc("resources/read", {"uri": uri}, era).result["contents"]
    assert content["uri"] == uri
    found: dict[str, Any] = content
    return found


def read_json(uri: str) -> Any:
    content = read(uri)
    assert content["mimeType"] == "application/json"
    return json.loads(content["text"])


def prompt(name: str, era: str = MODERN, **arguments: str) -> str:
    """The text of a prompt's one message."""
    (found,) = rpc("prompts/get", {"name": name, "arguments": arguments}, era).result["messages"]
    assert found["role"] == "user"
    text: str = found["content"]["text"]
    return text
