"""Requests that no honest client sends, by kind: every one of them is wrong."""

import json
from collections.abc import Iterable
from typing import Any, Final, NamedTuple

from tests.mcpserver.asgi import LEGACY, MODERN, message, rpc_headers

STRANGE: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 1.5, 10**25, "", "x", "\x00", "\x1b[31m", [], [[]], {}, {"a": None}, [1, "a"]),
)
CONTROLS: Final = "\x00\x01\x07\x08\x0b\x0c\x1b\x1f\x7f\x85\u2028\u202e\ufeff\uffff"

Pairs = list[tuple[str, str]]


class Hostile(NamedTuple):
    """One request."""

    kind: str
    body: bytes
    headers: Pairs


def good(era: str = LEGACY, tool: str = "search_wire", **arguments: Any) -> dict[str, Any]:
    return message("tools/call", {"name": tool, "arguments": arguments or {"query": "agents"}}, era)


def as_bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


def anything(*values: Any) -> tuple[Any, ...]:
    return values


def calls(*params: tuple[str, Any], era: str = LEGACY) -> list[bytes]:
    return [as_bytes({**message(method, era=era), "params": given}) for method, given in params]


def each(template: bytes, texts: Iterable[bytes]) -> list[bytes]:
    return [template.replace(b"HERE", text) for text in texts]


GOOD: Final = as_bytes(good())
SEARCH: Final = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_wire","arguments":{"query":"a",HERE}}}'
NUMBERS: Final = (b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e999", b"9" * 5000, b"0x10", b"010", b"1.", b"+1", b".5", b"1_0")
HALVES: Final = (rb'"\ud800"', rb'"\udfff"', rb'"\ud800\ud800"', rb'"a\udc00b"')
DEEP: Final = [opening * n + b"1" + end * n for opening, end in ((b"[", b"]"), (b'{"a":', b"}")) for n in (10, 101, 1_100, 20_000)]
ENVELOPE: Final[dict[str, tuple[Any, ...]]] = {
    "jsonrpc": (None, 2.0, 2, "2", "1.0", "2.0 ", [], {}),
    "id": (None, True, False, 1.5, [], {}, 10**25, -(10**25), 1e300),
    "method": (None, 5, True, [], {}, ["tools/list"], {"tools/list": 1}, "", " ", "x" * 10_000),
    "params": ([], [1], "x", 5, True, [{}]),
}
PARAMS: Final = [
    *(("tools/call", {"name": wrong, "arguments": {}}) for wrong in STRANGE),
    *(("tools/call", {"name": "get_story", "arguments": wrong}) for wrong in anything([], "x", 5, [[]])),
    *(("tools/call", {"name": "get_story", "arguments": {"story_id": wrong}}) for wrong in STRANGE),
    *(("tools/call", {"name": "search_wire", "arguments": {"query": "a", "limit": wrong}}) for wrong in anything([], "x", 51, -5)),
    *(("tools/call", {"arguments": {"query": "a"}}), ("resources/read", {})),
    *(("resources/read", {"uri": wrong}) for wrong in STRANGE),
    *(("resources/list", {"cursor": wrong}) for wrong in anything("", "x", 5, [], {}, True)),
    *(("prompts/get", {"name": wrong, "arguments": {}}) for wrong in STRANGE),
    *(("prompts/get", {"name": "topic-deep-dive", "arguments": wrong}) for wrong in anything([], 5, {"topic": 5}, {})),
    *(("completion/complete", {"ref": wrong, "argument": wrong}) for wrong in STRANGE),
    ("completion/complete", {"ref": {"type": "ref/nope"}, "argument": {"name": "a", "value": "b"}}),
]
META: Final = [as_bytes({**good(MODERN), "params": {**good(MODERN)["params"], "_meta": one}}) for one in STRANGE]
BODIES: Final[dict[str, list[bytes]]] = {
    "batch": [as_bytes([good()] * number) for number in (0, 1, 2, 30)],
    "nested": [*DEEP, *each(SEARCH, (b'"limit":' + deep for deep in DEEP))],
    "envelope": [as_bytes(good() | {field: wrong}) for field, values in ENVELOPE.items() for wrong in values],
    "lacking": [as_bytes({name: value for name, value in good().items() if name != field}) for field in ("jsonrpc", "method")],
    "no object": [as_bytes(value) for value in anything(None, True, 5, 1.5, "", "tools/list", [], [[]], {}, {"a": 1})],
    "params": calls(*PARAMS),
    "controls": calls(
        *((method, {"name": name, "uri": name}) for name in CONTROLS for method in ("tools/call", "prompts/get", "resources/read")),
        *((name, {}) for name in CONTROLS),
    ),
    "number": [
        *each(b'{"jsonrpc":"2.0","id":HERE,"method":"tools/list"}', NUMBERS),
        *each(SEARCH, (b'"limit":' + number for number in NUMBERS)),
        *each(b'{"jsonrpc":"2.0","id":1,"method":"nope","params":{"_meta":{"progressToken":HERE}}}', NUMBERS),
    ],
    "surrogate": [
        *each(b'{"jsonrpc":"2.0","id":HERE,"method":"tools/list"}', HALVES),
        *each(b'{"jsonrpc":"2.0","id":1,"method":HERE}', HALVES),
        *each(SEARCH, (b'"source":' + half for half in HALVES)),
        *each(SEARCH, (half + b":1" for half in HALVES)),
    ],
    "key twice": each(
        b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{},HERE}',
        (b'"method":"nope"', b'"jsonrpc":"1.0"', b'"params":[]', b'"id":null', b'"id":{}', b'"method":{}'),
    ),
    "truncated": [GOOD[:end] for end in range(0, len(GOOD), 7)],
    "spoiled": [GOOD[:20] + byte + GOOD[20:] for byte in (b"\x00", b"\x01", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5")],
    "binary": [b"\x80" * 500, GOOD.decode().encode("utf-16"), GOOD.decode().encode("utf-32"), b"\x1f\x8b\x08" + b"x" * 50],
    "trailing": [GOOD + rest for rest in (b"x", b"{}", GOOD, b",", b"\x00", b"//", b"\n\n]")],
    "unknown": calls(*((name, {}) for name in ("tools/cal", "TOOLS/LIST", "__init__", "rpc.discover", "sampling/createMessage"))),
}


def requests(*kinds: str) -> list[Hostile]:
    """Those of these kinds, or of all of them."""
    legacy, modern = (list(rpc_headers(good(era), era).items()) for era in (LEGACY, MODERN))
    found = [Hostile(kind, body, legacy) for kind in kinds or BODIES for body in BODIES.get(kind, ())]
    return found + [Hostile("meta", body, modern) for body in META if not kinds or "meta" in kinds]
