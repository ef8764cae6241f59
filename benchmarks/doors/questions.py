"""Requests whose JSON-RPC id, and for a miss whose arguments too, are new each time."""

import datetime as dt
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

LEGACY: Final = "2025-11-25"
MODERN: Final = "2026-07-28"
ERAS: Final = (LEGACY, MODERN)

NUMBER: Final = "@NUMBER@"  # stands for a number never sent before, nine digits
MOMENT: Final = "@MOMENT@"  # stands for the same as seconds since 1970, an ISO 8601 moment long before the first story
FIRST_NUMBER: Final = 100_000_000

WORD: Final = "OpenAI"
CATEGORY: Final = "funding"  # of nearly all invented stories
SHORT: Final = 3  # stories in an answer of about 2 KB
NINE: Final = 9


@dataclass(frozen=True, slots=True)
class Question:
    """An HTTP request; `body` and `path` may hold NUMBER and MOMENT."""

    method: str
    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str = ""

    def at(self, path: str) -> "Question":
        return Question(self.method, path, self.headers, self.body)

    def raw(self, host: str) -> bytes:
        """The request as it goes over the wire, still with its placeholders."""
        length = len(fill(self.body.encode(), FIRST_NUMBER))
        headers = {"Host": host, **self.headers, **({"Content-Length": str(length)} if self.body else {})}
        lines = [f"{self.method} {self.path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items())]
        return "\r\n".join([*lines, "", self.body]).encode()


def fill(raw: bytes, number: int) -> bytes:
    """The placeholders replaced; the length of the result is the same for every number of nine digits."""
    filled = raw.replace(NUMBER.encode(), b"%d" % number)
    if MOMENT.encode() in filled:
        moment = dt.datetime.fromtimestamp(number, dt.UTC)
        filled = filled.replace(MOMENT.encode(), f"{moment:%Y-%m-%dT%H:%M:%SZ}".encode())
    return filled


@dataclass(frozen=True, slots=True)
class Section:
    """A question and who is asked it: `kind` is call (a tool), read (a resource) or page; a hit is asked the same again and again,
    a miss is new each time; `era` is "" for a page; all contenders that can, or bare ASGI alone beside the wire.
    """

    title: str
    question: Question
    kind: str
    era: str = ""
    miss: bool = False
    everyone: bool = True

    @property
    def path(self) -> str:
        """The path at which contenders with finished bytes have the answer."""
        return "/" + "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in self.title)


def get(path: str, **headers: str) -> Question:
    return Question("GET", path, {name.replace("_", "-"): value for name, value in headers.items()})


def rpc(era: str, method: str, params: Mapping[str, Any], name: str) -> Question:
    """A JSON-RPC request as a client of that revision sends it; `name` is the tool's or the resource's address."""
    given = dict(params)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "MCP-Protocol-Version": era}
    if era == MODERN:
        headers |= {"Mcp-Method": method, "Mcp-Name": name}
        given["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": era,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "benchmark", "version": "1"},
        }
    asked = json.dumps({"jsonrpc": "2.0", "id": NUMBER, "method": method, "params": given}, separators=(",", ":"))
    return Question("POST", "/mcp", headers, asked.replace(f'"{NUMBER}"', NUMBER))


def tool(era: str, name: str, **arguments: Any) -> Question:
    return rpc(era, "tools/call", {"name": name, "arguments": arguments}, name)


def search_hit(era: str) -> Question:
    """Three brief stories, always the same question."""
    return tool(era, "search_wire", query=WORD, limit=SHORT, detail="brief")


def search_miss(era: str) -> Question:
    """Nine brief stories, always the same nine, by a question never asked before: `since` is another second each time."""
    return tool(era, "search_wire", query=WORD, limit=NINE, detail="brief", since=MOMENT)


def category_miss(era: str) -> Question:
    """Nine brief stories of a category, always the same nine, by a request never sent before: nobody knows its last parameter."""
    params = {"name": "get_category", "arguments": {"category": CATEGORY, "limit": NINE, "detail": "brief"}, "asked": NUMBER}
    return rpc(era, "tools/call", params, "get_category")


def story_hit(era: str, story_id: str) -> Question:
    return tool(era, "get_story", story_id=story_id)


def resource_hit(era: str, story_id: str) -> Question:
    uri = f"wire://story/{story_id}"
    return rpc(era, "resources/read", {"uri": uri}, uri)


def sections(story_id: str, etag: str) -> list[Section]:
    """Everything that is measured; `etag` is that of today.json in gzip."""
    found = []
    for era in ERAS:
        found += [
            Section(f"search_wire, three stories, {era}", search_hit(era), "call", era),
            Section(f"get_story, {era}", story_hit(era, story_id), "call", era, everyone=False),
            Section(f"resources/read of a story, {era}", resource_hit(era, story_id), "read", era),
        ]
    gzip = {"accept_encoding": "gzip"}
    search = f"/api/search.json?query={WORD}&limit={NINE}&since={MOMENT}"
    return [
        *found,
        Section("get_category, nine stories, not cached", category_miss(MODERN), "call", MODERN, miss=True),
        Section("search_wire, nine stories, not cached", search_miss(MODERN), "call", MODERN, miss=True),
        Section("today.json, 400 stories, gzip", get("/api/today.json", **gzip), "page"),
        Section("today.json, 304", get("/api/today.json", **gzip, if_none_match=etag), "page"),
        Section("search.json, nine stories, not cached", get(search, **gzip), "page", miss=True, everyone=False),
    ]
