"""Hostile JSON-RPC bodies, each made by its number alone: body 4,711 of a seed is the same wherever it is made.

Unlike tests/mcpserver/hostile.py, whose requests are wrong by construction, these may by chance be right: whatever they are, the
answer is well-formed and costs little.
"""

import copy
import json
import random
from collections.abc import Callable
from typing import Any, Final

from tests.mcpserver.asgi import ERAS, LEGACY, MODERN, message, rpc_headers
from tests.mcpserver.hostile import Hostile

STORY: Final = "cbn-06ff206kfxbb"
CALLS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("search_wire", {"query": "openai library", "limit": 2, "category": "launches", "since": "2026-10-12", "detail": "brief"}),
    ("search_wire", {"query": "agents", "source": "Wired"}),
    ("get_story", {"story_id": STORY}),
    ("get_category", {"category": "funding", "limit": 1, "detail": "standard"}),
    ("get_topic_coverage", {"topic": "openai", "limit": 1, "since": "2026-10-14T10:00:00Z"}),
    ("get_consensus", {"headline": "OpenAI opens a library on the moon"}),
    ("get_consensus", {"story_id": "cbn-3m958kdm977c"}),
    ("get_citation", {"story_id": STORY, "format": "bibtex"}),
    ("get_editor_take", {"date": "2026-10-13"}),
    ("list_sources", {"tier": 4}),
    ("verify_source_integrity", {"publication_name": "The Verge"}),
    ("list_events", {"category": "agents"}),
    ("get_event", {"event_id": STORY}),
    ("get_storyline", {"event_id": STORY, "limit": 3}),
    ("get_entity", {"name": "OpenAI", "limit": 1}),
    ("verify_citation", {"text": f"See {STORY}."}),
    ("get_provenance", {"story_id": STORY}),
    ("get_changes", {}),
    ("get_changes", {"since": "1970-01-01"}),
    ("corroborate", {"claim": "OpenAI opened a library on the Moon"}),
    ("compare_coverage", {"event_id": STORY}),
    ("check_limits", {}),
    ("search", {"query": "moon"}),
    ("fetch", {"id": STORY}),
)
URIS: Final = (
    *("wire://today", "wire://today/agents", "wire://editor-take/today", f"wire://story/{STORY}", "wire://topic/openai"),
    *("wire://archive/2026-10-13", "wire://sources", "wire://llms.txt", "wire://provenance/today", "wire://provenance/2026-10-13"),
)
PROMPTS: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("daily-briefing", {"focus": "agents"}),
    ("cite-chatbotnews", {"story_id": STORY}),
    ("compare-coverage", {"event": "library on the moon"}),
    ("topic-deep-dive", {"topic": "openai", "window_days": "7"}),
)
CLIENT: Final = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
TOPIC: Final = {"ref": {"type": "ref/resource", "uri": "wire://topic/{slug}"}, "argument": {"name": "slug", "value": "a"}}
WINDOW: Final = {"ref": {"type": "ref/prompt", "name": "topic-deep-dive"}, "argument": {"name": "topic", "value": ""}}
VALID: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    *(("tools/call", {"name": name, "arguments": arguments}) for name, arguments in CALLS),
    *(("resources/read", {"uri": uri}) for uri in URIS),
    *(("prompts/get", {"name": name, "arguments": arguments}) for name, arguments in PROMPTS),
    *((method, {}) for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list", "server/discover")),
    *(("completion/complete", TOPIC), ("completion/complete", WINDOW), ("initialize", CLIENT), ("ping", {})),
    ("subscriptions/listen", {"notifications": {"resourcesListChanged": True}}),
)
"""One right request of every method, tool, resource and prompt."""
OTHERS: Final = (
    *("notifications/initialized", "notifications/cancelled", "logging/setLevel", "sampling/createMessage", "roots/list"),
    *("resources/subscribe", "tasks/list", "elicitation/create", "rpc.discover", "__class__", "tools/call "),
)
SCALARS: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 1, 2, 50, 51, 100, 101, 2**31, 2**53, -(2**63), 2**64, 10**25, -0.0, 0.5, 10.0, 1e300, 5e-324),
    *("", " ", "x", "\x00", "\x1b[2J", "\u202e", "\ufeff", "\u2028", "NaN", "null", "1", "-1", "true", "%s", "{0}", "../..", "*"),
    *("' OR 1=1 --", '" OR "', "\\", "openai", "wire://today", STORY, "2026-10-13", "0001-01-01", "9999-12-31", '"id":5'),
    *("2026-10-13T10:00:00+23:59", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"),
    *("a" * 600, "é" * 300, "🤖" * 200, "ﬁ" * 300),
    *([], {}, [[]], [None], {"": None}, {"a": {"b": []}}, ["x", 1], {"__proto__": {}}, {"$ref": "#"}, {"id": 5}),
)
NUMBERS: Final = (
    *(b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e400", b"9" * 400, b"-" + b"9" * 4_400, b"1e-400", b"1.0", b"-0", b"0.1"),
    *(b"01", b"0x1F", b"+1", b".5", b"1.", b"1_000", b"9007199254740993", b"9223372036854775808", b"18446744073709551616"),
)
IDS: Final = (
    *NUMBERS,
    *(b"null", b"true", b"{}", b"[]", b"[1]", b'""', b'"a\\u0000b"', b'"\\ud83e\\udd16"', b'"\\ud800"', b'"' + b"i" * 5_000 + b'"'),
    *(b'"\\"id\\":1"', b'" 1 "', b"-1", b"0", b"4202607281125", b"1 ", b'"\xc3\xa9"', b'"\xff"', b'"a\nb"'),
)
JUNK: Final = (
    *(b"\x00", b"\x1f", b"\x7f", b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\xef\xbb\xbf", b"\xe2\x80\xa8"),
    *(rb"\u0000", rb"\ud800", rb"\udc00\ud800", rb"\u00", rb"\x41", b"//", b"/**/", b",", b"]", b"}", b'"', b"'", b"NaN"),
)
NAMES: Final = ("mcp-protocol-version", "mcp-method", "mcp-name", "content-type", "accept", "mcp-session-id", "origin", "host")
VALUES: Final = (
    *(LEGACY, MODERN, "2024-11-05", "2025-03-26", "1999-01-01", "", "x", "=?base64?%%?=", "=?base64?eA==?=", "\xff\xfe"),
    *("application/json", "application/JSON; charset=utf-16", "text/event-stream", "*/*", "application/json;q=0", "text/html"),
    *(f" {MODERN}\t", "a" * 3_000, "https://claude.ai", "null", "tools/list", "tools/call", "list_sources"),
)
META: Final = ("progressToken", "protocolVersion", "clientInfo", "clientCapabilities", "logLevel", "id")

Asked = dict[str, Any]
Headers = dict[str, str]


def written(rng: random.Random, value: Any) -> bytes:
    """JSON in one of the ways in which it may be written."""
    separators = rng.choice(((",", ":"), (", ", ": "), (" ,\t", "\r\n:")))
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5, separators=separators, sort_keys=rng.random() < 0.2)
    return text.encode("utf-8", "surrogatepass")


def strange(rng: random.Random) -> Any:
    """Its own, since a later change may change it."""
    return copy.deepcopy(rng.choice(SCALARS))


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a value where another may stand: container and key."""
    found: list[tuple[Any, Any]] = []
    for key, inner in list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []:
        found += [(value, key), *places(inner)]
    return found


def holding(rng: random.Random, asked: Asked, text: bytes) -> bytes:
    """The request with this text in place of one of its values, whether that is JSON or not."""
    container, key = rng.choice(places(asked))
    container[key] = "HERE"
    return written(rng, asked).replace(b'"HERE"', text, 1)


def mutated(rng: random.Random, asked: Asked, _headers: Headers) -> bytes:
    """One to three values that are wrong, missing, added or in another's place."""
    for _ in range(rng.randint(1, 3)):
        container, key = rng.choice(places(asked))
        change = rng.randrange(4)
        if change == 0:
            container[key] = strange(rng)
        elif change == 1:
            del container[key]
        elif change == 2 and isinstance(container, dict):
            container[rng.choice(("zyzzyva", "", "id", "_meta", "cursor", "limit", "__proto__", "Name", key + " "))] = strange(rng)
        else:
            container[key] = [container[key]] if rng.random() < 0.5 else {"value": container[key]}
        if not places(asked):
            break
    return written(rng, asked)


def arguments(rng: random.Random, asked: Asked, headers: Headers) -> bytes:
    """One wrong, unknown or additional argument of a tool or prompt; of another method a wrong parameter."""
    given = asked["params"].setdefault("arguments", {})
    given[rng.choice((*given, "limit", "cursor", "tier", "since", "query", "zyzzyva"))] = strange(rng)
    return written(rng, asked) if rng.random() < 0.9 else mutated(rng, asked, headers)


def meta(rng: random.Random, asked: Asked, _headers: Headers) -> bytes:
    """Members of `_meta` that are wrong, or something in its place that has none."""
    ours = asked["params"].setdefault("_meta", {})
    name = rng.choice(("progressToken", *META))
    if rng.random() < 0.8:
        ours[name if name in ("progressToken", "id") else f"io.modelcontextprotocol/{name}"] = strange(rng)
    else:
        asked["params"]["_meta"] = strange(rng)
    return written(rng, asked)


def with_id(rng: random.Random, asked: Asked, _headers: Headers) -> bytes:
    """An id that is none, or a strange one; now and then behind everything else."""
    asked["id"] = "HERE"
    if rng.random() < 0.5:
        asked["params"] = asked.pop("params")
    return written(rng, asked).replace(b'"HERE"', rng.choice(IDS), 1)


def number(rng: random.Random, asked: Asked, _headers: Headers) -> bytes:
    """A number that is none, anywhere."""
    return holding(rng, asked, rng.choice(NUMBERS))


def batch(rng: random.Random, asked: Asked, _headers: Headers) -> bytes:
    """Requests, notifications, answers and junk together; none, one, many, or in one another."""
    note, answer = {"jsonrpc": "2.0", "method": "notifications/initialized"}, {"jsonrpc": "2.0", "id": 1, "result": {}}
    several: list[Any] = [rng.choice((asked, note, answer, 1, None, [], {})) for _ in range(rng.choice((0, 1, 2, 20, 300)))]
    for _ in range(rng.choice((0, 0, 1, 5))):
        several = [several, *several[:1]]
    return written(rng, several)


def twice(rng: random.Random, asked: Asked, _headers: Headers) -> bytes:
    """A key that comes again: at the top, in params, in arguments, in _meta; equal or not, spelled the same or escaped."""
    container, key = rng.choice([place for place in places(asked) if isinstance(place[0], dict)])
    container["AGAIN"] = rng.choice((container[key], strange(rng)))
    escaped = '"' + "".join(f"\\u{ord(char):04x}" for char in key) + '"'
    return written(rng, asked).replace(b'"AGAIN"', (json.dumps(key) if rng.random() < 0.7 else escaped).encode())


def bomb(rng: random.Random, asked: Asked, _headers: Headers) -> bytes:
    """Nesting, closed or not, as the body or inside of it."""
    opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b'[{"":', b"}]")))
    depth = min(rng.choice((20, 120, 254, 900, 1_020, 1_030, 5_000, 30_000)), 60_000 // len(opening + closing))
    deep = opening * depth + b"1" + closing * rng.choice((depth, depth, depth - 1, 0))
    return deep if rng.random() < 0.3 else holding(rng, asked, deep)


def spoiled(rng: random.Random, asked: Asked, _headers: Headers) -> bytes:
    """Bytes that belong nowhere, or other bytes, somewhere: controls, half characters, broken UTF-8, marks, comments."""
    body = bytearray(written(rng, asked))
    for _ in range(rng.choice((1, 1, 2, 8, 30))):
        at = rng.randrange(len(body) + 1)
        body[at : at + rng.choice((0, 0, 1, 1, 5))] = rng.choice((*JUNK, rng.randbytes(1), rng.randbytes(1)))
    return bytes(body)


def cut(rng: random.Random, asked: Asked, _headers: Headers) -> bytes:
    """Truncated, or with a part missing or twice, or with another document in front or behind."""
    body = written(rng, asked)
    one, other = sorted((rng.randrange(len(body) + 1), rng.randrange(len(body) + 1)))
    second = rng.choice((body, b"{}", b"null", b"\x00", b"1"))
    joined = rng.choice((b"", b"\n", b",", b"\x1e", b" ")).join(rng.sample((body, second), 2))
    return rng.choice((body[:one], body[one:], body[:one] + body[other:], body[:other] + body[one:], joined, joined))


def encoded(rng: random.Random, asked: Asked, _headers: Headers) -> bytes:
    """In another encoding, with or without its mark."""
    coding = rng.choice(("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "latin-1", "cp037", "shift_jis"))
    return written(rng, asked).decode("utf-8", "replace").encode(coding, "replace")


def large(rng: random.Random, asked: Asked, _headers: Headers) -> bytes:
    """About as large as a body may be, or larger, by what means something or by nothing."""
    size = rng.choice((60_000, 65_535, 65_536, 65_537, 70_000, 300_000))
    if rng.random() < 0.5:
        container, key = rng.choice(places(asked))
        container[key] = rng.choice(("a", "é", "\\", "a ", '"')) * size
        return written(rng, asked)[: rng.choice((size, 2 * size))]
    body = written(rng, asked)
    return body.ljust(size) if rng.random() < 0.5 else body.rjust(size, rng.choice((b" ", b"\n", b"\t")))


def unasked(rng: random.Random, asked: Asked, headers: Headers) -> bytes:
    """Notifications with ids, requests without, answers that nobody asked for, methods of others."""
    change = rng.randrange(5)
    if change == 0:
        asked["method"] = rng.choice(OTHERS)
        if rng.random() < 0.5:
            headers |= {"mcp-method": asked["method"]}
    elif change == 1:
        del asked["id"]
    elif change == 2:
        asked = {"jsonrpc": "2.0", "id": asked["id"], rng.choice(("result", "error")): strange(rng)}
    elif change == 3:
        asked[rng.choice(("result", "error"))] = strange(rng)
    else:
        asked["jsonrpc"] = rng.choice(("1.0", 2.0, "2.00", None, ["2.0"], "", "２.０"))
    return written(rng, asked)


def headed(rng: random.Random, asked: Asked, headers: Headers) -> bytes:
    """Headers that are missing, wrong or of the other era, or say another request than the body."""
    for _ in range(rng.choice((1, 1, 2, 4))):
        name = rng.choice(NAMES)
        if rng.random() < 0.3:
            headers.pop(name, None)
        else:
            headers[name] = rng.choice(VALUES)
    return written(rng, asked)


def no_request(rng: random.Random, asked: Asked, _headers: Headers) -> bytes:
    """JSON that is no request at all, or bytes that are nothing."""
    if rng.random() < 0.4:
        return rng.randbytes(rng.choice((0, 1, 7, 300, 5_000)))
    return written(rng, rng.choice((strange(rng), asked["params"], {"jsonrpc": "2.0"}, {**asked, "method": strange(rng)})))


def right(rng: random.Random, asked: Asked, _headers: Headers) -> bytes:
    return written(rng, asked)


KINDS: Final[tuple[Callable[[random.Random, Asked, Headers], bytes], ...]] = (
    *(mutated, arguments, meta, with_id, number, batch, twice, bomb, spoiled, cut, encoded, large, unasked, headed, no_request),
    *(mutated, arguments, meta, headed, right),
)


def body(seed: int, number: int) -> Hostile:
    """Body `number` of a seed."""
    rng = random.Random(seed + number)
    era, (method, params) = rng.choice(ERAS), rng.choice(VALID)
    asked = {**message(method, copy.deepcopy(params), era), "id": rng.choice((1, 7, "a", "req-1", 2**31))}
    headers = rpc_headers(asked, era)
    kind = KINDS[number % len(KINDS)]
    content = kind(rng, asked, headers)
    pairs = list(headers.items())
    if kind is headed and rng.random() < 0.3:
        pairs += [rng.choice(pairs)] if pairs else []
    return Hostile(kind.__name__, content, pairs)
