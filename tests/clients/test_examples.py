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
PATIENCE: Final = 60.0  # seconds
ENVIRONMENTS: Final = {"mcp_python_sdk.py": "sdk2", "langchain_tools.py": "sdk1", "openai_agents_sdk.py": "sdk2"}
MAX_LINES: Final = 40


def run_example(name: str, home: Path) -> str:
    """Return what the program prints."""
    file = EXAMPLES / name
    if file.suffix == ".mjs":  # Node looks for packages beside the file
        (home / "node_modules").symlink_to(node.PACKAGES.parent)
        ran = node.run(Path(shutil.copy(file, home)), home=home)
    else:
        python = FRAMEWORKS / f".venv-{ENVIRONMENTS.get(name)}" / ("Scripts" if sys.platform == "win32" else "bin") / "python"
        program = ["sh"] if file.suffix == ".sh" else [str(python)]
        ran = subprocess.run([*program, str(file)], capture_output=True, encoding="utf-8", timeout=PATIENCE, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.clients
@pytest.mark.parametrize("name", sorted(file.name for file in EXAMPLES.iterdir() if file.is_file()))
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


def test_examples_are_short() -> None:
    assert [file.name for file in EXAMPLES.iterdir() if len(file.read_text(encoding="utf-8").splitlines()) > MAX_LINES] == []
