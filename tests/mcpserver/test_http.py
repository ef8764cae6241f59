"""Streamable HTTP: methods, statuses and headers of /mcp, and which revision a request speaks."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

from tests.mcpserver.asgi import LEGACY, MODERN, message, request, rpc, rpc_headers

pytestmark = pytest.mark.django_db

HANDSHAKES: Final = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
ALL: Final = (*HANDSHAKES, MODERN)
JSON: Final = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
PING: Final = b'{"jsonrpc":"2.0","id":1,"method":"ping"}'
ROOT: Final = Path(__file__).parent.parent.parent


def hello(version: str) -> dict[str, Any]:
    params = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
    return {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}


def post(body: Any, **headers: str) -> Any:
    """A POST of `body` as JSON; an underscore in a header's name stands for a hyphen."""
    given = JSON | {name.replace("_", "-"): value for name, value in headers.items()}
    return request("POST", "/mcp", body if isinstance(body, bytes) else json.dumps(body).encode(), given)


@pytest.mark.parametrize("version", HANDSHAKES)
def test_initialize_negotiates_every_handshake_revision(version: str) -> None:
    for headers in ({}, {"mcp_protocol_version": version}):
        answer = post(hello(version), **headers)
        assert answer.status == 200
        assert answer.result["protocolVersion"] == version
        assert answer.result["serverInfo"]["name"] == "chatbotnews-wire"


@pytest.mark.parametrize("version", ["2026-07-28", "1999-01-01", "2099-01-01", "x", ""])
def test_initialize_offers_the_latest_handshake_revision_for_any_other(version: str) -> None:
    assert post(hello(version)).result["protocolVersion"] == LEGACY


def test_a_request_without_a_version_speaks_the_oldest_revision_of_this_transport() -> None:
    answer = post({"jsonrpc": "2.0", "id": "a", "method": "tools/list"})
    assert answer.status == 200
    assert answer.json()["id"] == "a"
    assert len(answer.result["tools"]) == 21
    assert "ttlMs" not in answer.result


@pytest.mark.parametrize("version", ALL)
def test_no_session_is_ever_made(version: str) -> None:
    asked = message("tools/list", era=version)
    for headers in ({}, {"mcp-session-id": "0123456789abcdef"}):
        answer = request("POST", "/mcp", json.dumps(asked).encode(), rpc_headers(asked, version) | headers)
        assert answer.status == 200
        assert answer["mcp-session-id"] is None
    assert post(hello(version))["mcp-session-id"] is None


def test_an_answer_is_json_of_known_length_that_nobody_keeps() -> None:
    answer = rpc("tools/list")
    assert answer["content-type"] == "application/json"
    assert answer["content-length"] == str(len(answer.body))
    assert answer["cache-control"] == "no-store"


def test_the_address_is_served_with_a_slash_behind_it_just_the_same() -> None:
    listing = message("tools/list")
    for method, body, headers in (
        ("POST", PING, JSON),
        ("POST", json.dumps(listing).encode(), rpc_headers(listing)),
        ("POST", b"no json", JSON),
        ("POST", PING, {**JSON, "origin": "https://claude.ai"}),
        ("POST", PING, {**JSON, "origin": "https://evil.example"}),
        ("GET", b"", {}),
        ("OPTIONS", b"", {}),
        ("DELETE", b"", {}),
    ):
        plain, slashed = (request(method, path, body, headers) for path in ("/mcp", "/mcp/"))
        assert (slashed.status, slashed.headers, slashed.body) == (plain.status, plain.headers, plain.body)
    assert request("POST", "/mcp//", PING, JSON).status == 404


def test_a_version_that_is_not_served_is_refused_with_all_that_are() -> None:
    answer = post(PING, mcp_protocol_version="1999-01-01")
    assert answer.status == 400
    assert answer.error["data"]["requested"] == "1999-01-01"
    assert answer.error["data"]["supported"] == list(ALL)
    enveloped = post(message("tools/list"), mcp_protocol_version="1999-01-01")
    assert enveloped.error["data"]["supported"] == rpc("server/discover").result["supportedVersions"]


@pytest.mark.parametrize("method", ["GET", "POST", "OPTIONS", "DELETE"])
def test_the_next_major_version_is_reserved_and_points_here(method: str) -> None:
    answer = request(method, "/mcp/v2", PING, JSON)
    assert answer.status == 404
    assert "/mcp." in answer.json()["hint"]
    assert answer["content-type"] == "application/json"


@pytest.mark.parametrize("method", ["GET", "HEAD", "DELETE", "PUT", "PATCH", "TRACE", "QUINCE"])
@pytest.mark.parametrize("accept", ["application/json", "*/*", None])
def test_any_other_method_and_a_get_for_no_stream_is_refused_at_once(method: str, accept: str | None) -> None:
    answer = request(method, "/mcp", headers={"accept": accept} if accept else {})
    assert (answer.status, answer.body) == (405, b"")
    assert answer["allow"] == "POST, GET, OPTIONS"
    assert answer.times_received == 0


def test_the_latest_revision_has_no_get_stream() -> None:
    answer = request("GET", "/mcp", headers={"accept": "text/event-stream", "mcp-protocol-version": MODERN})
    assert (answer.status, answer["allow"]) == (405, "POST, GET, OPTIONS")


@pytest.mark.parametrize(
    "kind",
    ["text/plain", "text/json", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data", "", None, "json"],
)
def test_another_content_type_is_not_supported(kind: str | None) -> None:
    answer = request("POST", "/mcp", PING, {"content-type": kind} if kind is not None else {})
    assert answer.status == 415
    assert "application/json" in answer.error["message"]


def test_json_is_supported_however_it_is_spelled() -> None:
    for kind in ("application/json", "application/json; charset=utf-8", "Application/JSON", "application/json;"):
        assert request("POST", "/mcp", PING, {"content-type": kind}).status == 200


@pytest.mark.parametrize(
    ("accept", "status"),
    [
        ("application/json, text/event-stream", 200),
        ("application/json", 200),
        ("*/*", 200),
        ("application/*;q=0.5", 200),
        (None, 200),
        ("text/event-stream", 406),
        ("text/html", 406),
    ],
)
def test_the_answer_is_json_so_a_client_must_take_json(accept: str | None, status: int) -> None:
    headers = {"content-type": "application/json"} | ({"accept": accept} if accept else {})
    assert request("POST", "/mcp", PING, headers).status == status


@pytest.mark.parametrize("accept", ["application/json", "application/json, text/html", None])
def test_who_listens_must_take_a_stream_and_is_told_so(accept: str | None) -> None:
    asked = message("subscriptions/listen", {"notifications": {"resourcesListChanged": True}})
    headers = {name: value for name, value in rpc_headers(asked).items() if name != "accept"} | (
        {"accept": accept} if accept else {}
    )
    answer = request("POST", "/mcp", json.dumps(asked).encode(), headers)
    assert (answer.status, answer.error["code"]) == (406, -32600)
    assert "text/event-stream" in answer.error["message"]


@pytest.mark.parametrize("version", ALL)
def test_a_notification_is_accepted_and_not_answered(version: str) -> None:
    for method in ("notifications/initialized", "notifications/cancelled", "notifications/quince", "tools/list"):
        answer = post({"jsonrpc": "2.0", "method": method, "params": {}}, mcp_protocol_version=version)
        assert (answer.status, answer.body) == (202, b"")


def test_an_answer_to_a_question_never_asked_is_accepted() -> None:
    assert post({"jsonrpc": "2.0", "id": 1, "result": {}}).status == 202
    assert post({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": ""}}).status == 202


@pytest.mark.parametrize("version", ["1999-01-01", "2099-12-31", "draft", "", "2026-07-28, 2025-11-25"])
@pytest.mark.parametrize(
    "body", [message("tools/list", era=LEGACY), message("tools/list"), {"jsonrpc": "2.0", "method": "notifications/x"}]
)
def test_an_unknown_revision_is_refused_with_those_that_are_spoken(version: str, body: dict[str, Any]) -> None:
    answer = post(body, mcp_protocol_version=version, mcp_method="tools/list")
    assert answer.status == 400
    assert answer.error["code"] == -32022
    assert MODERN in answer.error["data"]["supported"]
    assert answer.error["data"]["requested"] == version


def test_headers_that_contradict_the_body_are_refused() -> None:
    asked = message("tools/call", {"name": "list_sources", "arguments": {}})
    right = rpc_headers(asked)
    body = json.dumps(asked).encode()
    assert request("POST", "/mcp", body, right).status == 200
    for wrong in (
        {"mcp-protocol-version": LEGACY},
        {"mcp-method": "tools/list"},
        {"mcp-method": ""},
        {"mcp-name": "get_story"},
        {"mcp-name": ""},
        {"mcp-name": "=?base64?bGlzdF9zb3VyY2Vz"},
    ):
        answer = request("POST", "/mcp", body, right | wrong)
        assert (answer.status, answer.error["code"]) == (400, -32020), wrong
        assert answer.json()["id"] == asked["id"]
    for left_out in ("mcp-protocol-version", "mcp-method", "mcp-name"):
        answer = request("POST", "/mcp", body, {name: value for name, value in right.items() if name != left_out})
        assert (answer.status, answer.error["code"]) == (400, -32020), left_out


@pytest.mark.parametrize("name", ["mcp-protocol-version", "mcp-method", "mcp-name"])
def test_a_routing_header_given_twice_is_refused(name: str) -> None:
    asked = message("tools/call", {"name": "list_sources", "arguments": {}})
    headers = [*rpc_headers(asked).items(), (name, rpc_headers(asked)[name])]
    answer = request("POST", "/mcp", json.dumps(asked).encode(), headers)
    assert (answer.status, answer.error["code"]) == (400, -32020)


@pytest.mark.parametrize("meta", [None, {}, {"io.modelcontextprotocol/protocolVersion": MODERN}, [], "x", 5])
def test_the_latest_revision_asks_for_its_envelope(meta: Any) -> None:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {"_meta": meta}}
    answer = post(asked, mcp_protocol_version=MODERN, mcp_method="tools/list")
    assert (answer.status, answer.error["code"]) == (400, -32602)
    assert "_meta" in answer.error["message"]


def test_what_a_revision_does_not_have_is_an_unknown_method() -> None:
    for method, version in (("ping", MODERN), ("initialize", MODERN), ("logging/setLevel", MODERN), ("nope", MODERN)):
        assert rpc(method, {"level": "info"}, version).error["code"] in (-32601, -32602)
    assert rpc("nope").status == 404
    for method in ("server/discover", "subscriptions/listen", "resources/subscribe", "logging/setLevel", "tasks/get", "nope"):
        params = {"uri": "wire://today", "level": "info", "taskId": "1", "notifications": {}}
        answer = rpc(method, params, LEGACY)
        assert answer.error["code"] in (-32601, -32602), method
    assert rpc("ping", era=LEGACY).result == {}


@pytest.mark.slow
def test_rest_and_the_site_work_when_the_mcp_door_is_taken_away(tmp_path: Path) -> None:
    for name in ("config", "wire", "sources", "citations", "templates", "docs", "fixtures"):
        (tmp_path / name).symlink_to(ROOT / name)
    wanted = {"/api/sources.json": 200, "/": 200, "/sources": 200, "/llms.txt": 200, "/api/search.json": 422, "/mcp": 404}
    command = [sys.executable, str(ROOT / "tests" / "mcpserver" / "rest_only.py"), *wanted]
    environment = {"WIRE_DATA_DIR": str(tmp_path / "data")}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"statuses": wanted, "imported": []}


def test_blanks_around_a_header_are_none_of_its_value() -> None:
    asked = message("tools/call", {"name": "list_sources", "arguments": {}})
    headers = {name: f" \t{value}  " for name, value in rpc_headers(asked).items()}
    assert request("POST", "/mcp", json.dumps(asked).encode(), headers).status == 200
