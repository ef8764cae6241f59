"""Resources of an operator's own: other forms of answers, what is passed through, and circuits of each resource."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from mcpserver.gateway.auth import Caller
from mcpserver.gateway.models import RequestLog
from mcpserver.gateway.request import parse_request
from mcpserver.gateway.resource_policy import Policy, PolicyError, load_policy
from mcpserver.upstreams.client_interface import UpstreamAnswer, UpstreamCall, UpstreamError
from tests.mcpserver.gateway.clock import run
from tests.mcpserver.gateway.stage import ALL, HANG, Stage, codes, coin, failure, payment, trend

OWN = """version = 1
[upstreams.files]
kind = "stdio"
command = ["files"]
pass_through = true
[upstreams.more-files]
kind = "stdio"
command = ["files", "--more"]
pass_through = true
[resources.more_files]
limit = 2
private = true
[upstreams.shop]
kind = "stdio"
command = ["shop"]
[resources.shop_item]
uri = "shop://item/{id}"
upstream = "shop"
answers = "json"
limit = 1000
period = "1h"
ttl = "1m"
stale = "1h"
timeout = "10s"
schema = { type = "object", required = ["price"], properties = { price = { type = "number" } } }
params = { id = { type = "string" } }
[resources.shop_photo]
uri = "shop://photo/{id}"
upstream = "shop"
answers = "blob"
limit = 1000
period = "1h"
ttl = "1m"
timeout = "10s"
params = { id = { type = "string" } }
"""
ME = Caller("me", ("mcp://files/", "mcp://more-files/", "shop://"))
FILE = "mcp://files/file:///a/b.txt?x=1&y=%20z#503"
CONTENTS = {"contents": [{"uri": "file:///a/b.txt", "text": "Hello"}]}


@pytest.fixture
def policy(tmp_path: Path) -> Policy:
    file = tmp_path / "policy.toml"
    file.write_text(OWN)
    return load_policy(file)


def test_the_resources_of_an_upstream_are_passed_through_by_their_address(stage: Stage, policy: Policy) -> None:
    stage.use(policy)
    stage.upstream.script |= {"files": [CONTENTS], "files_list": [{"resources": [], "templates": []}], "more_files": [CONTENTS]}
    assert stage.ask(FILE, ME).asked == FILE
    assert [stage.ask(FILE, ME).outcome, stage.ask("mcp://files/", ME).outcome] == ["cached", "fresh"]
    assert [call.params.get("uri") for _, call in stage.upstream.calls] == [FILE.removeprefix("mcp://files/"), None]
    assert [call.answers for _, call in stage.upstream.calls] == ["contents", "listing"]
    assert json.loads(stage.ask(FILE, ME).data_json) == CONTENTS
    other = policy.resources["more_files"]
    assert (other.limit, other.ttl, other.private, policy.resources["files"].private) == (2, 300, True, False)
    assert policy.upstreams["files"].adapters["files"].resource == "{uri}"


def test_an_address_is_read_back_as_it_was_written(policy: Policy) -> None:
    for uri in (FILE, "mcp://files/demo://x/{y}", "mcp://files/a", "mcp://files/%2e%2e/ü"):
        assert parse_request(policy, uri).uri == uri
        assert parse_request(policy, uri).params["uri"] == uri.removeprefix("mcp://files/")


def test_json_is_held_to_the_schema_of_the_policy(stage: Stage, policy: Policy) -> None:
    stage.use(policy)
    stage.upstream.script["shop_item"] = [{"price": 1.5, "more": None}, {"price": "a lie"}, [1]]
    good = stage.ask("shop://item/1", ME)
    assert (good.outcome, json.loads(good.data_json)) == ("fresh", {"price": 1.5, "more": None})
    for number in (2, 3):
        wrong = stage.ask(f"shop://item/{number}", ME)
        assert (codes(wrong), wrong.outcome, wrong.data_json) == (["upstream_invalid"], "exhausted", b"null")
        assert "a lie" not in wrong.note


def test_binary_data_are_base64(stage: Stage, policy: Policy) -> None:
    stage.use(policy)
    stage.upstream.script["shop_photo"] = [{"blob": "eA==", "mime_type": "image/png"}, {"blob": "<no base64>"}]
    assert stage.ask("shop://photo/1", ME).outcome == "fresh"
    assert codes(stage.ask("shop://photo/2", ME)) == ["upstream_invalid"]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("schema = { type = 'thing' }", "schema: this is not a JSON Schema"),
        ("answers = 'yaml'", "answers: "),
    ],
)
def test_a_wrong_resource_is_explained(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "policy.toml"
    file.write_text(f"[resources.news_global_trends]\n{text}\n")
    with pytest.raises(PolicyError, match=sentence):
        load_policy(file)


def _failed_call(_call: UpstreamCall) -> UpstreamError:
    return UpstreamError("server_error", "shop failed: its tool reports an error.", words="No item 503.", is_of_call=True)


def test_one_odd_id_closes_nothing_and_three_close_their_resource_alone(stage: Stage, policy: Policy) -> None:
    stage.use(policy)
    stage.upstream.script |= {"shop_item": [_failed_call], "shop_photo": [{"blob": "eA=="}]}
    for _ in range(4):
        assert "server_error" in codes(stage.ask("shop://item/503", ME, wait=65))
    stage.upstream.script["shop_item"] = [{"price": 1}]
    assert stage.ask("shop://item/1", ME).outcome == "fresh"
    stage.upstream.script["shop_item"] = [_failed_call]
    for number in (401, 429, 503):
        stage.ask(f"shop://item/{number}", ME, wait=65)
    assert codes(stage.ask("shop://item/2", ME)) == ["circuit_open"]
    assert stage.ask("shop://photo/1", ME).outcome == "fresh"


def test_the_words_of_an_upstream_reach_the_operator_and_no_agent(stage: Stage, policy: Policy) -> None:
    stage.use(policy)
    stage.upstream.script["shop_item"] = [_failed_call]
    answer = stage.ask("shop://item/503", ME)
    run(stage.loop, stage.gateway.logger.flush())
    assert b"No item 503." not in answer.body
    assert RequestLog.objects.get(request_id=answer.request_id).attempts[0]["words"] == "No item 503."


@pytest.mark.parametrize(
    ("answer", "outcomes"),
    [
        ({"ttl": 2.0}, ["cached", "fresh"]),
        ({"ttl": 900.0}, ["cached", "cached"]),
        ({"ttl": 0.0}, ["fresh", "fresh"]),
        ({"is_private": True}, ["fresh", "fresh"]),
    ],
)
def test_an_upstream_shortens_how_long_its_answer_is_used(
    stage: Stage, policy: Policy, monkeypatch: pytest.MonkeyPatch, answer: Any, outcomes: list[str]
) -> None:
    stage.use(policy)

    async def ask(_call: UpstreamCall) -> UpstreamAnswer:
        return UpstreamAnswer({"price": 1}, **answer)

    monkeypatch.setattr(stage.upstream, "ask", ask)
    stage.ask("shop://item/1", ME)
    found = [stage.ask("shop://item/1", ME).outcome]
    stage.wait(3)
    assert [*found, stage.ask("shop://item/1", ME).outcome] == outcomes


def test_a_hung_upstream_that_is_back_is_asked_once(stage: Stage, policy: Policy) -> None:
    stage.use(policy)
    stage.upstream.script["shop_item"] = [HANG]
    for number in range(3):
        stage.ask(f"shop://item/{number}", ME, wait=1)
    stage.wait(60)
    before = len(stage.upstream.calls)
    stage.upstream.script["shop_item"] = [(1, {"price": 1})]

    async def many() -> list[str]:
        return [one.outcome for one in await asyncio.gather(*(stage.asking("shop://item/9", ME) for _ in range(20)))]

    assert set(run(stage.loop, many())) == {"fresh"}
    assert len(stage.upstream.calls) - before == 1


BASE = "blockchain://base/transactions"
WALLET = f"0x{'a' * 40}"


def test_transactions_seen_in_any_answer_answer_a_narrower_question(stage: Stage) -> None:
    rows = [payment(1) | {"from": WALLET.upper().replace("X", "x")}, payment(2), payment(3) | {"to": WALLET}]
    stage.upstream.script["blockchain_base_transactions"] = [{"transactions": rows}, failure("refused")]
    stage.ask(BASE)
    narrow = stage.ask(f"{BASE}?wallet_address={WALLET}&timeWindow=7d")
    assert (narrow.outcome, narrow.answered) == ("stale", narrow.asked)
    assert [row["tx_id"] for row in json.loads(narrow.data_json)["transactions"]] == ["x3", "x1"]
    assert stage.ask(BASE, replace(ALL, name="somebody-else")).outcome == "exhausted"


def test_trends_in_place_of_coins_have_the_form_of_coins(stage: Stage) -> None:
    stage.upstream.script |= {"market_crypto_trending": [failure("refused")], "news_category_trends": [[trend()]]}
    answer = stage.ask("market://crypto/base/trending")
    assert (answer.outcome, answer.answered) == ("fallback", "news://category/crypto/trends?timeWindow=24h")
    (found,) = json.loads(answer.data_json)
    assert (found["trend"]["id"], found["price_change"], set(found)) == ("t1", None, set(coin()))
