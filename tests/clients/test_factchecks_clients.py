"""Fact-checks through other projects' clients: the inspector in both eras, LangChain's adapter, and a session by plain HTTP."""

import json
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest

from tests.clients.test_frameworks import FRAMEWORKS, Framework, described, reported
from tests.clients.test_inspector import IS_ERROR, Inspector

pytestmark = pytest.mark.clients

ID: Final = "2026/03/01-1"
CALLS: Final[dict[str, dict[str, Any]]] = {
    "search_factchecks": {"query": "Impfung verändert das Erbgut", "limit": 3, "language": "de"},
    "get_factcheck": {"id": ID},
    "list_categories": {},
}
WRONG: Final = {
    "a wrong argument": ("search_factchecks", {"query": "Impfung", "limit": 21}),
    "an unknown id": ("get_factcheck", {"id": "nix"}),
}
REVISION: Final = "2025-11-25"


@pytest.fixture(params=["modern", "legacy"])
def inspector(request: pytest.FixtureRequest, factchecks: str, tmp_path: Path) -> Inspector:
    return Inspector(factchecks, request.param, tmp_path)


def test_the_inspector_calls_every_tool(inspector: Inspector) -> None:
    assert [tool["name"] for tool in inspector.ask("tools/list", "--strict")["tools"]] == list(CALLS)
    asked = (("tools/call", "--tool-name", name, "--tool-args-json", json.dumps(given)) for name, given in CALLS.items())
    found, one, categories = inspector.ask_all(asked)
    assert found["structuredContent"]["claims"][0]["short_id"] == ID
    assert found["content"][0]["text"].startswith("## ")
    assert one["structuredContent"]["short_id"] == ID
    assert categories["structuredContent"]["categories"]


def test_the_inspector_reads_resources_and_the_prompt(inspector: Inspector) -> None:
    assert [one["uri"] for one in inspector.ask("resources/list")["resources"]] == ["factcheck://categories"]
    assert [one["uriTemplate"] for one in inspector.ask("resources/templates/list")["resourceTemplates"]] == ["factcheck://{id}"]
    for uri in ("factcheck://categories", "factcheck://2026%2F03%2F01-1"):
        (content,) = inspector.ask("resources/read", "--uri", uri)["contents"]
        assert content["text"], uri
    prompt = inspector.ask("prompts/get", "--prompt-name", "check-claim", "--prompt-args", "claim=Impfung")
    assert "Impfung" in prompt["messages"][0]["content"]["text"]


@pytest.mark.parametrize("wrong", WRONG)
def test_the_inspector_tells_an_error_that_can_be_mended(inspector: Inspector, wrong: str) -> None:
    tool, arguments = WRONG[wrong]
    answer = inspector.ask("tools/call", "--tool-name", tool, "--tool-args-json", json.dumps(arguments), exits=IS_ERROR)
    assert answer["isError"] is True


@pytest.mark.parametrize(
    "framework", [one for one in FRAMEWORKS if one.script in ("langchain_tools", "fastmcp_client")], ids=lambda one: one.script
)
def test_frameworks_call_every_tool_and_read_errors(framework: Framework, factchecks: str) -> None:
    errors = reported(framework, factchecks, described(factchecks, CALLS), WRONG)["errors"]
    assert "20" in errors["a wrong argument"]["told"]
    assert "nix" in errors["an unknown id"]["told"]


def test_a_session_lives_until_it_is_ended(factchecks: str) -> None:
    """In the services run each request may meet another worker."""
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": REVISION}

    def ask(method: str, session: str | None, **params: Any) -> httpx2.Response:
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        return httpx2.post(factchecks, json=body, headers=headers | ({"mcp-session-id": session} if session else {}))

    client = {"name": "test", "version": "1"}
    begun = ask("initialize", None, protocolVersion=REVISION, capabilities={}, clientInfo=client)
    session = begun.headers["mcp-session-id"]
    assert [ask("tools/list", session).status_code for _ in range(4)] == [200] * 4
    assert ask("tools/list", f"{session}x").status_code == 404
    assert httpx2.delete(factchecks, headers=headers | {"mcp-session-id": session}).status_code == 204
    assert [ask("tools/list", session).status_code for _ in range(4)] == [404] * 4
    assert ask("tools/list", None).status_code == 200
