"""Cards (MCP Apps): who is offered them, in either era, and that nobody else sees a difference."""

import json
import re
from typing import Any, Final

import pytest

from citations.format.formats import CitationFormat
from mcpserver.cards.endpoint import CardEndpoint
from mcpserver.registry import doors
from tests.mcpserver.asgi import ERAS, LEGACY, MODERN, Answer, message, request, rpc, rpc_headers

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]

EXTENSION: Final = "io.modelcontextprotocol/ui"
MIME_TYPE: Final = "text/html;profile=mcp-app"
CAPABILITIES: Final = {"extensions": {EXTENSION: {"mimeTypes": [MIME_TYPE]}}}
PAGES: Final = {
    "list_events": "ui://chatbotnews/day",
    "get_event": "ui://chatbotnews/event",
    "get_storyline": "ui://chatbotnews/storyline",
    "verify_citation": "ui://chatbotnews/citations",
}
TIMELINE: Final = {"timeline_events": "ui://chatbotnews/timeline"}
SERVERS: Final = {"/mcp": PAGES, "/mcp/timeline": TIMELINE}

ASKS_OR_PARSES: Final = re.compile(
    r"""(?:src|href)\s*=\s*["'][^"']+|@import|url\(|fetch\(|XMLHttp|WebSocket|innerHTML|outerHTML|insertAdjacent|document\.write|eval\("""
)


def initialize(path: str, capabilities: Any) -> Answer:
    params = {"protocolVersion": LEGACY, "capabilities": capabilities, "clientInfo": {"name": "host", "version": "1"}}
    asked = message("initialize", params, LEGACY)
    return request("POST", path, _body(asked), rpc_headers(asked, LEGACY))


def ask(method: str, params: dict[str, Any] | None = None, era: str = MODERN, path: str = "/mcp") -> Answer:
    """Ask as a host does that negotiated cards: a modern one says so each time, an older one by its session."""
    asked = message(method, params, era)
    headers = dict(rpc_headers(asked, era))
    if era == MODERN:
        asked["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = CAPABILITIES
    else:
        headers["mcp-session-id"] = initialize(path, CAPABILITIES)["mcp-session-id"] or ""
    return request("POST", path, _body(asked), headers)


def _body(asked: Any) -> bytes:
    return json.dumps(asked).encode()


def pages_of(answer: Answer) -> dict[str, str]:
    return {tool["name"]: tool["_meta"]["ui"]["resourceUri"] for tool in answer.result["tools"] if "_meta" in tool}


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("path", SERVERS)
def test_a_host_that_negotiated_cards_finds_and_reads_each(path: str, era: str) -> None:
    pages = SERVERS[path]
    assert pages_of(ask("tools/list", era=era, path=path)) == pages
    listed = [found for found in ask("resources/list", era=era, path=path).result["resources"] if found["uri"].startswith("ui:")]
    assert [found["uri"] for found in listed] == list(pages.values())
    assert {found["mimeType"] for found in listed} == {MIME_TYPE}
    for uri in pages.values():
        (content,) = ask("resources/read", {"uri": uri}, era, path).result["contents"]
        assert (content["uri"], content["mimeType"]) == (uri, MIME_TYPE)
        assert list(content["_meta"]["ui"]["csp"].values()) == [[], [], [], []]
        assert content["text"].startswith("<!doctype html>")


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("path", SERVERS)
def test_nothing_changes_for_anyone_else(path: str, era: str) -> None:
    before = rpc("tools/list", era=era, path=path).result
    with_cards = ask("tools/list", era=era, path=path).result
    assert rpc("tools/list", era=era, path=path).result == before
    assert pages_of(rpc("tools/list", era=era, path=path)) == {}
    for tool in with_cards["tools"]:
        tool.pop("_meta", None)
    assert with_cards == before
    uri = next(iter(SERVERS[path].values()))
    assert "error" in rpc("resources/read", {"uri": uri}, era, path).json()


def test_the_wires_own_resources_stand_behind_the_cards() -> None:
    mine, plain = ask("resources/list").result, rpc("resources/list").result
    assert mine["resources"][len(PAGES) :] == plain["resources"]
    assert ask("resources/read", {"uri": "wire://sources"}).result == rpc("resources/read", {"uri": "wire://sources"}).result


def test_the_extension_is_announced_to_those_alone_who_speak_it() -> None:
    for path in SERVERS:
        accepted, plain = initialize(path, CAPABILITIES), initialize(path, {})
        assert accepted.result["capabilities"]["extensions"] == {EXTENSION: {}}
        assert "resources" in accepted.result["capabilities"]
        assert "extensions" not in plain.result["capabilities"]
        assert (plain["mcp-session-id"], accepted["mcp-session-id"] is None) == (None, False)
        assert ask("server/discover", path=path).result["capabilities"]["extensions"] == {EXTENSION: {}}
        assert "extensions" not in rpc("server/discover", path=path).result["capabilities"]


@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        {"extensions": {}},
        {"extensions": {EXTENSION: {}}},
        {"extensions": {EXTENSION: {"mimeTypes": ["text/html"]}}},
        {"experimental": {EXTENSION: {"mimeTypes": [MIME_TYPE]}}},
    ],
)
def test_a_client_that_shows_no_such_pages_is_offered_none(capabilities: Any) -> None:
    assert initialize("/mcp", capabilities)["mcp-session-id"] is None


@pytest.mark.parametrize(
    "hostile", [[], "x", {"extensions": []}, {"extensions": {EXTENSION: 1}}, {"extensions": {EXTENSION: {"mimeTypes": 7}}}]
)
def test_capabilities_of_any_shape_break_nothing(hostile: Any) -> None:
    assert initialize("/mcp", hostile).status in {200, 400}


def test_a_session_id_of_somebody_elses_brings_no_cards() -> None:
    asked = message("tools/list", era=LEGACY)
    for session in ("", "x", "Cards-1", "0123456789"):
        headers = {**rpc_headers(asked, LEGACY), "mcp-session-id": session}
        assert pages_of(request("POST", "/mcp", _body(asked), headers)) == {}


def test_clients_of_one_server_share_what_is_cached_whatever_their_session() -> None:
    door = doors["/mcp"].with_cards
    assert isinstance(door, CardEndpoint)
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    keys = [door._build_repeat_key({b"mcp-session-id": session}, asked) for session in (b"cards-1", b"cards-2")]
    assert keys[0] == keys[1] != doors["/mcp"]._build_repeat_key({}, asked)


def test_the_answers_of_tools_are_the_same_for_everyone() -> None:
    asked = {"name": "list_events", "arguments": {"limit": 2}}
    assert ask("tools/call", asked).result == rpc("tools/call", asked).result


@pytest.mark.parametrize("uri", PAGES.values())
def test_a_page_is_whole_and_asks_nobody_for_anything(uri: str) -> None:
    (content,) = ask("resources/read", {"uri": uri}).result["contents"]
    page = content["text"]
    assert ASKS_OR_PARSES.findall(page) == []
    assert "{{" not in page
    assert page.count("</script>") == 2
    assert len(page) < 30_000


def test_the_formats_of_an_events_page_are_those_of_get_citation() -> None:
    (content,) = ask("resources/read", {"uri": PAGES["get_event"]}).result["contents"]
    (listed,) = re.findall(r"const FORMATS = (\[[^\]]+\])", content["text"])
    assert json.loads(listed) == [style.value for style in CitationFormat]


def test_a_page_that_is_read_is_counted_by_its_address() -> None:
    door = doors["/mcp"].with_cards
    assert door is not None
    assert door.usage_name("resources/read", PAGES["get_event"]) == PAGES["get_event"]
    assert door.usage_name("resources/read", "ui://chatbotnews/nothing") == ""
    assert door.usage_name("tools/call", "get_event") == "get_event"
