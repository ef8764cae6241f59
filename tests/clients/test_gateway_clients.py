"""The resource gateway through other projects' clients: the inspector in both eras, FastMCP's client, and a linter of tools."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.clients.test_frameworks import FRAMEWORKS, HERE, Framework, described, reported
from tests.clients.test_inspector import Inspector
from tests.clients.test_timeline_clients import TDQS

pytestmark = pytest.mark.clients
TRENDS = "news://global/trends"


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_the_inspector_reads_trends_and_calls_tools(wire: str, era: str, tmp_path: Path) -> None:
    inspector = Inspector(f"{wire}/gateway", era, tmp_path)
    (read,) = inspector.ask("resources/read", "--uri", TRENDS)["contents"]
    told = json.loads(read["text"])
    assert told["provenance"]["outcome"] in ("fresh", "cached")
    assert told["data"][0]["topic"]
    assert {tool["name"] for tool in inspector.ask("tools/list", "--strict")["tools"]} == {
        "gateway_read", "gateway_resources", "gateway_explain", "gateway_vector_search",
    }  # fmt: skip
    given = json.dumps({"uri": f"{TRENDS}?limit=1"})
    called = inspector.ask("tools/call", "--tool-name", "gateway_read", "--tool-args-json", given)
    assert len(called["structuredContent"]["data"]) == 1


@pytest.mark.parametrize("framework", [one for one in FRAMEWORKS if one.script == "fastmcp_client"], ids=lambda one: one.script)
def test_fastmcps_client_calls_tools_and_reads_errors(framework: Framework, wire: str) -> None:
    gateway = f"{wire}/gateway"
    asked = {"gateway_read": {"uri": TRENDS}, "gateway_resources": {}, "gateway_explain": {}, "gateway_vector_search": {}}
    calls = {name: call for name, call in described(gateway, asked).items() if asked[name] or name == "gateway_resources"}
    wrong = {"an unknown address": ("gateway_read", {"uri": "news://nowhere"})}
    found = reported(framework, gateway, calls, wrong)
    assert "no such resource" in found["errors"]["an unknown address"]["told"]


@pytest.mark.parametrize("framework", [one for one in FRAMEWORKS if one.script == "fastmcp_client"], ids=lambda one: one.script)
def test_fastmcps_client_reads_trends(framework: Framework, wire: str) -> None:
    asked = {"url": f"{wire}/gateway", "uris": [TRENDS, f"{TRENDS}?limit=1"]}
    done = subprocess.run(
        [framework.python, HERE / "fastmcp_reads.py"], input=json.dumps(asked), capture_output=True, text=True, timeout=60
    )
    lines = [line.removeprefix("REPORT ") for line in done.stdout.splitlines() if line.startswith("REPORT ")]
    assert lines, done.stderr[-2000:]
    told = {uri: json.loads(text) for uri, text in json.loads(lines[0]).items()}
    assert [one["provenance"]["outcome"] in ("fresh", "cached") for one in told.values()] == [True, True]
    assert len(told[f"{TRENDS}?limit=1"]["data"]) == 1
    assert told[TRENDS]["data"][0]["topic"]


def test_a_linter_of_tools_finds_nothing_to_mend(wire: str) -> None:
    if not TDQS.exists():
        pytest.skip("tdqs is not installed")
    done = subprocess.run(
        [TDQS, "lint", "--url", f"{wire}/gateway", "--fail-on", "warning"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
