"""Upstreams that misbehave on command, over stdio and HTTP, in both eras: each fault has its code, and nothing is left over."""

import asyncio
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from pytest_django import Settings

from mcpserver.upstreams import error_mapping
from mcpserver.upstreams.client_interface import UpstreamAnswer, UpstreamError
from mcpserver.upstreams.config import Adapter, Upstream
from mcpserver.upstreams.upstream_clients import Upstreams
from tests.examples import KILLS
from tests.mcpserver.upstreams.bench import CALL, NAME, Bench, outcome

EXPECTED = {
    "limited": "rate_limited",
    "limited_with_reset": "rate_limited",
    "unauthorized": "unauthorized",
    "down": "server_error",
    "die_half": "unreachable",
    "garbage": "upstream_invalid",
    "huge": "upstream_invalid",
    "empty": "upstream_invalid",
    "nan": "upstream_invalid",
    "twice": "upstream_invalid",
    "ttl_zero": None,
    "fork": None,
    "lost_session": None,
}


@pytest.mark.slow
@pytest.mark.parametrize("era", ["auto", "legacy"])
@pytest.mark.parametrize("kind", ["stdio", "http"])
def test_every_fault_has_its_code_and_the_next_question_works(bench: Bench, kind: str, era: str) -> None:
    async def all_of_them() -> None:
        upstreams = bench.upstreams(kind, era)
        for mode, code in EXPECTED.items():
            bench.order(mode, retry_after=7)
            found = await outcome(upstreams)
            assert (found.code if isinstance(found, UpstreamError) else None) == code, (mode, found)
            if mode == "limited_with_reset":
                assert isinstance(found, UpstreamError)
                assert found.retry_after == 7
            bench.order("ok")
            assert isinstance(await outcome(upstreams), UpstreamAnswer), mode
        await upstreams.close()

    asyncio.run(all_of_them())


def test_instructions_are_flagged_and_invisible_characters_go(bench: Bench) -> None:
    async def both() -> None:
        upstreams = bench.upstreams("stdio", "auto")
        bench.order("injection")
        injected = await outcome(upstreams)
        bench.order("control")
        controlled = await outcome(upstreams)
        await upstreams.close()
        assert isinstance(injected, UpstreamAnswer)
        assert isinstance(controlled, UpstreamAnswer)
        assert (injected.untrusted, controlled.untrusted) == (True, False)
        assert controlled.data[0]["topic"] == "A trend"

    asyncio.run(both())


@pytest.mark.slow
def test_a_child_that_hangs_is_ended_and_started_anew(bench: Bench) -> None:
    async def hang() -> None:
        upstreams = bench.upstreams("stdio", "legacy")
        assert isinstance(await outcome(upstreams), UpstreamAnswer)
        first = upstreams.connection(NAME).pid
        bench.order("hang")
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await outcome(upstreams, wait=0.1)
        bench.order("ok")
        assert isinstance(await outcome(upstreams), UpstreamAnswer)
        second = upstreams.connection(NAME).pid
        await upstreams.close()
        assert first != second
        assert not _lives(first)
        assert not _lives(second)

    asyncio.run(hang())


def test_what_a_child_started_dies_with_it(bench: Bench) -> None:
    async def fork() -> None:
        upstreams = bench.upstreams("stdio", "auto")
        bench.order("fork")
        assert isinstance(await outcome(upstreams), UpstreamAnswer)
        pid = upstreams.connection(NAME).pid
        assert pid is not None
        assert _members(pid) == 2
        os.kill(pid, signal.SIGKILL)
        for _ in range(100):
            if not _members(pid):
                break
            await asyncio.sleep(0.02)
        assert _members(pid) == 0
        await upstreams.close()

    asyncio.run(fork())


@pytest.mark.slow
def test_kills_leave_no_process_behind(bench: Bench) -> None:
    async def kills() -> None:
        upstreams = bench.upstreams("stdio", "legacy")
        before = _children()
        for number in range(2 * KILLS):
            bench.order("fork" if number % 10 == 0 else "ok")
            found = await outcome(upstreams)
            assert isinstance(found, UpstreamAnswer), (number, found)
            pid = upstreams.connection(NAME).pid
            assert pid is not None
            os.killpg(pid, signal.SIGKILL) if number % 2 else os.kill(pid, signal.SIGKILL)
            while not upstreams.connection(NAME)._child.has_ended:  # type: ignore[union-attr]
                await asyncio.sleep(0.001)
        await upstreams.close()
        await asyncio.sleep(0.2)
        assert _children() == before

    asyncio.run(kills())


def test_a_tool_is_asked_with_mapped_arguments_and_its_answer_is_mapped(bench: Bench) -> None:
    adapter = Adapter(
        tool="anything",
        arguments={"coin": "{asset}", "count": "{limit}", "who": "{agent.id}", "text": "of {asset}"},
        at="coins",
        fields={"trend.topic": "item.name", "trend.source": "=CoinGecko", "price_change": "item.data.change"},
    )
    bench.order("ok", data={"coins": [{"item": {"name": "Base", "data": {"change": 1.5}}}]})

    async def ask() -> Any:
        upstreams = bench.upstreams("stdio", "auto", {"market_crypto_trending": adapter})
        try:
            return await upstreams.ask(CALL)
        finally:
            await upstreams.close()

    assert asyncio.run(ask()).data == [{"trend": {"topic": "Base", "source": "CoinGecko"}, "price_change": 1.5}]
    asked = json.loads(Path(f"{bench.control}.log").read_text().splitlines()[-1])
    assert asked["arguments"] == {"coin": "base", "count": 5, "text": "of base"}


def test_a_private_address_is_not_dialled(bench: Bench, settings: Settings) -> None:
    async def ask() -> UpstreamAnswer | UpstreamError:
        upstreams = bench.upstreams("http", "auto")
        settings.WIRE_FETCH_ALLOW = ()
        found = await outcome(upstreams)
        await upstreams.close()
        return found

    found = asyncio.run(ask())
    assert isinstance(found, UpstreamError)
    assert (found.code, "not a public address" in found.detail) == ("unreachable", True)


def test_a_secret_that_is_not_set_starts_nothing() -> None:
    one = Upstream(NAME, "stdio", ("false",), env={"API_KEY": "env:SURELY_NOT_SET"})
    found = Upstreams({NAME: one}).explain_refusal(CALL)
    assert found is not None
    assert (found.code, "SURELY_NOT_SET" in found.detail) == ("unconfigured", True)


def test_a_command_that_there_is_not_is_unreachable_and_only_operators_read_its_path() -> None:
    found = asyncio.run(outcome(Upstreams({NAME: Upstream(NAME, "stdio", ("/nowhere/at/all",))})))
    assert isinstance(found, UpstreamError)
    assert (found.code, found.detail) == ("unreachable", f"{NAME} cannot be started: No such file or directory.")
    assert found.words == "/nowhere/at/all"


def _lives(pid: int | None) -> bool:
    return pid is not None and Path(f"/proc/{pid}").exists() and "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()


def _members(group: int) -> int:
    """Live processes of a process group."""
    found = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            found += fields[2] == str(group) and fields[0] != "Z"
    return found


def _children() -> int:
    """Live processes that run the misbehaving server, or what it starts."""
    found = 0
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            found += b"fault_server" in command and str(os.getpid()).encode() != entry.name.encode()
            found += command.startswith(b"sleep\x003600")
    return found


@pytest.mark.parametrize("words", ["429 Too Many Requests", "There is no coin 503.", "401 Unauthorized", "", "x" * 5_000])
@pytest.mark.parametrize(
    ("meta", "are_valid", "code"),
    [
        (None, True, "server_error"),
        (None, False, "refused"),
        ({"status": 429}, True, "rate_limited"),
        ({"status": 403}, False, "unauthorized"),
        ({"status": "503", "retry_after": True}, False, "refused"),
        ({"retry_after": 7}, True, "rate_limited"),
    ],
)
def test_fields_and_the_schema_tell_what_failed_and_words_never_do(words: str, meta: Any, are_valid: bool, code: str) -> None:
    found = error_mapping.from_tool(NAME, words, meta, are_arguments_valid=are_valid)
    assert (found.code, len(found.words) <= 300) == (code, True)
    assert not words or words not in found.detail


@pytest.mark.parametrize(
    ("code", "data", "expected"),
    [
        (-32602, None, "refused"),
        (-32002, {"uri": "x://503"}, "refused"),
        (-32601, None, "refused"),
        (-32603, None, "server_error"),
        (-32000, None, "server_error"),
        (0, None, "server_error"),
        (-32000, {"status": 401}, "unauthorized"),
        (-32602, {"retry_after": 7}, "rate_limited"),
    ],
)
def test_an_error_of_the_protocol_has_the_code_of_its_number(code: int, data: Any, expected: str) -> None:
    assert error_mapping.from_rpc(NAME, MCPError(code, "429 for the id 401", data)).code == expected
