"""Faults that were measured in the libraries under this project, where no other test shows that the project does not have them.

docs/library-faults.md is the whole table, fault by fault with its test.
"""

import asyncio
import datetime as dt
import json
import re
import select
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import orjson
import pytest
from django.db import connections
from django.test import Client

from config.database import threads
from sources.parse import InvalidFeed, parse_feed
from tests.clients.server import environment
from tests.mcpserver.asgi import ERAS, LEGACY, call, http_scope, message, rpc_headers, said, send_request
from tests.mcpserver.conftest import close_connections, no_rate_limit, sample  # noqa: F401
from tests.security.test_threat_model import find_tests
from wire.models import UsageCount
from wire.usage import UsageKey, add_usage_counts

ROOT: Final = Path(__file__).parents[1]
WRITERS: Final = 4
READERS: Final = 2
WRITES: Final = 60


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.django_db
@pytest.mark.usefixtures("sample")
def test_the_text_beside_structured_content_is_not_indented(era: str) -> None:
    """The SDK's own copy makes 5.7 KB of 2.2."""
    result = call("get_category", era, category="funding")
    assert len(said(result).encode()) == len(orjson.dumps(result["structuredContent"]))


@pytest.mark.django_db
@pytest.mark.usefixtures("sample")
def test_twenty_stories_in_brief_fit_in_a_few_kilobytes() -> None:
    """Users of other news servers are given 90 KB for limit = 20."""
    found = call("search_wire", query="fictional", limit=20, detail="brief")
    assert len(found["structuredContent"]["stories"]) == 20
    assert len(said(found).encode()) < 16_000


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_a_hundred_requests_at_once_open_no_more_connections_than_there_are_query_threads() -> None:
    """Through Django's own ASGI handler every request starts a thread, and each keeps a connection."""

    async def together() -> None:
        asked = [message("tools/call", {"name": "search", "arguments": {"query": f"quince {n}"}}, LEGACY) for n in range(100)]
        sent = [send_request(http_scope("POST", "/mcp", rpc_headers(one, LEGACY)), [orjson.dumps(one)]) for one in asked]
        answers = await asyncio.gather(*sent)
        assert all(answer.result["structuredContent"] == {"results": []} for answer in answers)

    before = threading.active_count()
    asyncio.run(together())
    querying = [thread for thread in threading.enumerate() if thread.name.startswith("query")]
    assert 0 < len(querying) <= threads.THREADS
    assert threading.active_count() <= before + threads.THREADS + 1


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_four_writers_and_two_readers_never_find_the_database_locked() -> None:
    """With Django's own settings for SQLite half of them do."""
    minute = dt.datetime(2026, 1, 15, 10, tzinfo=dt.UTC)
    together = threading.Barrier(WRITERS + READERS)

    def write(writer: int) -> int:
        together.wait(20)
        for n in range(WRITES):
            add_usage_counts({UsageKey("wire", "tools/call", f"name {n % 5}", minute, "ok"): writer + 1})
        connections.close_all()
        return writer + 1

    def read(_: int) -> int:
        together.wait(20)
        seen = [sum(UsageCount.objects.values_list("count", flat=True)) for _ in range(WRITES)]
        connections.close_all()
        assert seen == sorted(seen)
        return 0

    with ThreadPoolExecutor(WRITERS + READERS) as pool:
        jobs = [pool.submit(write, n) for n in range(WRITERS)] + [pool.submit(read, n) for n in range(READERS)]
        expected = sum(job.result(60) for job in jobs) * WRITES
    assert sum(UsageCount.objects.values_list("count", flat=True)) == expected


def test_postgres_has_a_pool_and_no_connection_outlives_its_request_outside_of_it(tmp_path: Path) -> None:
    """CONN_MAX_AGE = 600 answered 110 requests a second instead of 531, and leaked a connection for each thread."""
    asked = "import json; from config.settings import DATABASES as d; print(json.dumps(d['default'], default=str))"
    env = environment(tmp_path, 8000) | {"DATABASE_URL": "postgres://wire@db.example:5432/wire"}
    ran = subprocess.run([sys.executable, "-c", asked], cwd=ROOT, env=env, capture_output=True, text=True, check=True, timeout=60)
    database = json.loads(ran.stdout)
    assert database["OPTIONS"]["pool"]["max_size"] >= threads.THREADS
    assert not database.get("CONN_MAX_AGE")


def test_a_feed_that_is_an_address_is_not_fetched() -> None:
    """feedparser fetches whatever text looks like one."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/feed".encode()
        with pytest.raises(InvalidFeed):
            parse_feed(address)
        assert select.select([listening], [], [], 0.1)[0] == []


def test_no_room_uses_feedparser_or_the_rate_limiters_decorator() -> None:
    """Tests compare with the one; the other breaks async views and sets no Retry-After."""
    for room in ("config", "wire", "sources", "citations", "mcpserver"):
        for file in (ROOT / room).rglob("*.py"):
            text = file.read_text(encoding="utf-8")
            assert not re.search(r"import feedparser|from feedparser|ratelimit\.decorators|@ratelimit", text), file


@pytest.mark.django_db
@pytest.mark.parametrize("limit", ["-234", "0", "101", "1e9", "NaN", "9" * 400, "10.5", "true", "\u0661"])
def test_a_limit_that_is_none_is_a_refusal_and_no_fault(client: Client, limit: str) -> None:
    for path in ("/api/search.json?query=a", "/api/categories/agents.json?", "/api/topics/openai.json?"):
        answer = client.get(f"{path}&{urlencode({'limit': limit})}")
        assert (answer.status_code, answer.json()["error"]) == (422, "invalid_argument"), (path, answer.content)


def test_every_fault_of_the_table_names_tests_that_exist() -> None:
    rows = [
        line for line in (ROOT / "docs" / "library-faults.md").read_text(encoding="utf-8").splitlines() if line.startswith("| ")
    ]
    faults = [row for row in rows if not row.startswith(("| fault", "| ---"))]
    assert len(faults) >= 50
    for row in faults:
        assert find_tests(row), row
