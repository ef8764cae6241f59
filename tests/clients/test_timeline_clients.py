"""Timeline corpora through other projects' clients: the inspector in both eras, FastMCP's client, and a linter of tools."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.clients.test_frameworks import FRAMEWORKS, Framework, described, reported
from tests.clients.test_inspector import IS_ERROR, Inspector

pytestmark = pytest.mark.clients

CALLS: Final[dict[str, dict[str, Any]]] = {
    "timeline_search_reports": {"query": "clock", "limit": 2},
    "timeline_get_report": {"id": "hc-2"},
    "timeline_mandela_catalog": {"limit": 1},
    "timeline_motif_map": {"motif": "long-tide"},
    "timeline_story_threads": {"lens": "belief"},
    "timeline_events": {"layer": "submission-batch"},
    "timeline_compare_sources": {"topic": "clock and tide"},
    "timeline_deepen_story": {"motif": "long-tide"},
    "timeline_stats": {},
    "timeline_agent_manifest": {},
    "timeline_check_wording": {"draft": "It is proven."},
}
TDQS: Final = Path(__file__).parent / "frameworks" / ".venv-sdk2" / "bin" / "tdqs"
"""A linter of tool definitions (PyPI: tdqs), in the environment of the frameworks."""


@pytest.fixture(scope="session")
def corpus(wire: str) -> str:
    """The address of the small corpus, which a sample wire has."""
    return f"{wire}/timeline/harbour-clock"


@pytest.mark.parametrize("era", ["modern", "legacy"])
def test_the_inspector_calls_every_tool(corpus: str, era: str, tmp_path: Path) -> None:
    inspector = Inspector(corpus, era, tmp_path)
    assert {tool["name"] for tool in inspector.ask("tools/list", "--strict")["tools"]} == set(CALLS)
    asked = (("tools/call", "--tool-name", name, "--tool-args-json", json.dumps(given)) for name, given in CALLS.items())
    assert all(answer["structuredContent"] for answer in inspector.ask_all(asked))
    wrong = inspector.ask("tools/call", "--tool-name", "timeline_get_report", "--tool-args-json", '{"id": "x"}', exits=IS_ERROR)
    assert wrong["structuredContent"]["error"] == "unknown_report"


@pytest.mark.parametrize("framework", [one for one in FRAMEWORKS if one.script == "fastmcp_client"], ids=lambda one: one.script)
def test_fastmcps_client_calls_every_tool_and_reads_errors(framework: Framework, corpus: str) -> None:
    wrong = {"an unknown report": ("timeline_get_report", {"id": "x"})}
    calls = described(corpus, CALLS, {"timeline_deepen_story": {"motif": "long-tide"}})
    errors = reported(framework, corpus, calls, wrong)["errors"]
    assert "unknown_report" in errors["an unknown report"]["told"]


@pytest.mark.parametrize(
    "path", ["", "/articles/almanac", "/factchecks", "/timeline", "/timeline/harbour-clock", "/timeline/wire", "/gateway"]
)
def test_a_linter_of_tools_finds_nothing_to_mend(wire: str, path: str) -> None:
    program = TDQS if TDQS.exists() else shutil.which("tdqs", path=str(Path(sys.executable).parent)) or shutil.which("tdqs")
    if program is None:
        pytest.skip("tdqs is not installed")
    done = subprocess.run(
        [program, "lint", "--url", f"{wire}{path}", "--fail-on", "warning"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "0 errors, 0 warnings" in done.stdout
