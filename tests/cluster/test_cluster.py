"""A short day of faults in a cluster (`pytest -m cluster`), and that the judgement of one can fail."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.clients.server import ROOT
from tests.cluster import network
from tests.cluster.load import ALLOWED, Published, Readers, Seen, is_refusal
from tests.cluster.trial import find_story_faults, list_log_faults
from tests.faults.soak.questions import Asked, rest
from tests.wire.newsroom import FEEDS, Newsroom

COMMAND = [sys.executable, "-m", "tests.cluster", "--short"]
PAGE = rest("/api/search.json?query=model")


@pytest.fixture
def namespaces() -> None:
    if missing := network.list_missing():
        pytest.skip(" ".join(missing))


@pytest.mark.cluster
@pytest.mark.usefixtures("namespaces")
@pytest.mark.timeout(600)
def test_readers_get_answers_or_honest_refusals_while_hosts_die() -> None:
    done = subprocess.run(COMMAND, cwd=ROOT, capture_output=True, text=True, check=False)
    sys.stdout.write(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.cluster
@pytest.mark.usefixtures("namespaces")
def test_a_killed_run_leaves_no_process() -> None:
    with subprocess.Popen(COMMAND, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        namespace = find_inner_namespace(process.pid)
        assert len(list_processes(namespace)) > 0
        os.kill(process.pid, signal.SIGKILL)
    ends = time.monotonic() + 10
    while list_processes(namespace) and time.monotonic() < ends:
        time.sleep(0.1)
    assert list_processes(namespace) == []


def find_inner_namespace(pid: int) -> str:
    """Return the PID namespace of the program that this one starts inside. Raises: TimeoutError."""
    ends = time.monotonic() + 30
    ours = os.readlink(f"/proc/{pid}/ns/pid_for_children")
    while time.monotonic() < ends:
        for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split():
            if (theirs := os.readlink(f"/proc/{child}/ns/pid_for_children")) != ours:
                return theirs
        time.sleep(0.1)
    raise TimeoutError("it has no namespace of its own")


def list_processes(namespace: str) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.readlink(entry / "ns/pid") == namespace:
                found.append(int(entry.name))
        except OSError:  # it has ended meanwhile
            continue
    return found


@pytest.mark.parametrize(
    ("status", "headers", "body", "is_honest"),
    [
        (503, {"retry-after": "5"}, b"Try again.", True),
        (503, {"retry-after": "5"}, b"", False),
        (503, {}, b"Try again.", False),
        (502, {"retry-after": "5"}, b"Try again.", False),
        (200, {}, b'{"stories": []}', False),
    ],
)
def test_a_refusal_says_when_to_ask_again(status: int, headers: dict[str, str], body: bytes, is_honest: bool) -> None:
    assert is_refusal(PAGE, (status, headers, body)) is is_honest


def test_a_tool_refuses_within_its_result() -> None:
    asked = Asked("mcp", "search_wire", PAGE.question)
    text = b'{"result":{"isError":true,"content":[{"text":"its database does not answer. Try again in 5 seconds."}]}}'
    assert is_refusal(asked, (200, {}, text))
    assert not is_refusal(asked, (200, {}, b'{"result":{"isError":true,"content":[{"text":"An unknown publisher."}]}}'))


@pytest.mark.parametrize(
    ("result", "age", "faults"), [("fresh", None, 1), ("stale", 3, 1), ("stale", 40, 0), ("stale", None, 0)], ids=str
)
def test_an_answer_that_is_older_than_it_says_is_found(result: str, age: int | None, faults: int) -> None:
    readers = Readers()
    readers.published = {n: Published(n, "2026-11-27", "", 100.0 + 10 * n) for n in (1, 2)}
    asked_at = readers.published[2].at + ALLOWED + 20
    seen = [Seen(asked_at, 0.1, result, "/api/today.json", 1, age), Seen(asked_at, 0.1, "fresh", "/api/today.json", 2)]
    assert len(readers.find_too_old(seen)[1]) == faults


def test_a_story_that_is_lost_doubled_or_waits_is_found() -> None:
    newsroom = Newsroom(random.Random(1))
    rows = [(newsroom.url(feed, n), 1, "A headline", False, True) for feed in range(FEEDS) for n in newsroom.numbers()]
    assert find_story_faults(rows, newsroom) == []
    assert len(find_story_faults(rows[1:], newsroom)) == 1
    assert len(find_story_faults([*rows, (rows[0][0], 2, "A headline", True, False)], newsroom)) == 1
    assert len(find_story_faults([*rows, (rows[0][0], 2, "A headline", False, True)], newsroom)) == 1
    assert len(find_story_faults([*rows, ("https://elsewhere.example/", 1, "A headline", False, True)], newsroom)) == 1


def test_an_error_in_a_log_is_found_unless_it_says_what_is_away() -> None:
    away = '{"level": "ERROR", "message": "The database cannot be read; serving cached answers"}'
    assert list_log_faults(f'{away}\n{{"level": "INFO", "message": "started"}}') == []
    assert len(list_log_faults(f'{away}\n{{"level": "ERROR", "message": "Exception in ASGI application"}}')) == 1
