"""A gateway that is killed in the middle of its writes: what its callers were told is in its tables, once."""

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
from array import array
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from tests.examples import KILLS
from tests.wire.archives import MANAGE, own_environment
from tests.wire.installation import install_sqlite

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(bool(os.environ.get("TEST_DATABASE_URL")), reason="the killed processes have SQLite files"),
]

POLICY: Final = """
version = 1
[upstreams.mcp-server-market]
kind = "http"
address = "http://127.0.0.1:1/mcp"
[resources.market_crypto_trending]
limit = 90000
cost = 2.5
[resources.blockchain_base_transactions]
limit = 90000
ttl = "20ms"
[resources.openclaw_heartbeat]
limit = 90000
min_interval = "30ms"
retry_limit = 90000
"""
# Forks a gateway for each line of its input, so that no kill costs a start. Its upstream notes each call before it answers.
SERVER: Final = """
import asyncio, itertools, json, os, random, sys
import django
django.setup()
from mcpserver.gateway import queries
from mcpserver.gateway.auth import Caller
from mcpserver.upstreams.client_interface import UpstreamAnswer

CALLS, AGENT = sys.argv[1], "6f1c2a44-0000-4000-8000-000000000001"
WHO = Caller("scout", ("market://", "blockchain://", "openclaw://"), attributes={"twitter_id": "7"})


class Numbered:
    def __init__(self, policy): pass
    def explain_refusal(self, call): return None
    def marker(self, upstream): return ""
    async def close(self): pass

    async def ask(self, call):
        file = os.open(CALLS, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
        os.write(file, (call.resource + "\\n").encode())
        number = os.fstat(file).st_size
        os.close(file)
        when = f"2026-01-{1 + number // 86400 % 28:02}T{number // 3600 % 24:02}:{number // 60 % 60:02}:{number % 60:02}Z"
        trend = {"id": f"t{number}", "topic": "T", "source": "s", "engagement_score": 1.0, "timestamp": when, "metadata": {}}
        beat = {"heartbeat_id": f"6f1c2a44-0000-4000-9000-{number:012d}", "timestamp": when, "agent_status_required": "online"}
        payment = {"tx_id": f"x{number}", "from": "a", "to": "b", "amount": "0.1", "currency": "ETH"}
        return UpstreamAnswer({
            "news_global_trends": [trend],
            "market_crypto_trending": [{"trend": trend, "price_change": 1.5}],
            "blockchain_base_transactions": {"transactions": [payment | {"timestamp": when, "status": "confirmed"}]},
            "openclaw_heartbeat": beat | {"instructions": []},
        }[call.resource])


async def one(turn):
    uri = turn.choice([
        "news://global/trends?timeWindow=24h", f"market://crypto/c{turn.randrange(10**9)}/trending",
        "blockchain://base/transactions", f"openclaw://heartbeat?agent_id={AGENT}",
    ])
    answer = await queries.read_resource(uri, WHO)
    told = {"id": answer.request_id, "uri": uri, "resource": answer.resource, "outcome": answer.outcome, "sha256": answer.sha256}
    print(json.dumps(told | {"data": json.loads(answer.data_json)}), flush=True)


async def serve():
    turn = random.Random()
    while True:
        await asyncio.gather(*(one(turn) for _ in range(3)))


from mcpserver.gateway import runtime
runtime.build_upstreams = Numbered
for line in sys.stdin:
    child = os.fork()
    if not child:
        asyncio.run(serve())
    print(json.dumps({"pid": child}), flush=True)
    os.waitpid(child, 0)
    print(json.dumps({"dead": child}), flush=True)
"""


def _rows(folder: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(f"file:{folder / 'wire.sqlite3'}?mode=ro", uri=True, timeout=20)) as database:
        return database.execute(sql).fetchall()


@pytest.mark.timeout(900)
@pytest.mark.usefixtures("django_db_setup")
def test_kills_lose_and_double_nothing_that_a_caller_was_told(tmp_path: Path) -> None:
    folder, policy, calls = tmp_path / "wire", tmp_path / "policy.toml", tmp_path / "calls"
    policy.write_text(POLICY)
    env = own_environment(folder) | {"WIRE_GATEWAY_POLICY": str(policy), "REDIS_URL": ""}
    install_sqlite(folder)
    chance, answers, cut = random.Random(35), [], 0
    with subprocess.Popen(
        [sys.executable, "-c", SERVER, str(calls)],
        env=env,
        cwd=MANAGE.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for _ in range(KILLS):
            server.stdin.write("go\n")
            server.stdin.flush()
            pid, left = 0, chance.randrange(1, 120)
            while True:
                line = server.stdout.readline()
                assert line, "the server ended"
                try:
                    told = json.loads(line)
                except ValueError:
                    cut += 1  # killed in the middle of a line
                    told = json.loads(line[line.rindex('{"dead"') :]) if '{"dead"' in line else {}
                pid = told.get("pid", pid)
                if "dead" in told:
                    break
                if "id" in told:
                    answers.append(told)
                    left -= 1
                if left == 0 and pid:
                    os.kill(pid, signal.SIGKILL)
        server.stdin.close()
    done = subprocess.run(
        [sys.executable, str(MANAGE), "gateway", "read", "news://global/trends"],
        env=env,
        check=True,
        capture_output=True,
        text=True,
    )
    ids = [told["id"] for told in answers]
    assert len(answers) > 10 * KILLS
    assert {told["outcome"] for told in answers} == {"fresh", "cached"}, done.stdout

    # The log has each request that was answered, once; and at most those besides that a kill cut off before they were told.
    logged = Counter(row[0] for row in _rows(folder, "SELECT request_id FROM gateway_requestlog"))
    assert [one for one in ids if logged[one] != 1] == []
    assert set(logged.values()) == {1}
    assert len(answers) <= len(logged) <= len(answers) + 3 * KILLS + cut + 1
    counted = dict(_rows(folder, "SELECT resource, sum(calls) FROM gateway_callcount GROUP BY 1"))
    assert counted == dict(_rows(folder, "SELECT resource, count(*) FROM gateway_requestlog GROUP BY 1"))
    costs = dict(_rows(folder, "SELECT resource, sum(cost_units) FROM gateway_callcount GROUP BY 1"))
    assert costs == dict(_rows(folder, "SELECT resource, sum(cost_units) FROM gateway_requestlog GROUP BY 1"))

    # The quota holds each call that an upstream received, and at most those that a kill cut off before they were sent.
    received = Counter(calls.read_text().split())
    quota: Counter[str] = Counter()
    for name, log in _rows(folder, "SELECT name, log FROM gateway_bucket"):
        quota[name.split(" ")[0]] += len(array("q", bytes(log)))
    for resource in ("market_crypto_trending", "blockchain_base_transactions", "openclaw_heartbeat"):
        assert received[resource] <= quota[resource] <= received[resource] + 3 * KILLS, resource
    fresh = sum(told["outcome"] == "fresh" for told in answers if told["resource"] == "market_crypto_trending")
    assert fresh <= received["market_crypto_trending"]

    # What was told of an upstream is stored: each topic, each transaction, each heartbeat, once.
    stored = dict(_rows(folder, "SELECT uri, sha256 FROM gateway_entry WHERE resource LIKE 'market%'"))
    topics = {told["uri"]: told["sha256"] for told in answers if told["uri"].startswith("market:")}
    assert {uri: stored.get(uri) for uri in topics} == topics
    entries = _rows(folder, "SELECT body FROM gateway_entry WHERE resource LIKE 'blockchain%' AND note <> ''")
    seen = {one["tx_id"] for (body,) in entries for one in json.loads(body)["transactions"]}
    paid = [one["tx_id"] for told in answers if told["uri"].startswith("blockchain:") for one in told["data"]["transactions"]]
    assert set(sorted(paid, key=lambda tx: int(tx[1:]))[-500:]) <= seen
    beats = Counter(row[0] for row in _rows(folder, "SELECT heartbeat_id FROM gateway_heartbeat WHERE verdict <> 'rejected'"))
    handed_out = {told["data"]["heartbeat_id"] for told in answers if told["uri"].startswith("openclaw:")}
    assert handed_out <= set(beats)
    assert set(beats.values()) == {1}
    assert not list((folder / "gateway").glob("*.ndjson"))
