"""What a client may write on one connection, each made by its number alone: right requests of every kind, and spoiled ones."""

import itertools
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from tests.fuzz import bodies
from tests.fuzz.bodies import STORY, VALID
from tests.mcpserver.asgi import ERAS, LEGACY, MODERN, message, rpc_headers
from tests.mcpserver.hostile import Pairs

HOST: Final = b"localhost:8000"
LAST: Final = b"GET /robots.txt HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % HOST
"""Ends each connection, so that nobody has to wait whether more is answered."""
ADDRESSES: Final = f"""
    /api/today.json /api/today.schema.json /api/archive.json /api/archive/2026-10-13.json /api/archive/2026-10-13.json?revision=1
    /api/openapi.json /api/docs /api/editor-take/2026-10-13.json /api/provenance/2026-10-13.json /api/stories/{STORY}.json
    /api/stories/cbn-000000000000.json /api/categories/launches.json?limit=3 /api/topics/openai.json?since=2026-10-14
    /api/sources.json?tier=2 /api/verify-source.json?publication_name=wired /api/citations/{STORY}.json?format=bibtex
    /api/consensus.json?story_id={STORY} /api/consensus.json?headline=moon /api/search.json?query=moon&limit=4
    /api/search.json?limit=4&query=moon /api/search.json?query=openai&category=launches /api/search.json?query=&limit=0
    /api/nowhere.json / /?page=2 /day/2026-10-13 /story/{STORY} /category/agents /topic/openai /search?query=%22moon+library%22
    /search?query=moon
    /archive /corrections /mcp-spec /about /editor-take/2026-10-13 /provenance/2026-10-13 /robots.txt /llms.txt /llms-full.txt
    /for-agents.html /nowhere /feeds/stories.rss /feeds/topic-openai.atom /sitemap.xml /.well-known/mcp/server-card.json /mcp/v2
    /mcp/server-card /.well-known/wire-keys.json /static/wire/site.css /favicon.ico
""".encode().split()
CODINGS: Final = (b"", b"", b"gzip", b"zstd", b"br, gzip, zstd", b"gzip;q=0, *", b"identity", b"GZIP")
CONDITIONS: Final = (b"", b"", b"", b"*", b'"x"', b'W/"0"')
WITHOUT_END: Final = "subscriptions/listen"  # is among the hostile bodies only
ELSEWHERE: Final = {("ping", MODERN), ("initialize", MODERN), ("server/discover", LEGACY)}
"""Methods that a revision has not."""


@dataclass(slots=True)
class Request:
    """One request, in the parts that may be spoiled. `length` says how long its body is, unless a header does."""

    method: bytes
    target: bytes
    headers: list[bytes]
    body: bytes = b""
    own_id: Any = None
    version: bytes = b"HTTP/1.1"
    says_length: bool = True
    end: bytes = b"\r\n"

    def written(self) -> bytes:
        length = [b"Content-Length: %d" % len(self.body)] if self.says_length and (self.body or self.method == b"POST") else []
        return self.end.join((b" ".join((self.method, self.target, self.version)), *self.headers, *length, b"", self.body))


class Connection(NamedTuple):
    kind: str
    requests: int
    writes: tuple[bytes, ...]
    """What is written, one after the other."""
    intact: tuple[Request, ...]
    """The requests, if each must get an answer of its own; else none."""


def every_right() -> list[Request]:
    """One request of each address, and of each method, tool, resource and prompt in each era."""
    reads = [Request(b"GET", address, [b"Host: " + HOST]) for address in ADDRESSES]
    methods = [(method, params, era) for era in ERAS for method, params in VALID]
    asked = [(message(*one) | {"id": 1}, one[2]) for one in methods if (one[0], one[2]) not in ELSEWHERE and one[0] != WITHOUT_END]
    return reads + [of_mcp(json.dumps(one).encode(), list(rpc_headers(one, era).items()), 1) for one, era in asked]


def read(rng: random.Random) -> Request:
    """Of REST or the site."""
    headers = [b"Host: " + HOST]
    for name, values in ((b"Accept-Encoding: ", CODINGS), (b"If-None-Match: ", CONDITIONS)):
        if value := rng.choice(values):
            headers.append(name + value)
    return Request(rng.choices((b"GET", b"HEAD", b"OPTIONS", b"POST"), (20, 4, 1, 1))[0], rng.choice(ADDRESSES), headers)


def right(rng: random.Random, number: int) -> Request:
    """Of the MCP server, with an id that no other request has."""
    era, (method, params) = rng.choice(ERAS), rng.choice(VALID)
    while (method, era) in ELSEWHERE or method == WITHOUT_END:
        method, params = rng.choice(VALID)
    asked = {**message(method, params, era), "id": rng.choice((number, f"request-{number}"))}
    if rng.random() < 0.2:
        asked["params"] = {**params, "_meta": {**asked["params"].get("_meta", {}), "progressToken": rng.choice((number, 7, "x"))}}
    return of_mcp(json.dumps(asked).encode(), list(rpc_headers(asked, era).items()), asked["id"])


def of_mcp(body: bytes, pairs: Pairs, own_id: Any = None) -> Request:
    headers = [f"{name}: {value}".encode("latin-1") for name, value in pairs]
    if "host" not in dict(pairs):
        headers.insert(0, b"Host: " + HOST)
    return Request(b"POST", b"/mcp", headers, body, own_id)


def hostile(rng: random.Random, seed: int) -> Request:
    """A body that may be anything, in a request that is right."""
    made = bodies.body(seed, rng.randrange(1 << 30))
    return of_mcp(made.body, made.headers)


HEADERS: Final = rb"""Connection: close
Connection: keep-alive
connection: Close, x
Keep-Alive: 5
Transfer-Encoding: chunked
Transfer-Encoding: gzip, chunked
Transfer-Encoding: identity
Content-Length: 0
Content-Length: 007
Content-Length: 5
Content-Length: 70000
Content-Length: x
Expect: 100-continue
Host: evil.example
Host: 127.0.0.1
Origin: https://claude.ai
Origin: https://evil.example
X-Forwarded-For: 192.0.2.9
X-Forwarded-Host: evil.example
X-Forwarded-Proto: https
X-HTTP-Method-Override: POST
Cookie: sessionid=x
Authorization: Bearer x
Range: bytes=0-9
If-Match: *
If-Modified-Since: x
Accept: text/html
Accept: text/event-stream
Content-Encoding: gzip
Cache-Control: no-cache
Mcp-Session-Id: 1
Mcp-Param-Query: x
Mcp-Method: tools/call
A:
 folded
A : b
: x
accept-encoding:gzip""".splitlines()
RAW: Final = (b"A: " + b"b" * 15_000, b"A\x00: b", b"A: \xff", b"A: b\nC: d", b"A: \x01", b"Connection: upgrade\r\nUpgrade: h2c")
METHODS: Final = (b"GET", b"HEAD", b"POST", b"OPTIONS", b"PUT", b"DELETE", b"PATCH", b"TRACE", b"get", b"QUINCE", b"")
TARGETS: Final = rb"""
    * // /% /%00 /%2e%2e/ /? /#a mcp http://localhost:8000/mcp http://evil.example/mcp http://localhost:8000 /mcp/ /MCP /mcp?x=1
    /%6dcp /mcp/second /api/ /api/search.json?query=%ff /search?query=moon&query=agents /search?query=a&cursor=x /admin/ /metrics
    /a\
""".split()
VERSIONS: Final = (b"HTTP/1.0", b"HTTP/1.1", b"HTTP/2.0", b"HTTP/0.9", b"HTTP/1.1 ", b"http/1.1", b"")
PIECES: Final = (b"\r\n", b"\n", b"\r", b" ", b"\t", b":", b"\x00", b"\xff", b"0", b"9", b"/", b"%", b"{", b'"', b"\r\n\r\n", b"x")


def header_added(rng: random.Random, request: Request) -> None:
    request.headers.insert(rng.randrange(len(request.headers) + 1), rng.choice((*HEADERS, *RAW)))


def header_changed(rng: random.Random, request: Request) -> None:
    place = rng.randrange(len(request.headers))
    line = request.headers[place]
    name, _, value = line.partition(b": ")
    others = [other.partition(b": ")[2] for other in request.headers]
    request.headers[place : place + 1] = rng.choice(
        (
            *([], [line, line], [line.upper()], [name.title() + b":\t " + value + b" \t"], [name + b": " + rng.choice(others)]),
            *([line[: len(line) // 2]], [name + b": " + value.upper()], [name + b": " + value + b", " + value]),
        )
    )


def method_changed(rng: random.Random, request: Request) -> None:
    request.method = rng.choice(METHODS)


def target_changed(rng: random.Random, request: Request) -> None:
    path, _, query = request.target.partition(b"?")
    parameters = query.split(b"&")
    rng.shuffle(parameters)
    place = rng.randrange(len(path))
    escaped = b"%s%%%02x%s?%s" % (path[:place], path[place], path[place + 1 :], query)
    others = (rng.choice(TARGETS), rng.choice(TARGETS), rng.choice(ADDRESSES), escaped, b"http://" + HOST + request.target)
    with_more = (path + b"/", path + b"?" + b"&".join(parameters), request.target + b"&x=1", request.target + b"&" + query)
    request.target = rng.choice((*others, *with_more, request.target + b"#a"))


def version_changed(rng: random.Random, request: Request) -> None:
    request.version = rng.choice(VERSIONS)


def chunked(rng: random.Random, request: Request) -> None:
    """The same body in chunks, which are right or nearly so."""
    parts: list[bytes] = []
    rest = request.body
    while rest:
        size = rng.choice((1, 3, 20, 1_000)) if len(parts) < 20 else len(rest)
        parts.append(b"%x%s\r\n%s\r\n" % (len(rest[:size]), rng.choice((b"", b"", b"", b"", b";a=b", b" ", b"g")), rest[:size]))
        rest = rest[size:]
    ends = (b"0\r\n\r\n", b"0\r\n\r\n", b"0\r\n\r\n", b"0\r\nA: b\r\n\r\n", b"00\r\n\r\n", b"-0\r\n\r\n")
    request.body, request.says_length = b"".join(parts) + rng.choice(ends), False
    request.headers.append(rng.choice((b"Transfer-Encoding: chunked", b"transfer-encoding: Chunked")))


def length_changed(rng: random.Random, request: Request) -> None:
    size, request.says_length = len(request.body), False
    said = (b"%d" % size, b"0%d" % size, b"+%d" % size, b"%d" % (size + 1), b"%d" % max(0, size - 1), b"%d, %d" % (size, size))
    request.headers.append(b"Content-Length: " + rng.choice(said))


def line_ends_changed(_rng: random.Random, request: Request) -> None:
    request.end = b"\n"


def body_changed(rng: random.Random, request: Request) -> None:
    request.body = bodies.body(0, rng.randrange(1 << 30)).body[:5_000]


SPOILING: Final[tuple[Callable[[random.Random, Request], None], ...]] = (
    *(header_added, header_added, header_changed, header_changed, target_changed, target_changed, method_changed, version_changed),
    *(chunked, length_changed, line_ends_changed, body_changed, body_changed),
)


def spoiled(rng: random.Random, request: Request) -> bytes:
    """The request with one to three changes to its parts, or to its bytes, or to both."""
    how = rng.random()
    if how < 0.7:
        for change in rng.choices(SPOILING, k=rng.choice((1, 1, 2, 3))):
            if request.headers:
                change(rng, request)
    data = bytearray(request.written())
    if how > 0.55:
        for _ in range(rng.choice((1, 1, 2, 5))):
            place = rng.randrange(len(data) + 1)
            data[place : place + rng.choice((0, 0, 1, 1, 4, 40))] = rng.choice((*PIECES, b"", b"", rng.randbytes(1)))
    return bytes(data)


def made(rng: random.Random, kind: str, seed: int, number: int) -> Request:
    if kind == "hostile":
        return hostile(rng, seed)
    return right(rng, number) if rng.random() < 0.6 else read(rng)


def connection(seed: int, number: int) -> Connection:
    """Connection `number` of a seed."""
    rng = random.Random(f"{seed} {number}")
    kind = rng.choice(("right", "hostile", "spoiled", "spoiled"))
    requests = [made(rng, kind, seed, number * 10 + nth) for nth in range(rng.choice((1, 2, 3, 3, 4, 6)))]
    intact = () if kind == "spoiled" else tuple(requests)
    written = [spoiled(rng, one) if not intact and rng.random() < 0.6 else one.written() for one in requests]
    whole = b"".join((*written, LAST))
    cuts = sorted({0, len(whole), *(rng.randrange(len(whole)) for _ in range(rng.choice((0, 0, 1, 2, 5))))})
    return Connection(kind, len(requests), tuple(whole[begin:end] for begin, end in itertools.pairwise(cuts)), intact)
