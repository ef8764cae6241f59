"""The gateway's server and its REST: the same answers at both doors, keys, and an account of each answer."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connections
from django.test import Client as Browser
from mcp import Client
from pytest_django import Settings

from mcpserver.gateway import auth, runtime
from mcpserver.gateway.models import RequestLog
from mcpserver.gateway.payload_schemas import KINDS
from mcpserver.gateway.process_context import ProcessContext
from mcpserver.gateway.resolver import Resolver
from mcpserver.gateway.resource_policy import load_policy
from mcpserver.servers import gateway as server
from tests.mcpserver.asgi import ERAS, MODERN, http_scope, message, rpc_headers, send_request
from tests.mcpserver.gateway.stage import Scripted, failure, payment, trend, tweet

PATH = "/mcp/gateway"
GLOBAL = "news://global/trends"
pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(scope="session", autouse=True)
def close_writer(close_connections: None) -> Iterator[None]:  # noqa: ARG001
    """Lets go of the writer's connection at the end, too, so that the test database can be dropped."""
    yield
    runtime._writer.submit(connections.close_all).result()


@pytest.fixture(autouse=True)
def upstream() -> Iterator[Scripted]:
    found = Scripted()
    policy = load_policy().with_overrides({name: {"min_interval": 0, "limit": 10_000} for name in load_policy().resources})
    auth.clear_caller_cache()
    server._pieces.clear()
    runtime.replace_resolver(Resolver(policy, found, ProcessContext(runtime.run_write, runtime.run_read_query)))
    yield found
    runtime.replace_resolver(None)
    auth.clear_caller_cache()


def talk(*asked: tuple[str, dict[str, Any]], era: str = MODERN, token: str = "") -> list[Any]:
    """JSON-RPC answers to requests that come one after the other."""

    async def all_of_them() -> list[Any]:
        found = []
        for method, params in asked:
            sent = message(method, params, era)
            headers = rpc_headers(sent, era) | ({"authorization": f"Bearer {token}"} if token else {})
            answer = await send_request(http_scope("POST", PATH, headers), [json.dumps(sent).encode()])
            found.append(answer.json())
        await (await runtime.get_resolver()).logger.flush()
        return found

    return asyncio.run(all_of_them())


def rest(path: str, token: str = "") -> Any:
    async def ask() -> Any:
        headers = {"authorization": f"Bearer {token}"} if token else {}
        answer = await send_request(http_scope("GET", path, headers))
        await (await runtime.get_resolver()).logger.flush()
        return answer

    return asyncio.run(ask())


def without_id(text: str) -> Any:
    found = json.loads(text)
    found["provenance"].pop("request_id")
    return found


@pytest.mark.parametrize("era", ERAS)
def test_a_read_is_the_same_whether_the_sdk_or_memory_answers(upstream: Scripted, era: str) -> None:
    upstream.script["news_global_trends"] = [[trend(1, topic='Quotes " and \\ and ünïcode \u2028')]]
    read = ("resources/read", {"uri": GLOBAL})
    fresh, slow, fast = (answer["result"] for answer in talk(read, read, read, era=era))
    assert json.loads(fresh["contents"][0]["text"])["provenance"]["outcome"] == "fresh"
    assert len(upstream.calls) == 1
    told = [without_id(answer["contents"][0].pop("text")) for answer in (slow, fast)]
    assert told[0] == told[1]
    for answer in (slow, fast):
        assert 0 < answer.pop("ttlMs", 1) <= 1_800_000
    assert slow == fast
    assert RequestLog.objects.count() == 3


def test_quick_answers_are_really_quick(upstream: Scripted, monkeypatch: pytest.MonkeyPatch) -> None:
    upstream.script["news_global_trends"] = [[trend()]]
    seen: list[Any] = []
    original = server.find_fast_path
    from mcpserver.registry import doors

    def noted(*args: Any) -> Any:
        seen.append(original(*args))
        return seen[-1]

    monkeypatch.setattr(doors[PATH], "find_fast_path", noted)
    read = ("resources/read", {"uri": GLOBAL})
    talk(read, read, read)
    assert [found is not None for found in seen] == [False, False, True]


def test_a_request_that_the_sdk_refuses_is_neither_answered_from_memory_nor_logged(upstream: Scripted) -> None:
    upstream.script["news_global_trends"] = [[trend()]]
    good = ("resources/read", {"uri": GLOBAL})
    wrong = ("resources/read", {"uri": GLOBAL, "_meta": {"progressToken": {"no": "token"}}})
    *_, refused = talk(good, good, good, wrong, era=ERAS[-1])
    assert refused["error"]["code"] == -32602
    assert RequestLog.objects.count() == 3


def test_anybody_is_told_that_a_key_is_needed(upstream: Scripted) -> None:
    (answer, call) = talk(
        ("resources/read", {"uri": "twitter://mentions/recent"}),
        ("tools/call", {"name": "gateway_read", "arguments": {"uri": "twitter://mentions/recent"}}),
    )
    assert answer["error"]["data"]["error"] == "unauthorized"
    assert call["result"]["isError"] is True
    assert rest("/api/gateway/read.json?uri=twitter://mentions/recent").status == 401
    assert not upstream.calls


def test_a_key_opens_what_it_was_granted_and_nothing_else(upstream: Scripted) -> None:
    token = auth.create_agent("alpha", ["twitter://"])
    upstream.script["twitter_mentions_recent"] = [[tweet()]]
    (answer,) = talk(("resources/read", {"uri": "twitter://mentions/recent"}), token=token)
    assert answer["result"]["cacheScope"] == "private"
    assert rest("/api/gateway/read.json?uri=market://crypto/base/trending", token).status == 403
    assert rest("/api/gateway/read.json?uri=news://global/trends", "gwa_wrong").status == 401
    allowed = rest("/api/gateway/read.json?uri=twitter://mentions/recent", token)
    assert (allowed.status, allowed["cache-control"]) == (200, "private, no-store")


def test_two_keys_never_share_what_is_private_through_any_door(upstream: Scripted) -> None:
    first, second = auth.create_agent("alpha", ["twitter://"]), auth.create_agent("beta", ["twitter://"])
    upstream.script["twitter_mentions_recent"] = [[tweet(1, "of alpha")], [tweet(2, "of beta")]]
    read = ("resources/read", {"uri": "twitter://mentions/recent"})
    told = {token: talk(read, read, read, token=token) for token in (first, second)}
    assert "of alpha" in str(told[first])
    assert "of beta" not in str(told[first])
    assert "of alpha" not in str(told[second])


def test_an_exhausted_payment_query_is_an_error_at_every_door(upstream: Scripted) -> None:
    token = auth.create_agent("alpha", ["blockchain://"])
    upstream.script["blockchain_base_transactions"] = [failure("refused")]
    uri = "blockchain://base/transactions"
    read, call = talk(
        ("resources/read", {"uri": uri}), ("tools/call", {"name": "gateway_read", "arguments": {"uri": uri}}), token=token
    )
    assert read["error"]["data"]["provenance"]["outcome"] == "exhausted"
    assert (call["result"]["isError"], call["result"]["structuredContent"]["data"]) == (True, None)
    answer = rest(f"/api/gateway/read.json?uri={uri}", token)
    assert (answer.status, answer.json()["data"]) == (502, None)
    upstream.script["blockchain_base_transactions"] = [{"transactions": [payment()]}]
    assert rest(f"/api/gateway/read.json?uri={uri}", token).status == 200


def test_strict_turns_an_empty_answer_into_503(upstream: Scripted) -> None:
    upstream.script = {name: [failure("refused")] for name in ("news_global_trends", "news_category_trends")}
    assert rest(f"/api/gateway/read.json?uri={GLOBAL}").json()["data"] == []
    strict = rest(f"/api/gateway/read.json?uri={GLOBAL}&strict=true")
    assert (strict.status, strict["retry-after"] is not None) == (503, True)


def test_an_answer_is_explained_to_whoever_asked_and_nobody_else(upstream: Scripted) -> None:
    token = auth.create_agent("alpha", ["openclaw://"])
    upstream.script["openclaw_arp_discover"] = [failure("refused")]
    (answer,) = talk(("tools/call", {"name": "gateway_read", "arguments": {"uri": "openclaw://arp/discover"}}), token=token)
    request_id = answer["result"]["structuredContent"]["provenance"]["request_id"]
    explain = ("tools/call", {"name": "gateway_explain", "arguments": {"request_id": request_id}})
    (mine,), (others,) = talk(explain, token=token), talk(explain)
    assert mine["result"]["structuredContent"]["attempts"][0]["error"] == "refused"
    assert others["result"]["isError"] is True
    assert rest(f"/api/gateway/requests/{request_id}.json", token).json()["outcome"] == "exhausted"
    assert rest(f"/api/gateway/requests/{request_id}.json").status == 404


@pytest.mark.slow
@pytest.mark.parametrize("text", ["a\0", "\0", "a" * 24 + "\0", "A-B"])
def test_what_can_be_no_id_of_a_request_is_refused_with_a_sentence(text: str) -> None:
    (answer,) = talk(("tools/call", {"name": "gateway_explain", "arguments": {"request_id": text}}))
    assert answer["result"]["isError"] is True
    assert "not a request's id" in str(answer)
    assert rest(f"/api/gateway/requests/{quote(text)}.json").status == 404


def test_an_address_with_nul_is_refused_with_a_sentence() -> None:
    (answer,) = talk(("resources/read", {"uri": f"{GLOBAL}?timeWindow=1\0h"}))
    assert "timeWindow" in answer["error"]["message"]
    assert rest(f"/api/gateway/read.json?uri={GLOBAL}%3FtimeWindow=1%2500h").status == 422


def test_a_key_whose_agent_changed_is_given_nothing_from_memory_that_was_its_earlier_ones(upstream: Scripted) -> None:
    token = auth.create_agent("alpha", ["twitter://"], attributes={"twitter_id": "7"})
    upstream.script["twitter_mentions_recent"] = [[tweet(1, "of 7")], [tweet(2, "of 8")]]
    read = ("resources/read", {"uri": "twitter://mentions/recent"})
    assert "of 7" in str(talk(read, read, read, token=token)[2])
    changed = auth.create_agent("alpha", ["twitter://"], attributes={"twitter_id": "8"})
    told = str(talk(read, read, read, token=changed))
    assert ("of 7" in told, "of 8" in told) == (False, True)


def test_lists_hold_the_specifications_addresses() -> None:
    listed, templates, tools = talk(("resources/list", {}), ("resources/templates/list", {}), ("tools/list", {}))
    assert {one["uri"] for one in listed["result"]["resources"]} == {
        "twitter://mentions/recent", GLOBAL, "blockchain://base/transactions", "openclaw://heartbeat", "openclaw://arp/discover",
    }  # fmt: skip
    assert {one["uriTemplate"] for one in templates["result"]["resourceTemplates"]} == {
        "twitter://feed/{user_id}", "news://region/{region}/trends", "news://category/{category}/trends", "market://crypto/{asset}/trending",
    }  # fmt: skip
    assert [one["name"] for one in tools["result"]["tools"]] == [
        "gateway_read", "gateway_resources", "gateway_explain", "gateway_vector_search",
    ]  # fmt: skip


def test_what_an_upstream_lists_is_listed_for_whoever_may_read_it(upstream: Scripted, tmp_path: Path) -> None:
    file = tmp_path / "policy.toml"
    file.write_text('[upstreams.files]\nkind = "stdio"\ncommand = ["files"]\npass_through = true\n')
    runtime.replace_resolver(Resolver(load_policy(file), upstream, ProcessContext(runtime.run_write, runtime.run_read_query)))
    row = {"uri": "file:///a", "name": "A\u202e file"}
    upstream.script["files_list"] = [{"resources": [row], "templates": [{"uri": "file:///{path}", "name": "Any"}]}]
    token = auth.create_agent("alpha", ["mcp://files/"])
    asked: list[tuple[str, dict[str, Any]]] = [("resources/list", {}), ("resources/templates/list", {})]
    (listed, templates), (few, _) = talk(*asked, token=token), talk(*asked)
    found = {one["uri"]: one["name"] for one in listed["result"]["resources"]}
    assert (found["mcp://files/file:///a"], found["mcp://files/"]) == ("A file", "files_list")
    assert {"mcp://files/file:///{path}", "mcp://files/{+uri}"} <= {
        one["uriTemplate"] for one in templates["result"]["resourceTemplates"]
    }
    assert (listed["result"]["cacheScope"], listed["result"]["ttlMs"] <= 300_000) == ("private", True)
    assert "mcp://files/file:///a" not in {one["uri"] for one in few["result"]["resources"]}
    upstream.script["files"] = [{"contents": [{"uri": "file:///a", "text": "Hello"}]}]
    (read,) = talk(("resources/read", {"uri": "mcp://files/file:///a"}), token=token)
    assert json.loads(read["result"]["contents"][0]["text"])["data"] == {"contents": [{"uri": "file:///a", "text": "Hello"}]}


def test_a_policy_that_changed_is_read_again_and_a_wrong_one_changes_nothing(settings: Settings, tmp_path: Path) -> None:
    file = settings.WIRE_GATEWAY_POLICY = tmp_path / "policy.toml"
    file.write_text("[resources.news_global_trends]\nttl = '1h'\n")
    runtime.replace_resolver(None)

    async def read_ttl() -> float:
        return (await runtime.get_resolver()).policy.resources["news_global_trends"].ttl

    async def go() -> list[float]:
        found = [await read_ttl()]
        for text in ("[resources.news_global_trends]\nttl = '2h'\n", "version = 2"):
            file.write_text(text)
            runtime.reload_policy()
            assert runtime.get_ready_resolver() is None
            found.append(await read_ttl())
        return found

    assert asyncio.run(go()) == [3_600, 7_200, 7_200]


def test_a_vector_is_searched_by_a_tool_with_a_key(upstream: Scripted) -> None:
    token = auth.create_agent("alpha", ["weaviate://"])
    upstream.script["weaviate_vector_search"] = [
        {"results": [{"id": "1", "content": {"a": 1}, "distance": 1.5, "certainty": 0.25}]}
    ]
    call = ("tools/call", {"name": "gateway_vector_search", "arguments": {"query_embedding": [0.1] * 1_536}})
    (answer,) = talk(call, token=token)
    assert answer["result"]["structuredContent"]["data"]["results"][0]["distance"] == 1.5
    (refused,) = talk(call)
    assert refused["result"]["isError"] is True


def test_the_state_of_resources_tells_limits_circuit_and_age(upstream: Scripted) -> None:
    upstream.script["news_global_trends"] = [[trend()]]
    rest(f"/api/gateway/read.json?uri={GLOBAL}")
    found = {one["uri"]: one for one in rest("/api/gateway/resources.json").json()["resources"]}
    assert found[GLOBAL]["remaining"] is None  # our own wire is not limited
    assert found["twitter://mentions/recent"]["remaining"] == 10_000
    assert found[GLOBAL]["circuit"] == "closed"
    assert found["twitter://mentions/recent"]["may_read"] is False
    assert rest("/api/gateway/status.json").status == 401


def test_the_sdks_client_reads_in_both_eras(upstream: Scripted) -> None:
    upstream.script["news_global_trends"] = [[trend()]]

    async def read(mode: str) -> str:
        async with Client(server.build(), mode=mode) as client:
            found = await client.read_resource(GLOBAL)
            return found.contents[0].text  # type: ignore[union-attr]

    for mode in ("legacy", MODERN):
        assert json.loads(asyncio.run(read(mode)))["data"][0]["topic"] == "A trend"


def test_every_kind_of_answer_has_a_schema() -> None:
    assert {one.answers for one in load_policy().resources.values()} <= KINDS.keys()


def test_a_browser_that_asks_django_alone_gets_the_same(upstream: Scripted) -> None:
    upstream.script["news_global_trends"] = [[trend()]]
    found = Browser().get("/api/gateway/read.json", {"uri": GLOBAL}, headers={"host": "localhost"})
    assert (found.status_code, found.json()["data"][0]["id"]) == (200, "t1")
