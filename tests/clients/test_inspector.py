"""The MCP inspector's command line asks everything there is, in both eras. Each question is a process of its own."""

import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from tests.clients import node, questions

pytestmark = pytest.mark.clients

SPOKEN: Final = {"modern": "2026-07-28", "legacy": "2025-11-25"}
AT_ONCE: Final = 3  # processes; each is busy with starting, not with asking
IS_ERROR: Final = 5  # the inspector's exit code for a tool's error


@dataclass(frozen=True, slots=True)
class Inspector:
    url: str
    era: str
    home: Path

    def ask(self, method: str, *arguments: str, exits: int = 0) -> dict[str, Any]:
        """The answer to one request."""
        where = ("--cli", self.url, "--transport", "http", "--protocol-era", self.era, "--format", "json")
        done = node.run(node.INSPECTOR, *where, "--method", method, *arguments, home=self.home)
        assert done.returncode == exits, (method, arguments, done.returncode, done.stderr)
        found: dict[str, Any] = json.loads(done.stdout)["result"]
        return found

    def ask_all(self, asked: Iterable[tuple[str, ...]]) -> list[dict[str, Any]]:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(lambda arguments: self.ask(*arguments), asked))


@pytest.fixture(params=SPOKEN)
def inspector(request: pytest.FixtureRequest, wire: str, tmp_path: Path) -> Inspector:
    return Inspector(wire, request.param, tmp_path)


def test_it_speaks_the_era_that_it_is_told_to(inspector: Inspector) -> None:
    assert inspector.ask("initialize")["protocolVersion"] == SPOKEN[inspector.era]


def test_it_finds_every_tool_portable_to_any_client(inspector: Inspector, listed: list[str]) -> None:
    tools = inspector.ask("tools/list", "--strict")["tools"]
    assert {tool["name"] for tool in tools} == set(questions.tool_calls(questions.a_story(listed)))


def test_it_calls_every_tool(inspector: Inspector, listed: list[str]) -> None:
    calls = questions.tool_calls(questions.a_story(listed))
    answers = inspector.ask_all(
        ("tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments)) for name, arguments in calls.items()
    )
    assert [name for name, answer in zip(calls, answers, strict=True) if not answer["structuredContent"]] == []


def test_it_finds_and_calls_every_tool_of_a_publisher(inspector: Inspector, publisher: str) -> None:
    theirs = Inspector(publisher, inspector.era, inspector.home)
    calls = questions.publisher_calls()
    assert [tool["name"] for tool in theirs.ask("tools/list", "--strict")["tools"]] == list(calls)
    answers = theirs.ask_all(
        ("tools/call", "--tool-name", name, "--tool-args-json", json.dumps(arguments)) for name, arguments in calls.items()
    )
    assert [len(answer["content"]) for answer in answers] == [1, 1, 1]
    assert [name for name, answer in zip(calls, answers, strict=True) if not answer["structuredContent"]] == []


def test_it_reads_every_kind_of_address(inspector: Inspector, listed: list[str]) -> None:
    assert [resource["uri"] for resource in inspector.ask("resources/list")["resources"]] == listed
    addresses = questions.addresses(listed)
    answers = inspector.ask_all(("resources/read", "--uri", uri) for uri in addresses)
    assert [content["uri"] for answer in answers for content in answer["contents"] if content["text"]] == addresses


def test_it_lists_the_patterns_of_addresses(inspector: Inspector) -> None:
    found = {template["uriTemplate"] for template in inspector.ask("resources/templates/list")["resourceTemplates"]}
    assert {"wire://today/{category}", "wire://story/{id}", "wire://topic/{slug}", "wire://archive/{date}"} <= found


def test_it_gets_every_prompt(inspector: Inspector, listed: list[str]) -> None:
    wanted = questions.prompts(questions.a_story(listed))
    assert {prompt["name"] for prompt in inspector.ask("prompts/list")["prompts"]} == set(wanted)
    answers = inspector.ask_all(
        ("prompts/get", "--prompt-name", name, "--prompt-args", *(f"{key}={value}" for key, value in arguments.items()))
        for name, arguments in wanted.items()
    )
    texts = [message["content"]["text"] for answer in answers for message in answer["messages"]]
    assert [text for text in texts if "as summarized by ChatbotNews.ai" in text] == texts
    assert len(texts) == len(wanted)


def test_it_tells_a_tool_s_error_from_an_answer(inspector: Inspector) -> None:
    call = ("--tool-name", "get_story", "--tool-arg", "story_id=cbn-000000000000")
    answer = inspector.ask("tools/call", *call, exits=IS_ERROR)
    assert answer["isError"] is True
    assert "search_wire" in answer["content"][0]["text"]
