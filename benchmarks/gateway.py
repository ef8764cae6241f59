"""The gateway beside a direct server and proxies: reads a second, killed and hung upstreams, equal questions at once.

    python -m benchmarks.gateway [--seconds 3] [--rounds 3]

Everything runs on this machine, interleaved: each round measures each candidate once; medians are printed. Rivals that are not
installed (fastmcp, mcp-proxy, ContextForge in environments of their own: FASTMCP_PYTHON, MCP_PROXY) are left out, and that is said.
"""

import argparse
import asyncio
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpcore2

DIRECT = """
import json, sys
from mcp.server import MCPServer
server = MCPServer("direct")
TEXT = json.dumps([{"id": f"t{n}", "topic": "A trend " * 12, "source": "s", "engagement_score": 1.0,
    "timestamp": "2026-11-24T00:00:00Z", "metadata": {"category": "technology"}} for n in range(9)])
@server.resource("market://crypto/{asset}/trending")
def trending(asset: str) -> str:
    return json.dumps([{"trend": one} for one in json.loads(TEXT)])
import uvicorn
uvicorn.run(server.streamable_http_app(json_response=True, stateless_http=True), port=int(sys.argv[1]), log_level="error")
"""
FASTMCP = """
import sys
from fastmcp.server import create_proxy
create_proxy(sys.argv[2]).run(transport="http", port=int(sys.argv[1]), log_level="ERROR", stateless_http=True, json_response=True)
"""
MISBEHAVING = str(Path(__file__).parent.parent / "mcpserver" / "upstreams" / "misbehaving.py")
CONNECTIONS = 8
URI = "market://crypto/bitcoin/trending"


def body(uri: str) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "resources/read", "params": {"uri": uri}}).encode()


def headers(token: str = "") -> list[tuple[str, str]]:
    found = [
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-11-25"),
    ]
    return [*found, ("authorization", f"Bearer {token}")] if token else found


async def hammer(url: str, seconds: float, uris: Callable[[], str], token: str = "") -> tuple[float, float]:
    """Answers a second over CONNECTIONS connections, and the 99th percentile in milliseconds."""
    times: list[float] = []
    ends = time.perf_counter() + seconds
    heads = headers(token)

    async def one() -> None:
        async with httpcore2.AsyncConnectionPool(max_connections=1) as pool:
            while time.perf_counter() < ends:
                began = time.perf_counter()
                answer = await pool.request("POST", url, headers=heads, content=body(uris()))
                if answer.status != 200 or b'"error"' in answer.content[:60]:
                    raise RuntimeError(answer.content[:300])
                times.append(time.perf_counter() - began)

    await asyncio.gather(*(one() for _ in range(CONNECTIONS)))
    return len(times) / seconds, sorted(times)[int(len(times) * 0.99)] * 1000


def cpu(pid: int) -> float:
    """Seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def running(*command: str, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    process = subprocess.Popen(
        command, env={**os.environ, **env}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def port() -> int:
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_for(where: int) -> None:
    import socket

    for _ in range(600):
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", where)) == 0:
                return
        time.sleep(0.05)
    raise SystemExit(f"nothing listens at {where}")


def policy(folder: Path, upstream: int, hung: int) -> Path:
    """The market from the direct server; agents of the relay from a server that hangs; limits that stand in nobody's way."""
    file = folder / "policy.toml"
    file.write_text(f'''version = 1
[upstreams.mcp-server-market]
kind = "http"
address = "http://127.0.0.1:{upstream}/mcp"
mode = "{os.environ.get("GATEWAY_MODE", "2026-07-28")}"
[upstreams.mcp-server-openclaw]
kind = "http"
address = "http://127.0.0.1:{hung}/mcp"
[resources.market_crypto_trending]
limit = 5000
period = "1s"
stale = "1h"
chain = []
[resources.openclaw_arp_discover]
limit = 100000
chain = []
''')
    return file


def seeded(data: Path, config: Path) -> str:
    env = {"WIRE_DATA_DIR": str(data), "WIRE_GATEWAY_POLICY": str(config), "WIRE_INGEST": "off"}
    manage = [sys.executable, "manage.py"]
    subprocess.run([*manage, "migrate", "-v0"], env=os.environ | env, check=True, stdin=subprocess.DEVNULL)
    grants = ["--grant", "market://", "--grant", "openclaw://"]
    told = subprocess.run([*manage, "gateway", "agent", "bench", *grants], env=os.environ | env, check=True, capture_output=True)
    return told.stdout.decode().split()[-1]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="gateway-bench-")))
        direct_at, gateway_at = port(), port()
        (folder / "direct.py").write_text(DIRECT)
        control, hung_file = folder / "control", folder / "hung"
        control.write_text(json.dumps({"mode": "ok", "data": [{"agent_id": "a", "name": "n"}]}))
        direct = stack.enter_context(running(sys.executable, str(folder / "direct.py"), str(direct_at)))
        stack.enter_context(running(sys.executable, "-S", MISBEHAVING, str(control), "--http", str(hung_file)))
        wait_for(direct_at)
        while not hung_file.exists():
            time.sleep(0.05)
        config = policy(folder, direct_at, int(hung_file.read_text()))
        data = folder / "data"
        token = seeded(data, config)
        env = {
            "WIRE_DATA_DIR": str(data),
            "WIRE_GATEWAY_POLICY": str(config),
            "WIRE_RATE_LIMIT": "off",
            "WIRE_FETCH_ALLOW": "127.0.0.0/8",
        }
        command = ("-m", "uvicorn", "config.asgi:application", "--port", str(gateway_at), "--log-level", "error")
        serving = stack.enter_context(running(sys.executable, *command, **env))
        wait_for(gateway_at)
        number = iter(range(10**9))
        ours, direct_url = f"http://127.0.0.1:{gateway_at}/mcp/gateway", f"http://127.0.0.1:{direct_at}/mcp"
        candidates: dict[str, tuple[str, Callable[[], str], str, int]] = {
            "direct SDK server": (direct_url, lambda: URI, "", direct.pid),
            "gateway, fresh hit": (ours, lambda: URI, token, serving.pid),
            "gateway, miss": (ours, lambda: f"market://crypto/c{next(number)}/trending", token, serving.pid),
        }
        if python := os.environ.get("FASTMCP_PYTHON") or (shutil.which("fastmcp") and sys.executable):
            at = port()
            (folder / "fast.py").write_text(FASTMCP)
            proxy = stack.enter_context(running(str(python), str(folder / "fast.py"), str(at), direct_url))
            wait_for(at)
            candidates["fastmcp proxy, default"] = (f"http://127.0.0.1:{at}/mcp", lambda: URI, "", proxy.pid)
        else:
            print("fastmcp is not installed: left out")
        found: dict[str, list[tuple[float, float, float]]] = {name: [] for name in candidates}
        for url, uris, key, _ in candidates.values():
            asyncio.run(hammer(url, 0.5, uris, key))
        for _ in range(options.rounds):
            for name, (url, uris, key, pid) in candidates.items():
                before = cpu(pid)
                rate, p99 = asyncio.run(hammer(url, options.seconds, uris, key))
                found[name].append((rate, p99, (cpu(pid) - before) / (rate * options.seconds) * 1e6))
        rates = {name: statistics.median(rate for rate, _, _ in each) for name, each in found.items()}
        for name, each in found.items():
            of = rates[name] / rates["direct SDK server"]
            p99, own = (statistics.median(one[place] for one in each) for place in (1, 2))
            print(f"{name}: {rates[name]:,.0f} a second, p99 {p99:.1f} ms, {of:.2f} of direct; own CPU {own:,.0f} µs an answer")
        asyncio.run(faults(ours, token, control, direct))


async def faults(ours: str, token: str, control: Path, direct: "subprocess.Popen[bytes]") -> None:
    """A hung upstream beside others' reads, equal questions at once, and a killed upstream."""
    rest = ours.replace("/mcp/gateway", "/api/gateway/read.json")
    async with httpcore2.AsyncConnectionPool(max_connections=200) as pool:

        async def read(uri: str, wait: float) -> tuple[float, str]:
            began = time.perf_counter()
            answer = await pool.request("GET", f"{rest}?uri={uri}&wait={wait:g}", headers=headers(token))
            return time.perf_counter() - began, json.loads(answer.content)["provenance"]["outcome"]

        log = Path(f"{control}.log")
        before = len(log.read_text().splitlines()) if log.exists() else 0
        control.write_text(json.dumps({"mode": "slow", "seconds": 0.3, "data": [{"agent_id": "a", "name": "n"}]}))
        outcomes = await asyncio.gather(*(read("openclaw://arp/discover?region=EU", 20) for _ in range(100)))
        print(
            f"100 equal questions at once: {len(log.read_text().splitlines()) - before} call upstream, "
            f"outcomes {sorted({outcome for _, outcome in outcomes})}"
        )
        quiet = statistics.median([(await hammer(ours, 2, lambda: URI, token))[1] for _ in range(3)])
        control.write_text(json.dumps({"mode": "hang", "seconds": 30}))
        hung = asyncio.create_task(read("openclaw://arp/discover?region=US", 3))
        loaded = (await hammer(ours, 2, lambda: URI, token))[1]
        took, outcome = await hung
        print(
            f"hung upstream, deadline 3 s: {outcome} after {took:.2f} s; "
            f"others' p99 {quiet:.1f} → {loaded:.1f} ms, × {loaded / quiet:.2f}"
        )
        fresh = await read("market://crypto/killed/trending", 20)
        direct.kill()
        direct.wait()
        for n in range(4):
            await read(f"market://crypto/open{n}/trending", 1)
        took, outcome = await read("market://crypto/x/trending", 20)
        print(f"killed upstream, circuit open, nothing stored: {outcome} after {took * 1000:.1f} ms")
        print(f"killed upstream, entry still fresh: {(await read('market://crypto/killed/trending', 20))[1]} (was {fresh[1]})")


if __name__ == "__main__":
    main()
