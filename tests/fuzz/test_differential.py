"""The same connections to two real servers, one with a warm cache and one without any: both must answer the same, byte for byte.

A difference is an answer that came from the cache and is another's, is old, or belongs to another request of the connection: one
that the server without a cache never gives, however often it is asked. What it gives may depend on how the network cuts its input.
`make fuzz` sends 100,000 requests: FUZZ_REQUESTS is how many, FUZZ_SEED which, FUZZ_ONLY=4711 sends that connection alone and shows
it. Answers that depend on the moment (health, freshness, usage, feeds without entries) are never asked for.
"""

import asyncio
import json
import os
import re
import shutil
import socket
import time
import urllib.request
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Final, NamedTuple

import pytest

from config.http import uvicorn_protocol
from mcpserver.servers import wire as wire_server
from mcpserver.servers.wire.prompts import PROMPTS
from tests.clients.server import environment, fill, free_port, running
from tests.examples import FULL
from tests.fuzz import bodies, connections
from tests.fuzz.answers import check
from tests.fuzz.connections import Connection, Request
from tests.mcpserver.asgi import Answer

NUMBER: Final = int(os.environ.get("FUZZ_REQUESTS") or (10_000 if FULL else 1_500))
SEED: Final = int(os.environ.get("FUZZ_SEED", "20260728"))
ONLY: Final = os.environ.get("FUZZ_ONLY", "")
TOGETHER: Final = 24  # connections at a time
QUIET: Final = 1.5  # seconds without a byte, after which a server is taken to wait for more of the request
PATIENCE: Final = 30.0  # seconds until two servers that say different things are not waited for any longer
BETWEEN: Final = 0.002  # seconds between two writes
PAUSES: Final = (0.0, BETWEEN, 0.02, 0.1) * 5
"""The same for each further try, where the first showed a difference."""
SHOWN: Final = 3  # differences, after which the search ends
GROWTH: Final = 64_000_000  # bytes that the second half may add to what a server holds
TOKEN: Final = "quince-marmalade-and-orange-peel"
CHANGING: Final = re.compile(rb"\r\n(?:date|expires|x-request-id): [^\r]*")


class Servers(NamedTuple):
    """The ports of both, and where both write what goes wrong."""

    cold: int
    warm: int
    logs: Sequence[Path]


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Servers]:
    """Over copies of one data directory with the sample wire."""
    first = tmp_path_factory.mktemp("cold") / "wire"
    fill(first)
    second = shutil.copytree(first, tmp_path_factory.mktemp("warm") / "wire")
    ports: list[int] = []
    with ExitStack() as stack:
        for directory, megabytes in ((first, 0), (second, 16)):
            ports.append(free_port())
            env = environment(directory, ports[-1]) | {"WIRE_CACHE_MB": str(megabytes), "WIRE_METRICS_TOKEN": TOKEN}
            env |= {"WIRE_SITE_URL": "http://localhost:8000"}
            stack.enter_context(running(["manage.py", "serve"], env, directory / "server.log"))
        yield Servers(ports[0], ports[1], [first / "server.log", second / "server.log"])


class Heard:
    """What one server says on one connection."""

    def __init__(self) -> None:
        self.raw = bytearray()
        self.at = time.monotonic()
        self.was_reset = False  # then the end may be missing

    @property
    def said(self) -> bytes:
        return CHANGING.sub(b"", self.raw)

    async def listen(self, port: int, writes: Sequence[bytes], between: float, client: str) -> None:
        """Until the server closes."""
        loop = asyncio.get_running_loop()
        with socket.socket() as connection:
            connection.setblocking(False)
            connection.bind((client, 0))
            await loop.sock_connect(connection, ("127.0.0.1", port))
            writing = asyncio.create_task(_write(connection, writes, between))
            try:
                while data := await loop.sock_recv(connection, 65_536):
                    self.raw += data
                    self.at = time.monotonic()
            except ConnectionError:
                self.was_reset = True
            finally:
                writing.cancel()
                await asyncio.gather(writing, return_exceptions=True)

    def is_as(self, other: "Heard") -> bool:
        shorter, longer = sorted((self, other), key=lambda one: len(one.said))
        return longer.said == shorter.said or (shorter.was_reset and longer.said.startswith(shorter.said))


async def _write(connection: socket.socket, writes: Sequence[bytes], between: float) -> None:
    with suppress(ConnectionError):  # it may have closed, and what it said is still to be read
        for part in writes:
            await asyncio.get_running_loop().sock_sendall(connection, part)
            await asyncio.sleep(between)


async def ask(ports: Sequence[int], writes: Sequence[bytes], between: float = BETWEEN, client: str = "127.0.0.1") -> list[Heard]:
    """What each of the servers says, until all have closed, or have said the same and are quiet."""
    heard = [Heard() for _ in ports]
    tasks = {asyncio.create_task(one.listen(port, writes, between, client)) for one, port in zip(heard, ports, strict=True)}
    ends, pending = time.monotonic() + PATIENCE, tasks
    while pending and time.monotonic() < ends:
        _, pending = await asyncio.wait(pending, timeout=0.1)
        is_quiet = time.monotonic() - max(one.at for one in heard) > QUIET
        if len(pending) == len(ports) and is_quiet and len({one.said for one in heard}) == 1:
            break
    for task in pending:
        task.cancel()
    for found in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(found, Exception):
            raise found
    return heard


def split(said: bytes, requests: Sequence[Request]) -> Iterator[tuple[Request, Answer]]:
    """The answer to each request, as long as there are any."""
    for request in requests:
        while said.startswith(b"HTTP/1.1 100 "):
            said = said.partition(b"\r\n\r\n")[2]
        if not said:
            return
        head, _, said = said.partition(b"\r\n\r\n")
        lines = [line.decode("latin-1").partition(": ") for line in head.split(b"\r\n")[1:]]
        answer = Answer(int(head[9:12]), [(name.lower(), value) for name, _, value in lines])
        if answer["transfer-encoding"] == "chunked" and request.method != b"HEAD":
            answer.body, said = _unchunked(said)
        elif request.method != b"HEAD" and answer.status not in (204, 304):
            size = int(answer["content-length"] or 0)
            answer.body, said = said[:size], said[size:]
        yield request, answer


def _unchunked(said: bytes) -> tuple[bytes, bytes]:
    """A body, and what follows it: nothing, if it is a stream that has not ended."""
    body = b""
    while said:
        line, _, said = said.partition(b"\r\n")
        size = int(line, 16)
        body, said = body + said[:size], said[size + 2 :]
        if not size:
            break
    return body, said


def is_right(made: Connection, said: bytes) -> None:
    """Each request has an answer of its own, in order; right ones a good one. Raises: AssertionError."""
    assert b"HTTP/1.1 500" not in said
    answers = list(split(said, made.intact))
    for request, answer in answers:
        if answer.body == uvicorn_protocol.INVALID:  # by a header that HTTP does not allow; the connection has ended
            return
        assert answer.status < 500, answer
        if made.kind == "hostile":
            check(request.body, answer)
        elif request.own_id is not None:
            assert (answer.status, answer.json()["id"], "result" in answer.json()) == (200, request.own_id, True), answer
    if made.kind == "right":
        assert len(answers) == made.requests
        assert said.count(b"HTTP/1.1 ") > made.requests, "and then that to the last one"


def shown(number: int, made: Connection, what: str, *said: bytes) -> str:
    """A difference for people: what was written, and both answers from shortly before the first byte that differs."""
    place = next((n for n, pair in enumerate(zip(*said, strict=False)) if len(set(pair)) > 1), min(map(len, said)))
    lines = [f"FUZZ_SEED={SEED} FUZZ_ONLY={number} ({made.kind}): {what}"]
    lines += [f"  write {part[:3_000]!r}" for part in made.writes]
    lines += [f"  said {one[max(0, place - 200) : place + 600]!r}" for one in said]
    return "\n".join(lines)


def figure(port: int, name: str) -> int:
    request = urllib.request.Request(f"http://127.0.0.1:{port}/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310  an http address of ours
        lines = answer.read().decode().splitlines()
    return next((int(line.split()[1]) for line in lines if line.startswith(f"{name} ")), 0)


def memory(servers: Servers) -> list[int]:
    """Bytes that each of the servers holds; 0 where the system does not tell."""
    return [figure(port, "process_resident_memory_bytes") for port in (servers.cold, servers.warm)]


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_a_warm_cache_changes_no_answer_to_any_connection(servers: Servers) -> None:
    differences: list[str] = []
    sent = Counter[str]()
    statuses = Counter[str]()
    tries = Counter[str]()
    half: list[int] = []

    def numbers() -> Iterator[int]:
        if ONLY:
            yield int(ONLY)
            return
        number = 0
        while sum(sent.values()) < NUMBER and len(differences) < SHOWN:
            yield number
            number += 1
            if not half and sum(sent.values()) >= NUMBER / 2:
                half.extend(memory(servers))

    async def is_ever(warm: Heard, made: Connection, client: str) -> bool:
        """Whether the server without a cache says the same in another try."""
        for pause in PAUSES:
            tries["further"] += 1
            (cold,) = await ask([servers.cold], made.writes, pause, client)
            if warm.is_as(cold):
                return True
        return False

    async def compare(number: int) -> None:
        made = connections.connection(SEED, number)
        sent[made.kind] += made.requests
        # A network of its own for each connection: streams that others have just left count for a while.
        client = f"127.{1 + number % 250}.{number // 250 % 250}.1"
        cold, warm = await ask((servers.cold, servers.warm), made.writes, client=client)
        (again,) = await ask([servers.warm], made.writes, client=client)
        statuses.update(said.decode() for said in re.findall(rb"HTTP/1\.1 (\d\d\d)", cold.said))
        if ONLY:
            print(shown(number, made, "without a cache, and from the warm server", cold.said, warm.said))  # noqa: T201
        for which, found in (("from the warm server", warm), ("from the warm server the second time", again)):
            if not found.is_as(cold) and not await is_ever(found, made, client):
                differences.append(shown(number, made, f"without a cache, and {which}", cold.said, found.said))
                return
        try:
            is_right(made, cold.said)
        except Exception as error:
            differences.append(shown(number, made, repr(error), cold.said))

    async def all_of_them() -> None:
        for request in connections.every_right() * 3:
            await ask([servers.warm], [request.written(), connections.LAST])
        waiting = numbers()

        async def work() -> None:
            for number in waiting:
                await compare(number)

        await asyncio.gather(*(work() for _ in range(TOGETHER)))

    began = time.monotonic()
    try:
        asyncio.run(all_of_them())
    except ConnectionError as error:  # one of them has ended, and its log says why
        for log in servers.logs:
            error.add_note(f"{log}: {log.read_text(errors='replace')[-3_000:]}")
        raise
    took = time.monotonic() - began
    print(  # noqa: T201
        f"\n{sum(sent.values()):,} requests of seed {SEED} in {took:.0f} s, {len(differences)} differences: {dict(sent)}; "
        f"{tries['further']} further tries; {dict(statuses.most_common())}"
    )
    assert not differences, "\n\n".join(differences)
    assert figure(servers.cold, "wire_kept_bytes") == 0
    assert 0 < figure(servers.warm, "wire_kept_bytes") <= 16_000_000
    if not ONLY:
        assert all(after - before < GROWTH for before, after in zip(half, memory(servers), strict=True))


def test_a_number_names_one_connection_and_a_body_of_every_kind() -> None:
    made = [connections.connection(SEED, number) for number in range(500)]
    assert made == [connections.connection(SEED, number) for number in range(500)]
    assert {one.kind for one in made} == {"right", "hostile", "spoiled"}
    some = [bodies.body(SEED, number) for number in range(2_000)]
    assert some == [bodies.body(SEED, number) for number in range(2_000)]
    assert {one.kind for one in some} == {kind.__name__ for kind in bodies.KINDS}
    assert len({one.body for one in some}) > 1_700


def test_a_right_request_of_all_that_there_is_is_spoiled() -> None:
    named: dict[str, set[str]] = {"tools/call": set(), "prompts/get": set()}
    for method, params in bodies.VALID:
        if method in named:
            named[method].add(params["name"])
    assert named["tools/call"] == {tool.name for tool in wire_server._BOX.listed}
    assert named["prompts/get"] == {prompt.name for prompt in PROMPTS.values()}
    written = [json.loads(one.body)["method"] for one in connections.every_right() if one.body]
    assert {"tools/list", "initialize", "server/discover", "completion/complete"} < set(written)
