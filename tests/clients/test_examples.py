"""Programs of examples/, each run as docs/agents.md says: they list the tools, then print a headline and its citation."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final
from urllib.request import urlopen

import pytest

from tests.clients import node
from tests.clients.server import ROOT
from tests.clients.test_frameworks import HERE as FRAMEWORKS

EXAMPLES: Final = ROOT / "examples"
DOCUMENT: Final = ROOT / "docs" / "agents.md"
PATIENCE: Final = 60.0  # seconds
ENVIRONMENTS: Final = {"mcp_python_sdk.py": "sdk2", "langchain_tools.py": "sdk1", "openai_agents_sdk.py": "sdk2"}
QUICK_STARTS: Final = [*ENVIRONMENTS, "vercel_ai_sdk.mjs", "curl.sh"]
MAX_LINES: Final = 40


def run_example(name: str, home: Path) -> str:
    """Return what the program prints."""
    file = EXAMPLES / name
    if file.suffix == ".mjs":  # Node looks for packages beside the file
        (home / "node_modules").symlink_to(node.PACKAGES.parent)
        ran = node.run(Path(shutil.copy(file, home)), home=home)
        assert ran.returncode == 0, ran.stderr
        return ran.stdout
    if file.suffix == ".sh":
        return run_program(["sh", str(file)])
    python = FRAMEWORKS / f".venv-{ENVIRONMENTS[name]}" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    return run_program([str(python), str(file)])


def run_program(command: list[str]) -> str:
    ran = subprocess.run(command, capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.clients
@pytest.mark.parametrize("name", QUICK_STARTS)
def test_an_example_prints_a_headline_and_its_citation(
    name: str, wire: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = wire.removesuffix("/mcp")
    with urlopen(f"{site}/api/search.json?query=OpenAI&limit=1", timeout=PATIENCE) as answer:  # noqa: S310  our own
        (story,) = json.load(answer)["stories"]
    monkeypatch.setenv("WIRE_URL", site)
    printed = run_example(name, tmp_path)
    assert "list_events" in printed
    *_, headline, citation = printed.splitlines()
    assert story["headline"] in headline
    assert story["citation_objects"]["layered_ready"] in citation


@pytest.mark.clients
def test_the_loop_writes_its_table_and_transcript(wire: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIRE_URL", wire.removesuffix("/mcp"))
    document = tmp_path / "agents.md"
    document.write_text("Before\n<!-- costs -->\n<!-- /costs -->\n<!-- transcript -->\nold\n<!-- /transcript -->\nAfter\n")
    printed = run_program([sys.executable, str(EXAMPLES / "agent_loop.py"), "--write", str(document)])
    costs, _, transcript = printed.rstrip("\n").partition("\n\n")
    written = document.read_text(encoding="utf-8")
    table, text = f"<!-- costs -->\n{costs}\n<!-- /costs -->", f"<!-- transcript -->\n```\n{transcript}\n```\n<!-- /transcript -->"
    assert written == f"Before\n{table}\n{text}\nAfter\n"
    assert "get_citation" in transcript


def test_the_document_is_short_and_links_each_example() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 200
    assert [name for name in QUICK_STARTS if f"](../examples/{name})" not in text] == []


def test_each_example_is_run_and_short() -> None:
    # tests/mcpserver/test_agent_loop.py runs the loop, test_embedded.py the server.
    assert {file.name for file in EXAMPLES.iterdir() if file.is_file()} == {*QUICK_STARTS, "agent_loop.py", "embedded_server.py"}
    for name in QUICK_STARTS:
        assert len((EXAMPLES / name).read_text(encoding="utf-8").splitlines()) <= MAX_LINES, name
