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
from tests.mcpserver.hostile import Hostile, Pairs

CALLS: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("search_wire", {"query": "openai library", "limit": 2, "category": "launches", "since": "2026-10-12", "detail": "brief"}),
    ("search_wire", {"query": "agents", "source": "Wired"}),
    ("get_story", {"story_id": "cbn-06ff206kfxbb"}),
    ("get_category", {"category": "funding", "limit": 1, "detail": "standard"}),
    ("get_topic_coverage", {"topic": "openai", "limit": 1, "since": "2026-10-14T10:00:00Z"}),
    ("get_consensus", {"headline": "OpenAI opens a library on the moon"}),
    ("get_consensus", {"story_id": "cbn-3m958kdm977c"}),
    ("get_citation", {"story_id": "cbn-06ff206kfxbb", "format": "bibtex"}),
    ("get_editor_take", {"date": "2026-10-13"}),
    ("list_sources", {"tier": 4}),
    ("verify_source_integrity", {"publication_name": "The Verge"}),
    ("search", {"query": "moon"}),
    ("fetch", {"id": "cbn-06ff206kfxbb"}),
)
URIS: Final = (
    *("wire://today", "wire://today/agents", "wire://editor-take/today", "wire://story/cbn-06ff206kfxbb", "wire://topic/openai"),
    *("wire://archive/2026-10-13", "wire://sources", "wire://llms.txt", "wire://provenance/today", "wire://provenance/2026-10-13"),
)
PROMPTS: Final[tuple[tuple[str, dict[str, str]], ...]] = (
    ("daily-briefing", {"focus": "agents"}),
    ("cite-chatbotnews", {"story_id": "cbn-06ff206kfxbb"}),
    ("compare-coverage", {"event": "library on the moon"}),
    ("topic-deep-dive", {"topic": "openai", "window_days": "7"}),
)
CLIENT: Final = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
VALID: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    *(("tools/call", {"name": name, "arguments": arguments}) for name, arguments in CALLS),
    *(("resources/read", {"uri": uri}) for uri in URIS),
    *(("prompts/get", {"name": name, "arguments": arguments}) for name, arguments in PROMPTS),
    *((method, {}) for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list", "server/discover")),
    (
        "completion/complete",
        {"ref": {"type": "ref/resource", "uri": "wire://topic/{slug}"}, "argument": {"name": "slug", "value": "a"}},
    ),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": "topic-deep-dive"}, "argument": {"name": "topic", "value": ""}}),
    ("initialize", CLIENT),
    ("ping", {}),
    ("subscriptions/listen", {"notifications": {"resourcesListChanged": True}}),
)
"""One right request of every method, tool, resource and prompt."""
OTHERS: Final = (
    *("notifications/initialized", "notifications/cancelled", "logging/setLevel", "sampling/createMessage", "roots/list"),
    *(
        "resources/subscribe",
        "resources/unsubscribe",
        "tasks/list",
        "elicitation/create",
        "rpc.discover",
        "__class__",
        "tools/call ",
    ),
)
SCALARS: Final[tuple[Any, ...]] = (
    *(None, True, False, 0, -1, 1, 2, 50, 51, 100, 101, 2**31, 2**53, -(2**63), 2**64, 10**25, -0.0, 0.5, 10.0, 1e300, 5e-324),
    *(
        "",
        " ",
        "x",
        "\x00",
        "\x1b[2J",
        "\u202e",
        "\ufeff",
        "\u2028",
        "NaN",
        "null",
        "1",
        "-1",
        "true",
        "%s",
        "{0}",
        "${a}",
        "../..",
        "*",
    ),
    *("' OR 1=1 --", '" OR "', "\\", "openai", "wire://today", "cbn-06ff206kfxbb", "2026-10-13", "0001-01-01", "9999-12-31"),
    *(
        "2026-10-13T10:00:00+23:59",
        "0001-01-01T00:00:00+14:00",
        "9999-12-31T23:59:59-14:00",
        "a" * 600,
        "é" * 300,
        "🤖" * 200,
        "ﬁ" * 300,
    ),
    *([], {}, [[]], [None], {"": None}, {"a": {"b": []}}, ["x", 1], {"__proto__": {}}, {"$ref": "#"}),
)
NUMBERS: Final = (
    *(b"NaN", b"Infinity", b"-Infinity", b"1e400", b"-1e400", b"9" * 400, b"-" + b"9" * 4_400, b"1e-400", b"1.0", b"-0", b"0.1"),
    *(b"01", b"0x1F", b"+1", b".5", b"1.", b"1_000", b"9007199254740993", b"9223372036854775808", b"18446744073709551616"),
)
IDS: Final = (
    *NUMBERS,
    *(b"null", b"true", b"{}", b"[]", b"[1]", b'""', b'"a\\u0000b"', b'"\\ud83e\\udd16"', b'"\\ud800"', b'"' + b"i" * 5_000 + b'"'),
    *(b'"\\"id\\":1"', b'" 1 "', b"-1", b"0", b"4202607281125", b'"4202607281125"', b"1 ", b'"\xc3\xa9"', b'"\xff"', b'"a\nb"'),
)
JUNK: Final = (
    *(
        b"\x00",
        b"\x1f",
        b"\x7f",
        b"\xff",
        b"\xc0\x80",
        b"\xed\xa0\x80",
        b"\xf4\x90\x80\x80",
        b"\xef\xbb\xbf",
        b"\xfe\xff",
        b"\\u0000",
    ),
    *(
        b"\\ud800",
        b"\\udc00\\ud800",
        b"\\u00",
        b"\\x41",
        b"//",
        b"/**/",
        b",",
        b",,",
        b"]",
        b"}",
        b'"',
        b"'",
        b"\xe2\x80\xa8",
        b"NaN",
    ),
)

Made = tuple[bytes, Pairs]


def request_of(rng: random.Random) -> tuple[dict[str, Any], str]:
    """A right request and its era."""
    era = rng.choice(ERAS)
    method, params = rng.choice(VALID)
    return asking(rng, method, json.loads(json.dumps(params)), era), era


def asking(rng: random.Random, method: str, params: dict[str, Any], era: str) -> dict[str, Any]:
    return {**message(method, params, era), "id": rng.choice((1, 7, "a", "req-1", 2**31))}


def told(asked: dict[str, Any], era: str) -> Pairs:
    return list(rpc_headers(asked, era).items())


def written(rng: random.Random, value: Any) -> bytes:
    """JSON in one of the ways in which it may be written."""
    return json.dumps(
        value,
        ensure_ascii=rng.random() < 0.5,
        separators=rng.choice(((",", ":"), (", ", ": "), (" ,\t", "\r\n:"))),
        sort_keys=rng.random() < 0.2,
    ).encode("utf-8", "surrogatepass")


def strange(rng: random.Random) -> Any:
    """Its own, since a later change may change it."""
    return copy.deepcopy(rng.choice(SCALARS))


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every place in a value where another may stand: container and key."""
    found: list[tuple[Any, Any]] = []
    for key, inner in list(value.items()) if isinstance(value, dict) else list(enumerate(value)) if isinstance(value, list) else []:
        found += [(value, key), *places(inner)]
    return found


def mutated(rng: random.Random) -> Made:
    """A right request with one to three values that are wrong, missing, added or in another's place."""
    asked, era = request_of(rng)
    headers = told(asked, era)
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
    return written(rng, asked), headers


def arguments(rng: random.Random) -> Made:
    """One wrong, unknown or additional argument of a tool or prompt."""
    era = rng.choice(ERAS)
    if rng.random() < 0.75:
        method, (name, given) = "tools/call", rng.choice(CALLS)
    else:
        method, (name, given) = "prompts/get", rng.choice(PROMPTS)
    wrong = {**given, rng.choice((*given, "limit", "cursor", "tier", "since", "query", "zyzzyva")): strange(rng)}
    asked = asking(rng, method, {"name": name, "arguments": wrong}, era)
    return written(rng, asked), told(asked, era)


def with_id(rng: random.Random) -> Made:
    """An id that is none, or a strange one, at one of the places where one may stand."""
    asked, era = request_of(rng)
    asked["id"] = "IN"
    body = written(rng, asked).replace(b'"IN"', rng.choice(IDS), 1)
    return body, told(asked, era)


def number(rng: random.Random) -> Made:
    """A number that is none, anywhere."""
    asked, era = request_of(rng)
    headers = told(asked, era)
    container, key = rng.choice(places(asked))
    container[key] = "HERE"
    return written(rng, asked).replace(b'"HERE"', rng.choice(NUMBERS), 1), headers


def batch(rng: random.Random) -> Made:
    """Requests, notifications, answers and junk together; none, one, a thousand, or in one another."""
    asked, era = request_of(rng)
    kinds: tuple[Any, ...] = (
        asked,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 1, "result": {}},
        1,
        None,
        [],
        {},
    )
    several = [rng.choice(kinds) for _ in range(rng.choice((0, 1, 2, 20, 300)))]
    for _ in range(rng.choice((0, 0, 1, 5))):
        several = [several, *several[:1]]
    return written(rng, several), told(asked, era)


def twice(rng: random.Random) -> Made:
    """A key that comes again: at the top, in params, in arguments, in _meta; equal or not, spelled the same or escaped."""
    asked, era = request_of(rng)
    container, key = rng.choice([place for place in places(asked) if isinstance(place[0], dict)])
    other = rng.choice((container[key], strange(rng)))
    container["AGAIN"] = other
    spelled = (
        json.dumps(key) if rng.random() < 0.7 else '"' + "".join(f"\\u{ord(char):04x}" for char in key if ord(char) < 0x10000) + '"'
    )
    body = written(rng, asked).replace(b'"AGAIN"', spelled.encode())
    return body, told(asked, era)


def bomb(rng: random.Random) -> Made:
    """Nesting, closed or not, as the body or inside of it."""
    asked, era = request_of(rng)
    headers = told(asked, era)
    depth = rng.choice((20, 120, 254, 900, 1_020, 1_030, 5_000, 30_000))
    opening, closing = rng.choice(((b"[", b"]"), (b'{"a":', b"}"), (b'[{"":', b"}]")))
    depth = min(depth, 60_000 // len(opening + closing))
    deep = opening * depth + b"1" + closing * rng.choice((depth, depth, depth - 1, 0))
    if rng.random() < 0.3:
        return deep, headers
    container, key = rng.choice(places(asked))
    container[key] = "DEEP"
    return written(rng, asked).replace(b'"DEEP"', deep, 1), headers


def junk(rng: random.Random) -> Made:
    """Bytes that belong nowhere, somewhere: controls, half characters, broken UTF-8, marks, comments."""
    asked, era = request_of(rng)
    body = bytearray(written(rng, asked))
    for _ in range(rng.choice((1, 1, 2, 8))):
        at = rng.randrange(len(body) + 1)
        body[at : at + rng.choice((0, 0, 1, 5))] = rng.choice(JUNK)
    return bytes(body), told(asked, era)


def flipped(rng: random.Random) -> Made:
    asked, era = request_of(rng)
    body = bytearray(written(rng, asked))
    for _ in range(rng.choice((1, 1, 3, 30))):
        body[rng.randrange(len(body))] = rng.randrange(256)
    return bytes(body), told(asked, era)


def cut(rng: random.Random) -> Made:
    """Truncated, or with a part missing, or twice in a row."""
    asked, era = request_of(rng)
    body = written(rng, asked)
    one, other = sorted((rng.randrange(len(body) + 1), rng.randrange(len(body) + 1)))
    return rng.choice((body[:one], body[one:], body[:one] + body[other:], body[:other] + body[one:])), told(asked, era)


def joined(rng: random.Random) -> Made:
    """Several documents in one body."""
    asked, era = request_of(rng)
    body = written(rng, asked)
    other = rng.choice((body, b"{}", b"null", b"\x00", b"1", written(rng, request_of(rng)[0])))
    return rng.choice((b"", b"\n", b",", b"\x1e", b" ")).join((body, other) if rng.random() < 0.8 else (other, body)), told(
        asked, era
    )


def encoded(rng: random.Random) -> Made:
    """In another encoding, with or without its mark."""
    asked, era = request_of(rng)
    text = written(rng, asked).decode("utf-8", "replace")
    coding = rng.choice(("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-7", "latin-1", "cp037", "shift_jis"))
    return text.encode(coding, "replace"), told(asked, era)


def large(rng: random.Random) -> Made:
    """About as large as a body may be, or larger, by what means something or by nothing."""
    asked, era = request_of(rng)
    headers = told(asked, era)
    size = rng.choice((60_000, 65_535, 65_536, 65_537, 70_000, 300_000))
    if rng.random() < 0.5:
        container, key = rng.choice(places(asked))
        container[key] = rng.choice(("a", "é", "\\", "a ", '"')) * size
        return written(rng, asked)[: rng.choice((size, 2 * size))], headers
    body = written(rng, asked)
    return body.ljust(size) if rng.random() < 0.5 else body.rjust(size, rng.choice((b" ", b"\n", b"\t"))), headers


def unasked(rng: random.Random) -> Made:
    """Notifications with ids, requests without, answers that nobody asked for, methods of others."""
    asked, era = request_of(rng)
    headers = told(asked, era)
    change = rng.randrange(5)
    if change == 0:
        asked["method"] = rng.choice(OTHERS)
    elif change == 1:
        del asked["id"]
    elif change == 2:
        asked = {"jsonrpc": "2.0", "id": asked["id"], rng.choice(("result", "error")): strange(rng)}
    elif change == 3:
        asked[rng.choice(("result", "error"))] = strange(rng)
    else:
        asked["jsonrpc"] = rng.choice(("1.0", 2.0, "2.00", None, ["2.0"], "", "２.０"))
    return written(rng, asked), headers if rng.random() < 0.5 else told(
        {"params": {}, **asked, "method": str(asked.get("method"))[:50].encode("ascii", "ignore").decode()}, era
    )


def shapes(rng: random.Random) -> Made:
    """What looks like the request's own id and is none: in a text, in an argument, in _meta, twice."""
    asked, era = request_of(rng)
    headers = told(asked, era)
    meta = asked["params"].setdefault("_meta", {})
    trap = rng.choice(('"id":5', '{"id":5}', '"id": "x",', "4202607281125", '"id":4202607281125}'))
    rng.choice((asked["params"], meta, asked))[rng.choice(("id", "a", "progressToken", "arguments"))] = rng.choice(
        (trap, {"id": 5}, 5, "x")
    )
    if rng.random() < 0.5:
        asked = {"params": asked.pop("params"), **asked}  # the request's own id comes last
    return json.dumps(asked, separators=(",", ":")).encode(), headers


def headed(rng: random.Random) -> Made:
    """Headers that are missing, wrong, doubled, of the other era, or say another request than the body."""
    asked, era = request_of(rng)
    other = request_of(rng)[0]
    given = dict(told(asked, rng.choice((era, *ERAS))))
    for _ in range(rng.choice((1, 1, 2, 4))):
        name = rng.choice(
            ("mcp-protocol-version", "mcp-method", "mcp-name", "content-type", "accept", "mcp-session-id", "origin", "host")
        )
        value = rng.choice(
            (
                *(
                    LEGACY,
                    MODERN,
                    "2024-11-05",
                    "2025-03-26",
                    "1999-01-01",
                    "",
                    "x",
                    "=?base64?%%?=",
                    "=?base64?eA==?=",
                    "\xff\xfe",
                ),
                *(
                    str(other["method"]),
                    str(other["params"].get("name", "")),
                    "application/json",
                    "application/JSON; charset=utf-16",
                ),
                *(
                    "text/event-stream",
                    "*/*",
                    "application/json;q=0",
                    "text/html",
                    " " + MODERN + "\t",
                    "a" * 3_000,
                    "https://claude.ai",
                    "null",
                ),
            )
        )
        if rng.random() < 0.3:
            given.pop(name, None)
        else:
            given[name] = value
    pairs = list(given.items())
    if rng.random() < 0.3:
        pairs += [rng.choice(pairs)] if pairs else []
    return written(rng, asked), pairs


def no_request(rng: random.Random) -> Made:
    """JSON that is no request at all, or bytes that are nothing."""
    asked, era = request_of(rng)
    if rng.random() < 0.4:
        return rng.randbytes(rng.choice((0, 1, 7, 300, 5_000))), told(asked, era)
    return written(rng, rng.choice((strange(rng), asked["params"], {"jsonrpc": "2.0"}, {**asked, "method": strange(rng)}))), told(
        asked, era
    )


KINDS: Final[tuple[Callable[[random.Random], Made], ...]] = (
    *(
        mutated,
        arguments,
        mutated,
        with_id,
        number,
        batch,
        twice,
        bomb,
        junk,
        flipped,
        cut,
        joined,
        encoded,
        large,
        unasked,
        shapes,
    ),
    *(headed, headed, no_request, mutated, arguments),
)


def body(seed: int, number: int) -> Hostile:
    """Body `number` of a seed."""
    rng = random.Random(seed + number)
    kind = KINDS[number % len(KINDS)]
    return Hostile(kind.__name__, *kind(rng))
