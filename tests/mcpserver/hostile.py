"""Requests that no honest client sends, made by a seed: every one of them is wrong, and none twice the same way."""

import json
import random
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

from tests.mcpserver.asgi import LEGACY, MODERN, message, rpc_headers

METHODS: Final = ("tools/call", "tools/list", "resources/read", "resources/list", "prompts/get", "completion/complete")
BIG: Final = 10_000_000  # bytes
STRANGE: Final[tuple[Any, ...]] = (
    None,
    True,
    False,
    0,
    -1,
    1.5,
    10**25,
    "",
    "x",
    "\x00",
    "\x1b[31m",
    [],
    [[]],
    {},
    {"a": None},
    [1, "a"],
)
CONTROLS: Final = "\x00\x01\x07\x08\x0b\x0c\x1b\x1f\x7f\x85\u2028\u202e\ufeff\uffff"

Pairs = list[tuple[str, str]]


class Hostile(NamedTuple):
    """One request."""

    kind: str
    body: bytes
    headers: Pairs
    chunk: int = 1 << 20

    def chunks(self) -> Iterator[bytes]:
        for begin in range(0, len(self.body) or 1, self.chunk):
            yield self.body[begin : begin + self.chunk]


def good(era: str = LEGACY, tool: str = "search_wire", **arguments: Any) -> dict[str, Any]:
    return message("tools/call", {"name": tool, "arguments": arguments or {"query": "agents"}}, era)


def headers(asked: dict[str, Any] | None = None, era: str = LEGACY, **changed: str) -> Pairs:
    given = rpc_headers(asked or {"method": "tools/list", "params": {}}, era)
    return list((given | {name.replace("_", "-"): value for name, value in changed.items()}).items())


def as_bytes(value: Any) -> bytes:
    return json.dumps(value).encode()


def either(rng: random.Random, asked: dict[str, Any], modern: dict[str, Any]) -> tuple[bytes, Pairs]:
    """The same request as one of the eras has it."""
    if rng.random() < 0.5:
        return as_bytes(asked), headers()
    return as_bytes(modern), headers(modern, MODERN)


def batch(rng: random.Random) -> tuple[bytes, Pairs]:
    return as_bytes([good() for _ in range(rng.randrange(0, 30))]), headers()


def nested(rng: random.Random) -> tuple[bytes, Pairs]:
    depth = rng.choice((10, 100, 900, 1_100, 20_000))
    opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}")))
    value = opening * depth + b"1" + closing * depth
    around = rng.choice(
        (b"%s", b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_wire","arguments":{"query":%s}}}')
    )
    return around % value, headers()


def envelope(rng: random.Random) -> tuple[bytes, Pairs]:
    asked = good()
    field = rng.choice(("jsonrpc", "id", "method", "params"))
    wrong: dict[str, tuple[Any, ...]] = {
        "jsonrpc": (None, 2.0, 2, "2", "1.0", "2.0 ", [], {}),
        "id": (None, True, False, 1.5, [], {}, 10**25, -(10**25), 1e300),
        "method": (None, 5, True, [], {}, ["tools/list"], {"tools/list": 1}, "", " ", "x" * 10_000),
        "params": ([], [1], "x", 5, True, [{}]),
    }
    asked[field] = rng.choice(wrong[field])
    return as_bytes(asked), headers()


def lacking(rng: random.Random) -> tuple[bytes, Pairs]:
    asked = good()
    del asked[rng.choice(("jsonrpc", "method"))]
    return as_bytes(asked), headers()


def no_object(rng: random.Random) -> tuple[bytes, Pairs]:
    return as_bytes(rng.choice((None, True, 5, 1.5, "", "tools/list", [], [[]], {}, {"a": 1}))), headers()


def params(rng: random.Random) -> tuple[bytes, Pairs]:
    wrong = rng.choice(STRANGE)
    method, given = rng.choice(
        (
            ("tools/call", {"name": wrong, "arguments": {}}),
            ("tools/call", {"arguments": {"query": "a"}}),
            (
                "tools/call",
                {"name": "search_wire", "arguments": {"query": "a", "limit": rng.choice((None, [], "x", 51, -5)) or {}}},
            ),
            ("tools/call", {"name": "get_story", "arguments": rng.choice(([], "x", 5, [[]], {"story_id": wrong}))}),
            ("resources/read", {"uri": wrong}),
            ("resources/read", {}),
            ("resources/list", {"cursor": rng.choice(("", "x", 5, [], {}, True))}),
            ("prompts/get", {"name": wrong, "arguments": {}}),
            ("prompts/get", {"name": "topic-deep-dive", "arguments": rng.choice(([], 5, {"topic": 5}, {"topic": "x"}, {}))}),
            ("completion/complete", {"ref": wrong, "argument": wrong}),
            ("completion/complete", {"ref": {"type": "ref/nope"}, "argument": {"name": "a", "value": "b"}}),
            ("initialize", {"protocolVersion": rng.choice((5, None, [])), "capabilities": wrong}),
        )
    )
    if method == "initialize":
        return as_bytes(message(method, given, LEGACY)), headers()
    return either(rng, message(method, given, LEGACY), message(method, given))


def controls(rng: random.Random) -> tuple[bytes, Pairs]:
    name = "".join(rng.choices(CONTROLS + "search_wire", k=rng.randrange(1, 60))) + "\x00"
    method = rng.choice(("tools/call", "prompts/get", "resources/read", name))
    given = {"uri": name} if method == "resources/read" else {"name": name, "arguments": {}}
    return as_bytes(message(method, given, LEGACY)), headers()


def numbers(rng: random.Random) -> tuple[bytes, Pairs]:
    number = rng.choice(
        (b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e999", b"9" * 5000, b"0x10", b"010", b"1.", b"+1", b".5", b"1_0")
    )
    return rng.choice(
        (
            b'{"jsonrpc":"2.0","id":%s,"method":"tools/list"}',
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_wire","arguments":{"query":"a","limit":%s}}}',
            b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"progressToken":%s}},"method":"nope"}',
        )
    ) % number, headers()


def surrogates(rng: random.Random) -> tuple[bytes, Pairs]:
    lone = rng.choice((rb"\ud800", rb"\udfff", rb"\ud800\ud800", rb"a\udc00b"))
    return rng.choice(
        (
            b'{"jsonrpc":"2.0","id":"%s","method":"tools/list"}',
            b'{"jsonrpc":"2.0","id":1,"method":"%s"}',
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_wire","arguments":{"query":"%s"}}}',
            b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_wire","arguments":{"%s":1,"query":"a"}}}',
        )
    ) % lone, headers()


def twice(rng: random.Random) -> tuple[bytes, Pairs]:
    """Duplicate keys, of which the last is wrong."""
    field = rng.choice(('"method":"nope"', '"jsonrpc":"1.0"', '"params":[]', '"id":null', '"id":{}', '"method":{}'))
    return f'{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{}},{field}}}'.encode(), headers()


def truncated(rng: random.Random) -> tuple[bytes, Pairs]:
    whole = as_bytes(good())
    return whole[: rng.randrange(len(whole))], headers()


def spoiled(rng: random.Random) -> tuple[bytes, Pairs]:
    whole = as_bytes(good())
    place = rng.randrange(1, len(whole) - 1)
    return whole[:place] + rng.choice((b"\x00", b"\x01", b"\xff", b"\xc0\xaf", b"\xed\xa0\x80", b"\xf5")) + whole[place:], headers()


def binary(rng: random.Random) -> tuple[bytes, Pairs]:
    whole = json.dumps(good())
    return rng.choice(
        (b"\x80" + rng.randbytes(500), whole.encode("utf-16"), whole.encode("utf-32"), b"\x1f\x8b\x08" + rng.randbytes(50))
    ), headers()


def trailing(rng: random.Random) -> tuple[bytes, Pairs]:
    return as_bytes(good()) + rng.choice((b"x", b"{}", as_bytes(good()), b",", b"\x00", b"//", b"\n\n]")), headers()


def unknown(rng: random.Random) -> tuple[bytes, Pairs]:
    method = rng.choice(
        ("tools/cal", "TOOLS/LIST", "tools/list/", "__init__", "rpc.discover", "sampling/createMessage", "tasks/list")
    )
    method += str(rng.randrange(1000))
    return either(rng, message(method, {}, LEGACY), message(method))


def content_type(rng: random.Random) -> tuple[bytes, Pairs]:
    kinds = (
        "text/plain",
        "",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/jsonx",
        "\xff",
        "*/*",
    )
    return as_bytes(good()), headers(content_type=rng.choice(kinds))


def accept(rng: random.Random) -> tuple[bytes, Pairs]:
    return as_bytes(good()), headers(accept=rng.choice(("text/html", "image/*", "none", "text/event-stream")))


def revision(rng: random.Random) -> tuple[bytes, Pairs]:
    version = rng.choice(("1999-01-01", "", "2025-11-25\x00", "2026-07-29", "x" * 5000, "\xff", "2025-11-25,2025-11-25", "latest"))
    return as_bytes(good()), headers(mcp_protocol_version=version)


def contradicting(rng: random.Random) -> tuple[bytes, Pairs]:
    asked = good(MODERN)
    changed = rng.choice(
        ({"mcp-method": "tools/list"}, {"mcp-name": "x"}, {"mcp-protocol-version": LEGACY}, {"mcp-name": "=?base64?%%?="})
    )
    return as_bytes(asked), list((rpc_headers(asked) | changed).items())


def headers_twice(rng: random.Random) -> tuple[bytes, Pairs]:
    asked = good(MODERN)
    given = headers(asked, MODERN)
    name = rng.choice(("mcp-protocol-version", "mcp-method", "mcp-name"))
    return as_bytes(asked), [*given, (name, rng.choice((dict(given)[name], "x", "")))]


def meta(rng: random.Random) -> tuple[bytes, Pairs]:
    asked = good(MODERN)
    asked["params"]["_meta"] = rng.choice((*STRANGE, {"io.modelcontextprotocol/protocolVersion": 5}))
    return as_bytes(asked), headers(good(MODERN), MODERN)


def origin_or_host(rng: random.Random) -> tuple[bytes, Pairs]:
    name, value = rng.choice((("origin", "null"), ("origin", "https://evil.example"), ("host", "evil.example"), ("host", "[")))
    return as_bytes(good()), [*headers(), (name, value)]


def large(rng: random.Random) -> tuple[bytes, Pairs]:
    body = as_bytes(good(query="a" * rng.choice((70_000, 1_000_000, BIG))))
    said = [("content-length", str(len(body)))] if rng.random() < 0.5 else []
    return body, [*headers(), *said]


KINDS: Final[tuple[Callable[[random.Random], tuple[bytes, Pairs]], ...]] = (
    *(batch, nested, envelope, lacking, no_object, params, controls, numbers, surrogates, twice, truncated, spoiled, binary),
    *(trailing, unknown, content_type, accept, revision, contradicting, headers_twice, meta, origin_or_host, large),
)


def requests(number: int, seed: int) -> list[Hostile]:
    """All kinds in turn."""
    rng = random.Random(seed)
    return [Hostile(kind.__name__, *kind(rng)) for kind in (KINDS[n % len(KINDS)] for n in range(number))]
