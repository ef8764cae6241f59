"""Agent frameworks ask every tool on the way that their agents' calls take; docs/clients.md says what each can do."""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import mcp
import pytest

from tests.clients import questions
from tests.clients.server import ROOT

HERE: Final = Path(__file__).parent / "frameworks"
DOCUMENT: Final = ROOT / "docs" / "clients.md"
PATIENCE: Final = 120.0  # seconds
NO_TELEMETRY: Final = {"DO_NOT_TRACK": "1", "OTEL_SDK_DISABLED": "true", "MASTRA_TELEMETRY_DISABLED": "1"}
TOLD: Final = "Not one of the 24 publications of the wire"
"""What a model should read of a source outside the roster."""
CHECKED: Final = "source"
"""What it reads of a framework that compares arguments with the schema before it calls."""


@dataclass(frozen=True, slots=True)
class Framework:
    """`package` is its line in the lock file; `outside`: what becomes of a JSON-RPC error, which is none of ours to decide.

    An npm package is locked in package-lock.json; its script runs in the environment of the tests and starts Node.
    """

    package: str
    script: str
    lock: str
    outside: tuple[bool, str]
    arguments: tuple[str, ...] = ()
    raises_wrong_argument: bool = False

    @property
    def python(self) -> str:
        if self.lock == "npm":
            return sys.executable
        return str(HERE / f".venv-{self.lock}" / ("Scripts" if sys.platform == "win32" else "bin") / "python")

    @property
    def is_rare(self) -> bool:
        return self.lock.startswith("rare") or self.lock == "npm"


def rare(package: str, lock: str, outside: tuple[bool, str], *, raises_wrong_argument: bool = False) -> Framework:
    """Return a framework that shares its script, whose argument is the package, with the others of its language."""
    script = "rare_npm" if lock == "npm" else "rare_python"
    return Framework(package, script, lock, outside, (package,), raises_wrong_argument)


FRAMEWORKS: Final = (
    Framework("mcp", "sdk", "sdk2", (True, TOLD)),
    Framework("fastmcp", "fastmcp_client", "sdk2", (True, TOLD)),
    Framework("langchain-mcp-adapters", "langchain_tools", "sdk1", (True, TOLD)),
    Framework("openai-agents", "openai_agents", "sdk2", (False, "An error occurred")),
    Framework("openai-agents", "openai_agents", "sdk2", (False, "An error occurred"), ("strict",)),
    Framework("llama-index-tools-mcp", "llama_index_tools", "sdk2", (True, "unhandled errors in a TaskGroup")),
    Framework("pydantic-ai-slim", "pydantic_ai_agent", "sdk2", (False, TOLD)),
    Framework("smolagents", "smolagents_tools", "sdk1", (True, TOLD)),
    Framework("semantic-kernel", "semantic_kernel_plugin", "sdk1", (False, TOLD)),
    Framework("autogen-ext", "autogen_tools", "sdk1", (False, "")),  # its own checks refuse a source that is not listed
    Framework("dspy", "dspy_tools", "sdk1", (False, TOLD)),
    Framework("google-genai", "google_genai_tools", "sdk1", (True, TOLD)),
    Framework("google-adk", "google_adk_toolset", "rare1", (False, TOLD)),
    Framework("mcp-use", "mcp_use_session", "rare1", (True, TOLD)),
    Framework("mcp-haystack", "haystack_toolset", "rare1", (False, TOLD)),
    Framework("agno", "agno_tools", "rare2", (False, TOLD)),
    Framework("agent-framework-core", "agent_framework_tool", "rare2", (False, TOLD)),
    rare("strands-agents", "rare3", (False, TOLD)),
    rare("praisonaiagents", "rare3", (False, TOLD)),
    rare("crewai-tools", "rare3", (False, CHECKED)),
    rare("beeai-framework", "rare3", (False, CHECKED)),
    rare("@langchain/mcp-adapters", "npm", (False, TOLD)),
    rare("@ai-sdk/mcp", "npm", (False, TOLD)),
    rare("@mastra/mcp", "npm", (False, CHECKED)),
    rare("@genkit-ai/mcp", "npm", (True, CHECKED), raises_wrong_argument=True),
    rare("mcp-remote", "npm", (True, TOLD)),
    rare("mcporter", "npm", (True, TOLD)),
    rare("supergateway", "npm", (True, TOLD)),
)
WRONG: Final = {
    "a wrong argument": ("get_category", {"category": "launches", "limit": 999}),
    "an unknown story": ("get_story", {"story_id": "cbn-000000000000"}),
    "a source outside the roster": ("search_wire", {"query": "moon", "source": "Wired News"}),
}
WRONG_AT_A_PUBLISHER: Final = {
    "a wrong argument": ("search-content", {"query": "plum", "limit": 999}),
    "another's article": ("get-article", {"url": "https://elsewhere.example/cake"}),
}
each = pytest.mark.parametrize(
    "framework",
    [pytest.param(one, marks=[pytest.mark.rare] if one.is_rare else []) for one in FRAMEWORKS],
    ids=["-".join((one.script, *one.arguments)) for one in FRAMEWORKS],
)


@pytest.fixture(scope="module")
def calls(wire: str, listed: list[str]) -> dict[str, Any]:
    story_id = questions.a_story(listed)
    return described(wire, questions.tool_calls(story_id), {"get_consensus": {"story_id": story_id}})


@pytest.fixture(scope="module")
def publisher_calls(publisher: str) -> dict[str, Any]:
    return described(publisher, questions.publisher_calls())


def described(url: str, asked: dict[str, Any], instead: dict[str, Any] | None = None) -> dict[str, Any]:
    """By tool: its arguments, and which of them are required, optional, or needed where none is required."""

    async def schemas() -> dict[str, Any]:
        async with mcp.Client(url) as client:
            return {tool.name: tool.input_schema for tool in (await client.list_tools()).tools}

    found = {}
    for name, schema in asyncio.run(schemas()).items():
        required = schema.get("required", [])
        others = [argument for argument in schema["properties"] if argument not in required]
        known = (instead or {}).get(name, {})
        found[name] = {"arguments": asked[name], "required": required, "optional": others, "instead": known}
    assert set(found) == set(asked)
    return found


def reported(framework: Framework, url: str, calls: dict[str, Any], wrong: dict[str, Any]) -> dict[str, Any]:
    """What came of it; every call was answered."""
    with tempfile.TemporaryDirectory() as home:
        done = subprocess.run(
            [framework.python, HERE / f"{framework.script}.py", *framework.arguments],
            input=json.dumps({"url": url, "calls": calls, "wrong": wrong}),
            env=os.environ | NO_TELEMETRY | {"HOME": home},
            capture_output=True,
            encoding="utf-8",
            timeout=PATIENCE,
            check=False,
        )

    lines = [line.removeprefix("REPORT ") for line in done.stdout.splitlines() if line.startswith("REPORT ")]
    assert lines, done.stdout[-2000:] + done.stderr[-4000:]
    report: dict[str, Any] = json.loads(lines[0])
    assert report["failed"] == []
    assert report["asked"] == 4 * len(calls)
    return report


@pytest.mark.clients
@each
def test_it_asks_every_tool_and_its_model_can_read_what_is_wrong(framework: Framework, wire: str, calls: dict[str, Any]) -> None:
    errors = reported(framework, wire, calls, WRONG)["errors"]
    for name, words in (("a wrong argument", ("limit", "100")), ("an unknown story", ("cbn-000000000000", "search_wire"))):
        is_raised = framework.raises_wrong_argument and name == "a wrong argument"
        assert errors[name]["raised"] == is_raised, errors[name]
        assert [word for word in words if word not in errors[name]["told"]] == []
    raised, told = framework.outside
    found = errors["a source outside the roster"]
    assert (found["raised"], told in found["told"]) == (raised, True), found


@pytest.mark.clients
@each
def test_it_asks_every_tool_of_a_publisher(framework: Framework, publisher: str, publisher_calls: dict[str, Any]) -> None:
    """Every error of a publisher's server is JSON-RPC's: what becomes of it is the framework's decision, as at the wire."""
    errors = reported(framework, publisher, publisher_calls, WRONG_AT_A_PUBLISHER)["errors"]
    raised, told = framework.outside
    for name, words in (("a wrong argument", "limit"), ("another's article", "almanac.example")):
        found = errors[name]
        assert (found["raised"], (words if told in (TOLD, CHECKED) else told) in found["told"]) == (raised, True), found


@each
def test_the_document_names_its_version(framework: Framework) -> None:
    if framework.lock == "npm":
        locks = [json.loads((folder / "package-lock.json").read_text(encoding="utf-8")) for folder in (HERE, HERE.parent)]
        found = [lock["packages"].get(f"node_modules/{framework.package}") for lock in locks]
        (version,) = {package["version"] for package in found if package}
    else:
        lines = (HERE / f"{framework.lock}.lock").read_text(encoding="utf-8").splitlines()
        (version,) = {line.split("==")[1].split()[0] for line in lines if line.startswith(f"{framework.package}==")}
    assert f"| {framework.package} | {version} |" in DOCUMENT.read_text(encoding="utf-8")


@pytest.mark.parametrize("lock", [HERE / "package-lock.json", HERE.parent / "package-lock.json", *sorted(HERE.glob("*.lock"))])
def test_a_lock_file_names_no_registry(lock: Path) -> None:
    """Each machine has its own: a mirror's address here would be asked everywhere."""
    text = lock.read_text(encoding="utf-8")
    assert re.findall(r'"resolved": "[^"]*|--(?:extra-)?index-url|--find-links|@ (?:https?|file):', text) == []
