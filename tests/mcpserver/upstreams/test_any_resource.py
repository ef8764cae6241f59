"""Whatever an upstream offers: texts, binary data, lists, JSON within texts, its errors, addresses and tokens."""

import asyncio
import base64
import json
from collections.abc import Mapping
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import httpx2
import pytest
from pytest_django import Settings

from mcpserver.upstreams import guarded_http
from mcpserver.upstreams.client_interface import UpstreamAnswer, UpstreamCall, UpstreamError
from mcpserver.upstreams.config import Adapter, OAuth, Upstream
from mcpserver.upstreams.mapping import map_data
from mcpserver.upstreams.policy_drift import list_differences
from mcpserver.upstreams.upstream_clients import Upstreams
from tests.mcpserver.upstreams.bench import NAME, Bench, outcome

CALL = UpstreamCall(NAME, "thing", "thing://503", {"id": "503"})
URI = "memo://insights"


def ask(bench: Bench, answers: str, adapter: Adapter, **orders: Any) -> Any:
    bench.order("ok", **orders)

    async def go() -> UpstreamAnswer | UpstreamError:
        upstreams = bench.upstreams("stdio", "auto", {"thing": adapter})
        try:
            return await outcome(upstreams, replace(CALL, answers=answers), 20.0)
        finally:
            await upstreams.close()

    return asyncio.run(go())


READ = Adapter(resource="memo://{id}")
TOOL = Adapter(tool="anything", arguments={"id": "{id}"})
IMAGE = {"type": "image", "data": "eA==", "mimeType": "image/png"}
TEXT = {"uri": URI, "mimeType": "text/markdown", "text": "# 401"}
BLOB = {"uri": URI, "mimeType": "image/png", "blob": base64.b64encode(b"x").decode()}


@pytest.mark.parametrize(
    ("answers", "adapter", "result", "data"),
    [
        ("text", READ, {"contents": [BLOB, TEXT]}, {"text": "# 401", "mime_type": "text/markdown"}),
        ("blob", READ, {"contents": [TEXT, BLOB]}, {"blob": BLOB["blob"], "mime_type": "image/png"}),
        ("contents", READ, {"contents": []}, {"contents": []}),
        ("text", TOOL, {"content": [{"type": "text", "text": "a"}]}, {"text": "a", "mime_type": None}),
        ("blob", TOOL, {"content": [IMAGE]}, {"blob": "eA==", "mime_type": "image/png"}),
        ("json", TOOL, {"content": [{"type": "text", "text": '{"a": 1}'}]}, {"a": 1}),
        ("json", TOOL, {"content": [], "structuredContent": {"a": 2}}, {"a": 2}),
    ],
)  # fmt: skip
def test_an_answer_has_the_form_that_the_resource_wants(
    bench: Bench, answers: str, adapter: Adapter, result: Any, data: Any
) -> None:
    found = ask(bench, answers, adapter, result=result)
    assert isinstance(found, UpstreamAnswer), found
    assert found.data == data


@pytest.mark.parametrize("answers", ["text", "blob", "json"])
def test_an_answer_without_what_the_resource_wants_is_invalid(bench: Bench, answers: str) -> None:
    assert ask(bench, answers, READ, result={"contents": []}).code == "upstream_invalid"


def test_a_list_names_resources_and_templates(bench: Bench) -> None:
    lists = {
        "resources": [{"uri": URI, "name": "insights"}],
        "resourceTemplates": [{"uriTemplate": "memo://{id}", "name": "m", "title": "A memo"}],
    }
    found = ask(bench, "listing", Adapter(), lists=lists)
    assert [(one["uri"], one["name"]) for one in found.data["resources"]] == [(URI, "insights")]
    assert [(one["uri"], one["name"]) for one in found.data["templates"]] == [("memo://{id}", "A memo")]


@pytest.mark.parametrize(
    ("caching", "ttl", "is_private"),
    [
        ({}, None, False),
        ({"ttlMs": 0, "cacheScope": "private"}, None, False),  # what the SDK sends for a server that says nothing
        ({"ttlMs": 0, "cacheScope": "public"}, 0.0, False),
        ({"ttlMs": 1_500, "cacheScope": "private"}, 1.5, True),
    ],
)
def test_an_upstream_tells_how_long_its_answer_may_be_used(bench: Bench, caching: Any, ttl: Any, is_private: bool) -> None:
    found = ask(bench, "text", READ, result={"contents": [TEXT], **caching})
    assert (found.ttl, found.is_private) == (ttl, is_private)


def test_a_tools_error_is_the_servers_unless_its_schema_refuses_the_arguments(bench: Bench) -> None:
    result = {"isError": True, "content": [{"type": "text", "text": "Error executing tool: no 503"}]}

    def fail(schema: Any) -> Any:
        return ask(bench, "json", TOOL, result=result, lists={"tools": [{"name": "anything", "inputSchema": schema}]})

    failed = fail({"type": "object", "properties": {"id": {"type": "string"}}})
    assert (failed.code, failed.is_of_call, "503" in failed.detail, "503" in failed.words) == ("server_error", True, False, True)
    assert fail({"type": "object", "properties": {"id": {"type": "integer"}}}).code == "refused"
    assert fail({"type": "object", "$ref": "https://nowhere.example/schema"}).code == "server_error"


def test_json_within_texts_is_unpacked_and_values_are_converted() -> None:
    item = {
        "id": 7,
        "at": 1_795_550_000,
        "ms": "1795550000123",
        "day": "2026-11-24",
        "price": "1.5",
        "more": '{"n": "2"}',
        "s": "[x",
    }
    fields = {
        "id": "id | text", "at": "at|time", "ms": "ms | time", "day": "day | time", "price": "price | number",
        "more": "more | json", "n": "more.n | number", "s": "s", "fixed": "=a | b", "none": "nothing | time",
    }  # fmt: skip
    answer = {"result": json.dumps([item])}
    assert map_data(Adapter(at="result", fields=fields), answer) == [{
        "id": "7", "at": "2026-11-24T19:53:20+00:00", "ms": "2026-11-24T19:53:20.123000+00:00", "day": "2026-11-24T00:00:00+00:00",
        "price": 1.5, "more": {"n": "2"}, "n": 2.0, "s": "[x", "fixed": "a | b",
    }]  # fmt: skip


@pytest.mark.parametrize(
    ("value", "conversion"), [("soon", "time"), ([], "number"), ("{", "json"), (10**30, "time"), ("x", "number")]
)
def test_a_value_that_cannot_be_converted_makes_the_answer_invalid(value: Any, conversion: str) -> None:
    with pytest.raises(UpstreamError) as refused:
        map_data(Adapter(fields={"a": f"a | {conversion}"}), {"a": value})
    assert refused.value.code == "upstream_invalid"


def test_another_address_answers_when_the_first_does_not(bench: Bench, settings: Settings) -> None:
    settings.WIRE_FETCH_ALLOW = (ip_network("127.0.0.0/8"),)
    working = bench.upstreams("http", "2026-07-28")._upstreams[NAME].address
    upstream = Upstream(NAME, "http", address="http://127.0.0.1:9/mcp", failover=(working,), mode="2026-07-28")

    async def go() -> Any:
        upstreams = Upstreams({NAME: upstream})
        try:
            return [await outcome(upstreams, CALL, 20.0) for _ in range(2)]
        finally:
            await upstreams.close()

    assert all(isinstance(found, UpstreamAnswer) for found in asyncio.run(go()))


def test_the_live_check_names_what_the_server_does_not_offer(bench: Bench) -> None:
    schema = {"type": "object", "properties": {"id": {}, "more": {}}, "required": ["more"]}
    tool = {"name": "anything", "inputSchema": schema, "annotations": {"readOnlyHint": False}}
    bench.order("ok", lists={"tools": [tool], "resourceTemplates": [{"uriTemplate": "memo://{id}", "name": "m"}]})
    adapters = {
        "a": Adapter(tool="anything", arguments={"id": "1", "odd": "2"}),
        "b": Adapter(tool="nothing"),
        "c": Adapter(resource="memo://{id}"),
        "d": Adapter(resource="other://x"),
    }

    async def go() -> list[str]:
        upstreams = bench.upstreams("stdio", "auto")
        try:
            return await list_differences(upstreams.connection(NAME), adapters, ["memo://{asset}"])
        finally:
            await upstreams.close()

    assert asyncio.run(go()) == [
        "a: anything takes no argument odd",
        "a: anything needs the argument more",
        "a: anything says that it changes something",
        "b: there is no tool nothing; it has anything",
        "there is no resource other://x",
    ]


EXTENSIONS = {"timeout": guarded_http.TIMEOUT.as_dict()}


class Tokens:
    """An authorization server and a server that takes its newest token alone."""

    def __init__(self) -> None:
        self.given = 0
        self.forms: list[str] = []
        self.is_down = False

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
        except asyncio.IncompleteReadError:  # a connection that nobody used
            writer.close()
            return
        headers = dict(line.lower().split(": ", 1) for line in head.strip().split("\r\n")[1:])
        body = (await reader.readexactly(int(headers.get("content-length", 0)))).decode()
        status, answer = self._answer(head.split()[1], headers, body)
        content = json.dumps(answer).encode()
        writer.write(f"HTTP/1.1 {status} X\r\nContent-Length: {len(content)}\r\nConnection: close\r\n\r\n".encode() + content)
        await writer.drain()
        writer.close()

    def _answer(self, path: str, headers: Mapping[str, str], body: str) -> tuple[int, Any]:
        if path != "/token":
            return (200, {}) if headers["authorization"] == f"bearer t{self.given}" else (401, {})
        self.forms.append(f"{headers['authorization']} {body}")
        if self.is_down:
            return 400, {"error": "invalid_client"}
        self.given += 1
        return 200, {"access_token": f"t{self.given}", "expires_in": 3_600}


def test_a_token_is_asked_for_once_and_anew_when_it_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLIENT_SECRET", "s/x")
    tokens = Tokens()

    async def go() -> list[int]:
        server = await asyncio.start_server(tokens.serve, "127.0.0.1", 0)
        address = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        oauth = OAuth(f"{address}/token", "me", "env:CLIENT_SECRET", scope="read")
        faults: list[UpstreamError] = []
        guarded_http.faults.set(faults)
        async with server, guarded_http.GuardedTransport("them", (), (ip_network("127.0.0.0/8"),), oauth) as transport:

            async def post() -> int:
                response = await transport.handle_async_request(
                    httpx2.Request("POST", f"{address}/mcp", content=b"{}", extensions=EXTENSIONS)
                )
                await response.aclose()
                return response.status_code

            found = [*await asyncio.gather(*(post() for _ in range(5))), await post()]
            tokens.given += 10  # all tokens so far are revoked
            found.append(await post())
            assert not faults
            tokens.given, tokens.is_down = tokens.given + 10, True
            with pytest.raises(httpx2.TransportError):
                await post()
            assert faults[-1].code == "unauthorized"
            return found

    assert asyncio.run(go()) == [200] * 7
    basic = base64.b64encode(b"me:s%2Fx").decode().lower()
    assert tokens.forms == [f"basic {basic} grant_type=client_credentials&scope=read"] * 3


def test_what_the_policy_says_of_secrets_and_addresses_is_checked() -> None:
    for wrong in (
        {"failover": ("ftp://x",)},
        {"oauth": {"token_url": "https://x/token", "client_id": "a", "client_secret": "b"}},
        {"adapters": {"a": {"fields": {"x": "y | money"}}}},
    ):
        with pytest.raises(ValueError, match=r"env:NAME|http\(s\)|not a conversion"):
            Upstream(NAME, "http", address="https://x.example/mcp", **wrong)
    one = Upstream(NAME, "http", address="https://x.example", oauth=OAuth("https://x/t", "a", "env:NOT_SET_AT_ALL"))
    assert one.find_missing_secret() == "NOT_SET_AT_ALL"


def test_a_server_is_given_time_to_start(bench: Bench, tmp_path: Path) -> None:
    """Questions that give up meanwhile end no server that is starting."""
    bench.order("ok")
    slow = tmp_path / "slow.sh"
    command = bench.upstreams("stdio", "auto")._upstreams[NAME].command
    slow.write_text(f"#!/bin/sh\necho start >> {tmp_path}/starts\nsleep 0.5\nexec {' '.join(command)}\n")
    upstreams = Upstreams({NAME: Upstream(NAME, "stdio", ("sh", str(slow)))})

    async def go() -> Any:
        for _ in range(3):
            with pytest.raises(TimeoutError):
                await outcome(upstreams, CALL, 0.05)
        found = await outcome(upstreams, CALL, 20.0)
        await upstreams.close()
        return found

    assert isinstance(asyncio.run(go()), UpstreamAnswer)
    assert (tmp_path / "starts").read_text() == "start\n"
