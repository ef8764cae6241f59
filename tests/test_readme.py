"""README and the shell of docs/ as a newcomer follows them: a fresh checkout, an empty home, no settings. `make test-readme`."""

import asyncio
import contextlib
import gzip
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

import mcp
import pytest
from mcp.client.stdio import StdioServerParameters

from tests import shell_blocks
from tests.clients.server import ROOT, free_port

INSTALLED_WITHIN: Final = 900.0  # seconds, on a slow line
PATIENCE: Final = 120.0
SCRIPT_PATIENCE: Final = 600.0  # for a whole page, on a busy machine
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
SITE: Final = "localhost:8000"
SENTENCE: Final = "According to {publisher}, as summarized by ChatbotNews.ai, …\n"

NOT_RUN: Final = {
    "make test": "it is the whole test suite, beside which this test stands",
    "claude mcp add --transport http chatbotnews-wire http://localhost:8000/mcp": "another maker's program and settings",
    ".venv/bin/python manage.py publishers add https://example.org --i-am-the-publisher": "it asks a site on the internet",
    ".venv/bin/python manage.py loadfactchecks example.org": "it asks a site on the internet",
}


@dataclass(frozen=True, slots=True)
class Block:
    language: str
    text: str

    @property
    def commands(self) -> list[str]:
        """Each with what a backslash continues; the comment behind it is the shell's to pass over."""
        return [line for line in re.split(r"(?<!\\)\n", self.text) if line] if self.language == "sh" else []


BLOCKS: Final = [Block(*found) for found in re.findall(r"^```(\w*)\n(.*?)^```$", README, re.M | re.S)]
COMMANDS: Final = [command for block in BLOCKS for command in block.commands]


def typed(command: str) -> str:
    """Without its comment."""
    return re.sub(r"\s+# .*$", "", command)


@dataclass(frozen=True, slots=True)
class Newcomer:
    """Somebody in a fresh checkout who types what README says. On a machine where its port is taken that is another one."""

    checkout: Path
    env: dict[str, str]

    def here(self, text: str) -> str:
        return text.replace(SITE, f"localhost:{self.env.get('PORT', 8000)}")

    def runs(self, command: str, *, ends_with: tuple[int, ...] = (0,)) -> "subprocess.CompletedProcess[str]":
        ran = subprocess.run(
            ["sh", "-c", self.here(command)],
            cwd=self.checkout,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=PATIENCE,
            check=False,
        )
        assert ran.returncode in ends_with, (command, ran.stdout, ran.stderr)
        return ran

    def runs_script(self, script: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            ["bash", "-e", "-c", self.here(script)],
            cwd=self.checkout,
            env=self.env,
            capture_output=True,
            text=True,
            timeout=SCRIPT_PATIENCE,
            check=False,
        )

    def asks(self, path: str) -> Any:
        with urllib.request.urlopen(f"http://{self.here(SITE)}{path}", timeout=PATIENCE) as answer:
            return json.load(answer) if answer.headers.get_content_type() == "application/json" else answer.status

    def lists_tools(self, path: str) -> Any:
        """Of an MCP server."""
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        request = urllib.request.Request(f"http://{self.here(SITE)}{path}", body, headers)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310  our own
            return json.load(answer)["result"]["tools"]

    def has_real_news(self) -> bool:
        return not self.asks("/api/today.json")["meta"]["sample"]


@pytest.fixture
def newcomer(tmp_path: Path) -> Newcomer:
    """With what git would give them of this tree, and no setting but a port where README's own is taken."""
    (tmp_path / "home").mkdir()
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).exists():
            (tmp_path / "wire" / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, tmp_path / "wire" / name)
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path / "home")}
    return Newcomer(tmp_path / "wire", env if _is_free(8000) else env | {"PORT": str(free_port())})


@contextlib.contextmanager
def serving(newcomer: Newcomer, command: str, said: Path) -> Iterator[None]:
    """While `command` runs in another terminal, from when it answers until Ctrl-C ends it and all that it started."""
    with said.open("w", encoding="utf-8") as terminal:
        server = subprocess.Popen(
            ["sh", "-c", command],
            cwd=newcomer.checkout,
            env=newcomer.env,
            stdout=terminal,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            ends = time.monotonic() + INSTALLED_WITHIN
            while not _answers(newcomer):
                assert server.poll() is None, said.read_text(encoding="utf-8")
                assert time.monotonic() < ends, said.read_text(encoding="utf-8")
                time.sleep(0.5)
            yield
            os.killpg(server.pid, signal.SIGINT)
            server.wait(30)
            with pytest.raises(ProcessLookupError):
                os.killpg(server.pid, 0)
            assert _is_free(int(newcomer.env.get("PORT", 8000)))
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(server.pid, signal.SIGKILL)
            server.wait()


def _answers(newcomer: Newcomer) -> bool:
    try:
        newcomer.asks("/readyz")
    except OSError:
        return False
    return True


def _is_free(port: int) -> bool:
    with socket.socket() as trial:
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            trial.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


def resembles(shown: Any, given: Any) -> bool:
    """Whether an answer has all that README shows of it: keys, kinds of values, and texts as far as they are written out."""
    if isinstance(shown, dict):
        return isinstance(given, dict) and all(name in given and resembles(value, given[name]) for name, value in shown.items())
    if isinstance(shown, list):
        return isinstance(given, list) and (not shown or (bool(given) and all(resembles(shown[0], one) for one in given)))
    if isinstance(shown, str):
        return isinstance(given, str) and re.fullmatch(re.escape(shown).replace("…", ".*"), given, re.S) is not None
    return shown == given if isinstance(shown, bool) else isinstance(given, type(shown))


def shown_after(command: str, newcomer: Newcomer) -> Any:
    """The JSON that README shows below the block in which this is the last call by curl; None where it shows none."""
    for block, following in pairwise(BLOCKS):
        calls = [line for line in block.commands if line.startswith("curl")]
        if calls and calls[-1] == command and following.language == "json":
            return json.loads(newcomer.here(following.text))
    return None


def curls(newcomer: Newcomer, command: str) -> None:
    answer = json.loads(newcomer.runs(command).stdout)
    assert "error" not in answer
    shown = shown_after(command, newcomer)
    if isinstance(shown, dict) and "stories" in shown and newcomer.has_real_news():
        answer = newcomer.asks("/api/today.json")  # of real news nobody knows what a search finds
    assert shown is None or resembles(shown, answer), (shown, answer)


def speaks_mcp(newcomer: Newcomer, command: str) -> None:
    async def ask() -> tuple[set[str], bool | None]:
        started = StdioServerParameters(command="sh", args=["-c", command], env=newcomer.env, cwd=newcomer.checkout)
        async with mcp.Client(started) as client:
            tools = await client.list_tools()
            called = await client.call_tool("search_wire", {"query": "moon library"})
            return {tool.name for tool in tools.tools}, called.is_error

    names, is_error = asyncio.run(ask())
    assert {"search_wire", "get_story", "search", "fetch"} <= names
    assert not is_error


def load_first_news(newcomer: Newcomer) -> None:
    """Load an archive of one item, and wait for the server to go over from the sample to the wire that it makes real."""
    item = {
        "title": "OpenAI lends a robot",
        "url": "https://techcrunch.com/2026/01/15/robot/",
        "publisher": "TechCrunch",
        "published_at": "2026-01-15T10:00:00Z",
    }
    (newcomer.checkout / "archive.ndjson.gz").write_bytes(gzip.compress(json.dumps(item).encode()))
    assert re.search(r"accepted +1\n", newcomer.runs(f"{MANAGE} loadwire archive.ndjson.gz").stdout)
    wait_until(newcomer.has_real_news, newcomer)
    [story] = newcomer.asks("/api/search.json?query=lends%20a%20robot")["stories"]
    assert (story["headline"], story["original_publisher"]) == (item["title"], "TechCrunch")


def choose_the_sample(newcomer: Newcomer, command: str) -> None:
    """Choose it although there may be real news; then take the choice away, so that the first news switches as at a first start."""
    assert "The SAMPLE wire is served" in newcomer.runs(command).stdout
    wait_until(lambda: not newcomer.has_real_news(), newcomer)
    (newcomer.checkout / "var" / "wire" / "serve-sample").unlink()


def wait_until(is_so: Callable[[], bool], newcomer: Newcomer) -> None:
    ends = time.monotonic() + PATIENCE
    while not (_answers(newcomer) and is_so()):
        assert time.monotonic() < ends
        time.sleep(0.5)


def is_well(newcomer: Newcomer, command: str) -> None:
    """All but what a machine without a way out to the feeds would say."""
    said = newcomer.runs(command, ends_with=(0, 1)).stdout.splitlines()
    assert len(said) > 8
    assert [line for line in said if not re.match(r"ok |(warn|FAIL) (feeds|clock):", line)] == []


def says(pattern: str) -> Callable[[Newcomer, str], None]:
    def check(newcomer: Newcomer, command: str) -> None:
        ran = newcomer.runs(command)
        assert re.search(pattern, ran.stdout + ran.stderr), ran

    return check


MANAGE: Final = ".venv/bin/python manage.py"
CITES: Final = says(r"According to .+, as summarized by ChatbotNews\.ai, ")
CHECKS: Final[dict[str, Callable[[Newcomer, str], None]]] = {
    "WIRE_URL=http://localhost:8000 .venv/bin/python examples/mcp_python_sdk.py": CITES,
    "WIRE_URL=http://localhost:8000 sh examples/curl.sh": CITES,
    f"{MANAGE} sample on": choose_the_sample,
    f"WIRE_DATA_DIR=var/sample {MANAGE} runmcp": speaks_mcp,
    f"{MANAGE} ingest": says("Feeds: "),
    f"{MANAGE} verifywire": says("verify; the chain ends in (None|[0-9a-f]{64})"),
    f"{MANAGE} doctor": is_well,
    f"{MANAGE} backup var/backup-20260116": says("to var/backup-20260116: the wire as of "),
}


def test_every_block_is_run_or_its_reason_is_told() -> None:
    known = {*CHECKS, *NOT_RUN, "make run"}
    assert [command for command in COMMANDS if not command.startswith("curl ") and typed(command) not in known] == []
    assert known <= {typed(command) for command in COMMANDS}
    assert [block.text for block in BLOCKS if not block.commands and block.language != "json"] == [SENTENCE]
    assert all(before.commands for before, block in pairwise(BLOCKS) if block.language == "json")


def test_what_differs_from_what_is_shown_is_seen() -> None:
    given = {"stories": [{"id": "cbn-1", "tier": 2, "sample": True}], "more": None}
    assert resembles({"stories": [{"id": "cbn-…", "tier": 1}]}, given)
    wrong: list[Any] = [
        {"story": []},
        {"stories": [{"id": "cbn_…"}]},
        {"stories": [{"tier": "…"}]},
        {"stories": [{"sample": False}]},
        {"more": [1]},
    ]
    assert not any(resembles(shown, given) for shown in wrong)


@pytest.mark.readme
@pytest.mark.timeout(INSTALLED_WITHIN + 1_800)
def test_a_newcomer_can_do_all_that_it_says(newcomer: Newcomer, tmp_path: Path) -> None:
    said = tmp_path / "terminal"
    with serving(newcomer, typed(COMMANDS[0]), said):
        wait_until(lambda: "Password" in said.read_text(encoding="utf-8"), newcomer)
        assert re.search(r"^Ready: serving the (SAMPLE|live) wire", said.read_text(encoding="utf-8"), re.M)
        assert re.search(r"^\| Password: \S{20} +\|$", said.read_text(encoding="utf-8"), re.M)
        for story in newcomer.asks("/api/today.json")["stories"]:
            assert resembles(SENTENCE.strip().replace("{publisher}", "…"), story["citation_objects"]["layered_ready"])
        for path in re.findall(r"`(/[a-z][^` ]*)`", README):
            if path.startswith("/mcp"):
                assert newcomer.lists_tools(path.replace("{publisher}", "almanac")), path
            else:
                newcomer.asks(path)
        for command in COMMANDS:
            if command.startswith("curl "):
                curls(newcomer, command)
            elif typed(command) in CHECKS:
                CHECKS[typed(command)](newcomer, command)
        failed = {}
        for name, script in shell_blocks.list_scripts().items():
            ran = newcomer.runs_script(script)
            if ran.returncode or '"error":"' in ran.stdout:  # an attempt of the gateway has `"error":null`
                failed[name] = (ran.stdout[-2000:], ran.stderr[-2000:])
        assert failed == {}
        load_first_news(newcomer)
        assert "The live wire is served" in newcomer.runs(f"{MANAGE} sample off").stdout
