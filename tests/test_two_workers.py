"""The wire on more than one processor: two workers under `manage.py serve`; in the services run on Postgres and Redis.

Which of them answers is the kernel's choice, so what both must know is asked on many connections.
"""

import http.client
import itertools
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.clients.server import ROOT, environment, free_port, running, services
from tests.faults.machines import until
from tests.wire.archives import item, line, ndjson
from tests.wire.installation import set_up

pytestmark = pytest.mark.slow

CONNECTIONS: Final = 40


@dataclass(frozen=True, slots=True)
class Wire:
    directory: Path
    env: dict[str, str]

    def load(self, number: int) -> None:
        """Publish an item by another process."""
        archive = ndjson(self.directory / f"{number}.ndjson", [line(number)])
        command = [sys.executable, "manage.py", "loadwire", str(archive)]
        subprocess.run(command, cwd=ROOT, env=self.env, capture_output=True, check=True)

    def ask(self, method: str, path: str, asked: Any = None, *, client: str) -> tuple[int, Any]:
        """Status and answer of a client, on a connection of its own."""
        headers = {"x-forwarded-for": client, "content-type": "application/json", "accept": "application/json"}
        with closing(http.client.HTTPConnection("127.0.0.1", int(self.env["PORT"]), timeout=20)) as connection:
            connection.request(method, path, json.dumps(asked) if asked else None, headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read() or b"null")


@pytest.fixture(scope="module")
def wire(tmp_path_factory: pytest.TempPathFactory, django_db_setup: None) -> Iterator[Wire]:  # noqa: ARG001
    directory = tmp_path_factory.mktemp("wire")
    env = environment(directory, free_port()) | {"WIRE_WORKERS": "2"} | services(directory)
    wire = Wire(directory, env | {"WIRE_RATE_LIMIT": "60/m", "WIRE_TRUSTED_PROXIES": "127.0.0.1"})
    set_up(directory)
    wire.load(0)
    with running(["manage.py", "serve"], wire.env, directory / "serve.log"):
        yield wire


@pytest.mark.django_db
def test_a_client_over_its_limit_is_refused_by_whichever_worker_it_meets(wire: Wire) -> None:
    """Exactly, with Redis; without it each worker counts alone."""
    answers = [wire.ask("GET", "/mcp", client="192.0.2.1")[0] for _ in range(240)]
    passed = answers.count(405)
    assert passed + answers.count(429) == 240
    if wire.env.get("REDIS_URL"):
        assert (passed, answers[60:]) == (60, [429] * 180)
    else:  # how many requests each worker gets is for the system to say
        assert 60 <= passed <= 120
    assert wire.ask("GET", "/mcp", client="192.0.2.2")[0] == 405


@pytest.mark.django_db
def test_whichever_worker_is_asked_knows_what_another_process_published(wire: Wire) -> None:
    call = {"name": "search_wire", "arguments": {"query": '"Quince1"'}}  # quoted, or the nearest in meaning is found before
    question = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}

    def told(client: str) -> tuple[list[str], list[str]]:
        by_rest = wire.ask("GET", "/api/search.json?query=%22Quince1%22", client=client)[1]
        by_mcp = wire.ask("POST", "/mcp", question, client=client)[1]["result"]["structuredContent"]
        first, second = ([story["headline"] for story in found["stories"]] for found in (by_rest, by_mcp))
        return first, second

    before = [told(f"198.51.100.{number}") for number in range(CONNECTIONS)]
    wire.load(1)
    headline = item(1)["title"]
    assert before == [([], [])] * CONNECTIONS
    rounds = itertools.count()  # a client each time: the limit is not what is tried here
    until(lambda: all(told(f"10.{(n := next(rounds)) >> 8}.{n & 255}.1") == ([headline], [headline]) for _ in range(CONNECTIONS)))
