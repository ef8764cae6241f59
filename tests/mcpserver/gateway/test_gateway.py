"""One question: every row of the contract, with a clock that waits for nobody."""

import asyncio
import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.errors import Forbidden, Unauthorized
from mcpserver.gateway.auth import ANYBODY, Caller
from mcpserver.gateway.models import Bucket, CallCount, Entry, RequestLog
from mcpserver.gateway.resource_policy import Policy
from mcpserver.upstreams.client_interface import UpstreamCall, UpstreamError
from tests.mcpserver.gateway.clock import run
from tests.mcpserver.gateway.stage import ALL, HANG, OTHER, Stage, codes, coin, failure, payment, trend, tweet

MENTIONS = "twitter://mentions/recent"
GLOBAL = "news://global/trends"
BASE = "blockchain://base/transactions"


def test_a_question_is_fetched_once_and_then_cached(stage: Stage) -> None:
    stage.upstream.script["twitter_mentions_recent"] = [[tweet()]]
    fresh, cached = stage.ask(MENTIONS), stage.ask(MENTIONS)
    assert (fresh.outcome, cached.outcome) == ("fresh", "cached")
    assert fresh.data_json == cached.data_json
    assert len(stage.upstream.calls) == 1
    assert cached.provenance["sha256"] == fresh.provenance["sha256"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("uri", "resource", "data", "ttl"),
    [
        (MENTIONS, "twitter_mentions_recent", [tweet()], 300),
        ("twitter://feed/7", "twitter_feed", [tweet()], 600),
        (GLOBAL, "news_global_trends", [trend()], 1_800),
        ("news://region/US/trends", "news_region_trends", [trend(geographic_origin="US")], 1_800),
        ("news://category/fashion/trends", "news_category_trends", [trend()], 1_200),
        ("news://category/crypto/trends", "news_category_trends", [trend()], 600),
        ("market://crypto/base/trending", "market_crypto_trending", [coin()], 300),
        (BASE, "blockchain_base_transactions", {"transactions": [payment()]}, 600),
        ("openclaw://arp/discover", "openclaw_arp_discover", [{"agent_id": "a", "name": "n"}], 1_800),
    ],
)
def test_an_answer_is_cached_for_its_ttl_to_the_second(stage: Stage, uri: str, resource: str, data: object, ttl: float) -> None:
    stage.upstream.script[resource] = [data, failure("refused")]
    stage.ask(uri)
    run(stage.loop, asyncio.sleep(ttl - 1))
    stage.upstream.refused[resource] = failure("unsupported")  # no refresh behind
    assert stage.ask(uri).outcome == "cached"
    stage.wait(2)
    assert stage.ask(uri).outcome != "cached"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("uri", "resource", "data", "window"),
    [
        (MENTIONS, "twitter_mentions_recent", [tweet()], 3_600),
        ("twitter://feed/7", "twitter_feed", [tweet()], 7_200),
        (GLOBAL, "news_global_trends", [trend()], 14_400),
        ("openclaw://arp/discover", "openclaw_arp_discover", [{"agent_id": "a", "name": "n"}], 7_200),
    ],
)
def test_a_stale_answer_is_given_to_the_last_second_of_its_window(
    stage: Stage, uri: str, resource: str, data: object, window: float
) -> None:
    stage.upstream.script[resource] = [data, failure("refused")]
    for other in ("twitter_feed", "twitter_mentions_recent", "news_category_trends"):
        if other != resource:
            stage.upstream.script[other] = [failure("refused")]
    stage.ask(uri)
    stage.wait(window - 1)
    stale = stage.ask(uri)
    assert stale.outcome == "stale"
    assert stale.answered == stale.asked
    assert "old" in stale.note
    assert stale.ttl == 0
    stage.wait(2)
    gone = stage.ask(uri)
    assert (gone.outcome, gone.data_json) == ("exhausted", b"[]")


def test_attempts_are_made_at_once_after_5_and_after_30_seconds(stage: Stage) -> None:
    stage.upstream.script["twitter_mentions_recent"] = [failure("rate_limited"), failure("rate_limited"), [tweet()]]
    spaced = replace(stage.policy.resources["twitter_mentions_recent"], min_interval=0.0)
    stage.gateway.policy = replace(stage.policy, resources={**stage.policy.resources, "twitter_mentions_recent": spaced})
    answer = stage.ask(MENTIONS, wait=65)
    assert answer.outcome == "fresh"
    assert stage.upstream.times("twitter_mentions_recent") == [0, 5, 35]
    assert codes(answer) == ["rate_limited", "rate_limited", None]


def _unspaced(stage: Stage) -> None:
    one = replace(stage.policy.resources["twitter_mentions_recent"], min_interval=0.0)
    stage.gateway.policy = replace(stage.policy, resources={**stage.policy.resources, one.name: one})


def test_a_wait_that_the_upstream_tells_wins_if_it_is_longer(stage: Stage) -> None:
    _unspaced(stage)
    stage.upstream.script["twitter_mentions_recent"] = [failure("rate_limited", 12), failure("rate_limited", 2), [tweet()]]
    stage.ask(MENTIONS, wait=65)
    assert stage.upstream.times("twitter_mentions_recent") == [0, 12, 42]


def test_a_timeout_is_tried_twice_and_no_more(stage: Stage) -> None:
    _unspaced(stage)
    stage.upstream.script["twitter_mentions_recent"] = [HANG]
    stage.upstream.script["twitter_feed"] = [[tweet()]]
    stage.ask(MENTIONS, wait=65)
    stage.wait(100)
    assert stage.upstream.times("twitter_mentions_recent") == [0, 15]


@pytest.mark.parametrize("code", ["unauthorized", "refused", "upstream_invalid"])
def test_what_no_repetition_mends_goes_to_the_chain_at_once(stage: Stage, code: str) -> None:
    stage.upstream.script |= {"news_global_trends": [failure(code)], "news_category_trends": [[trend()]]}
    answer = stage.ask(GLOBAL)
    assert stage.now == 0
    assert len(stage.upstream.times("news_global_trends")) == 1
    assert answer.outcome == ("exhausted" if code == "unauthorized" else "fallback")  # the same credentials open nothing else


def test_an_attempt_that_does_not_fit_goes_on_behind_and_fills_the_cache(stage: Stage) -> None:
    _unspaced(stage)
    stage.upstream.script["twitter_mentions_recent"] = [failure("rate_limited"), failure("rate_limited"), [tweet(9)]]
    stage.upstream.script["twitter_feed"] = [[tweet(1)]]
    answer = stage.ask(MENTIONS)
    assert (answer.outcome, answer.answered) == ("fallback", "twitter://feed/7")
    assert stage.now == 5  # the third attempt would begin at 35 and not fit into 20
    stage.wait(40)
    assert stage.ask(MENTIONS).outcome == "cached"


def test_a_hanging_upstream_costs_no_more_than_the_deadline(stage: Stage) -> None:
    stage.upstream.script = {name: [HANG] for name in stage.policy.resources}
    for uri, wait in ((GLOBAL, 5.0), ("market://crypto/base/trending", 20.0), (MENTIONS, 12.0), ("openclaw://arp/discover", 0.0)):
        began = stage.now
        answer = stage.ask(uri, wait=wait)
        assert stage.now - began <= wait
        assert answer.outcome == "exhausted"
        assert "timeout" in codes(answer)


def test_a_hundred_equal_questions_make_one_call(stage: Stage) -> None:
    stage.upstream.script["news_global_trends"] = [(1, [trend()])]

    async def many() -> list[str]:
        return [one.outcome for one in await asyncio.gather(*(stage.asking(f"{GLOBAL}?limit={n % 3 + 1}") for n in range(100)))]

    assert set(run(stage.loop, many())) == {"fresh"}
    assert len(stage.upstream.calls) == 1


def test_what_only_cuts_the_answer_shares_its_entry(stage: Stage) -> None:
    stage.upstream.script["news_global_trends"] = [[trend(n) for n in range(5)]]
    whole, two = stage.ask(GLOBAL), stage.ask(f"{GLOBAL}?limit=2")
    assert (whole.count, two.count, two.outcome) == (5, 2, "cached")
    assert stage.upstream.calls[0][1].params["limit"] == 100
    assert two.sha256 != whole.sha256


def test_an_entry_is_refreshed_behind_when_three_quarters_of_its_ttl_are_over(stage: Stage) -> None:
    stage.upstream.script["twitter_mentions_recent"] = [[tweet(1)], [tweet(2)]]
    stage.ask(MENTIONS)
    stage.wait(224)
    stage.ask(MENTIONS)
    stage.wait(0.1)
    assert len(stage.upstream.calls) == 1
    stage.wait(2)
    assert b'"1"' in stage.ask(MENTIONS).data_json
    stage.wait(0.1)
    assert len(stage.upstream.calls) == 2
    assert json.loads(stage.ask(MENTIONS).data_json)[0]["id"] == "2"


@pytest.mark.parametrize(("uri", "resource", "data", "spacing"), [
    (MENTIONS, "twitter_mentions_recent", [tweet()], 36), (GLOBAL, "news_global_trends", [trend()], 72),
])  # fmt: skip
def test_calls_keep_their_distance(stage: Stage, uri: str, resource: str, data: object, spacing: float) -> None:
    stage.use(_foreign(stage.policy))
    stage.upstream.script[resource] = [data]
    other = "?max_results=5" if "twitter" in uri else "?timeWindow=48h"
    stage.ask(uri)
    limited = stage.ask(uri + other)
    assert codes(limited)[0] == "limited_here"
    assert stage.now == 0  # whoever would wait longer than the deadline gets the chain at once
    stage.wait(spacing)
    assert stage.ask(uri + other).outcome == "fresh"


def _foreign(policy: Policy) -> Policy:
    """The same where news:// comes of another server."""
    news = replace(policy.upstreams["mcp-server-news"], kind="http", address="https://news.example/mcp")
    return replace(policy, upstreams={**policy.upstreams, news.name: news})


@pytest.mark.slow
def test_our_own_wire_has_no_slot_that_a_stranger_could_take(stage: Stage) -> None:
    stage.upstream.script["news_global_trends"] = [[trend()]]
    windows = [stage.ask(f"{GLOBAL}?timeWindow={hours}h", ANYBODY) for hours in range(1, 121)]
    assert {one.outcome for one in windows} == {"fresh"}
    assert {one.remaining for one in windows} == {None}
    assert not Bucket.objects.exists()


def test_an_agents_share_holds_at_our_own_wire_too(stage: Stage) -> None:
    stage.upstream.script["news_global_trends"] = [[trend()]]
    small = replace(ALL, name="small", share=4)
    outcomes = [stage.ask(f"{GLOBAL}?timeWindow={hours}h", small).outcome for hours in range(1, 5)]
    assert outcomes.count("fresh") == 2
    assert stage.ask(f"{GLOBAL}?timeWindow=9h", ANYBODY).outcome == "fresh"


def test_a_distance_that_fits_is_waited_for(stage: Stage) -> None:
    stage.upstream.script["twitter_mentions_recent"] = [[tweet()]]
    stage.ask(MENTIONS)
    assert stage.ask(f"{MENTIONS}?max_results=5", wait=65).outcome == "fresh"
    assert stage.upstream.times() == [0, 36]


def test_the_limit_of_an_hour_holds_over_processes_and_slides(stage: Stage) -> None:
    policy = stage.policy.with_overrides({"market_crypto_trending": {"limit": 5}})
    stage.policy = policy
    stage.upstream.script["market_crypto_trending"] = [[coin()]]
    processes = [stage.another() for _ in range(4)]
    outcomes = [stage.ask(f"market://crypto/c{n}/trending", gateway=processes[n % 4]).outcome for n in range(8)]
    assert outcomes.count("fresh") == 5
    stage.wait(3_601)
    assert stage.ask("market://crypto/c99/trending", gateway=processes[0]).outcome == "fresh"


def test_a_region_has_a_limit_of_its_own(stage: Stage) -> None:
    stage.use(_foreign(stage.policy.with_overrides({"news_region_trends": {"limit": 1}})))
    stage.upstream.script["news_region_trends"] = [lambda call: [trend(geographic_origin=call.params["region"])]]
    assert [stage.ask(f"news://region/{name}/trends").outcome for name in ("us", "EU", "Ethiopia")] == ["fresh"] * 3


def test_an_agent_uses_up_no_more_than_its_share(stage: Stage) -> None:
    stage.gateway.policy = stage.policy.with_overrides({"market_crypto_trending": {"limit": 10}})
    stage.upstream.script["market_crypto_trending"] = [[coin()]]
    small = replace(ALL, name="small", share=20)
    got = [stage.ask(f"market://crypto/a{n}/trending", small).outcome for n in range(4)]
    assert got.count("fresh") == 2
    assert stage.ask("market://crypto/zz/trending", OTHER).outcome == "fresh"


@pytest.mark.slow
@pytest.mark.parametrize(("uri", "steps"), [
    (MENTIONS, ["twitter://feed/7"]),
    ("twitter://feed/5", [MENTIONS]),
    (GLOBAL, ["news://category/general/trends?timeWindow=24h"]),
    ("news://region/MENA/trends", [GLOBAL, "news://category/general/trends?timeWindow=24h"]),
    ("news://category/fashion/trends", ["news://category/general/trends", f"{GLOBAL}?timeWindow=48h"]),
    ("market://crypto/base/trending", [
        "market://crypto/bitcoin/trending", "news://category/crypto/trends?timeWindow=24h", f"{GLOBAL}",
    ]),
])  # fmt: skip
def test_every_step_of_a_chain_answers_in_its_turn(stage: Stage, uri: str, steps: list[str]) -> None:
    answers = {"twitter": [tweet()], "news": [trend()], "market": [coin()]}
    for number, step in enumerate(steps):
        stage = Stage()
        wanted = step.partition("?")[0]

        def found(call, wanted=wanted):  # type: ignore[no-untyped-def]
            return answers[wanted.partition(":")[0]] if call.uri.partition("?")[0] == wanted else failure("refused")

        stage.upstream.script = {name: [found] for name in stage.policy.resources}
        caller = replace(ALL, name=f"chain{number}")
        stage.gateway.quota.is_on = False
        answer = stage.ask(uri, caller)
        assert answer.outcome == "fallback", (step, codes(answer))
        assert (answer.answered or "").partition("?")[0] == wanted
        assert answer.provenance["asked"] != answer.provenance["answered"]
        assert wanted in answer.note
        stage.close()
        Entry.objects.all().delete()


def test_an_upstream_that_does_not_answer_is_not_asked_for_the_chain(stage: Stage) -> None:
    stage.upstream.script = {"market_crypto_trending": [HANG], "news_category_trends": [[trend()]]}
    answer = stage.ask("market://crypto/base/trending")
    assert codes(answer)[:2] == ["timeout", "skipped"] or "skipped" in codes(answer)
    assert answer.answered == "news://category/crypto/trends?timeWindow=24h"
    assert len(stage.upstream.times("market_crypto_trending")) == 1


def test_an_agent_without_the_attribute_of_a_chain_leaves_that_step_out(stage: Stage) -> None:
    stage.upstream.script["twitter_mentions_recent"] = [failure("refused")]
    answer = stage.ask(MENTIONS, replace(ALL, attributes={}))
    assert (answer.outcome, codes(answer)) == ("exhausted", ["refused", "skipped"])


def test_what_the_upstream_cannot_know_costs_nothing_and_falls_back_flagged(stage: Stage) -> None:
    stage.upstream.refused["news_region_trends"] = failure("unsupported")
    stage.upstream.script["news_global_trends"] = [[trend()]]
    answer = stage.ask("news://region/ethiopia/trends", ANYBODY)
    assert (answer.outcome, answer.answered) == ("fallback", GLOBAL)
    assert "a different resource" in answer.note
    assert [call.resource for _, call in stage.upstream.calls] == ["news_global_trends"]


def test_a_regional_answer_of_another_region_is_invalid(stage: Stage) -> None:
    stage.upstream.script |= {"news_region_trends": [[trend(geographic_origin="EU")]], "news_global_trends": [[trend()]]}
    answer = stage.ask("news://region/US/trends")
    assert (codes(answer)[0], answer.outcome) == ("upstream_invalid", "fallback")


def test_an_exhausted_payment_query_is_an_error_and_never_an_empty_list(stage: Stage) -> None:
    stage.upstream.script["blockchain_base_transactions"] = [failure("refused")]
    answer = stage.ask(BASE)
    assert (answer.outcome, answer.is_error, answer.data_json) == ("exhausted", True, b"null")


def test_transactions_are_kept_once_they_no_longer_change_and_for_ever(stage: Stage) -> None:
    pair = {"transactions": [payment(1), payment(2, "pending")]}
    stage.upstream.script["blockchain_base_transactions"] = [pair, {"transactions": [payment(3, "failed")]}, failure("refused")]
    assert stage.ask(BASE).count == 2
    stage.ask(BASE)
    stage.wait(400 * 86_400)
    old = stage.ask(BASE)
    assert old.outcome == "stale"
    assert "all the transactions seen so far" in old.note
    assert [one["tx_id"] for one in json.loads(old.data_json)["transactions"]] == ["x3", "x1"]


def test_an_amount_is_given_as_text_too(stage: Stage) -> None:
    rows = [payment(1, amount="12345678901234567.123456789"), payment(2, amount=0.1)]
    stage.upstream.script["blockchain_base_transactions"] = [{"transactions": rows}]
    found = json.loads(stage.ask(BASE).data_json)["transactions"]
    assert [one["amount_exact"] for one in found] == ["12345678901234567.123456789", "0.1"]


def test_a_publish_makes_an_entry_old(stage: Stage) -> None:
    stage.upstream.markers["mcp-server-news"] = "1"
    stage.upstream.script["news_category_trends"] = [[trend(1)], [trend(2)]]
    uri = "news://category/technology/trends"
    stage.ask(uri)
    assert stage.ask(uri).outcome == "cached"
    stage.upstream.markers["mcp-server-news"] = "2"
    assert stage.ask(uri).outcome == "fresh"


def test_a_circuit_opens_after_three_failures_probes_once_and_closes(stage: Stage) -> None:
    stage.gateway.quota.is_on = False
    stage.upstream.script["market_crypto_trending"] = [failure("unreachable")]
    stage.ask("market://crypto/a/trending", wait=65)
    before = len(stage.upstream.times("market_crypto_trending"))
    open_ = stage.ask("market://crypto/b/trending")
    assert codes(open_)[0] == "circuit_open"
    assert len(stage.upstream.times("market_crypto_trending")) == before == 3
    stage.wait(31)
    stage.upstream.script["market_crypto_trending"] = [(2, [coin()])]

    async def both() -> list[str | None]:
        return [codes(one)[0] for one in await asyncio.gather(*(stage.asking(f"market://crypto/{n}/trending") for n in "cd"))]

    assert sorted(map(str, run(stage.loop, both()))) == ["None", "circuit_open"]
    assert stage.ask("market://crypto/e/trending").outcome == "fresh"


def test_a_stale_answer_costs_nothing_once_the_circuit_is_open(stage: Stage) -> None:
    stage.gateway.quota.is_on = False
    stage.upstream.script["openclaw_arp_discover"] = [[{"agent_id": "a", "name": "n"}], failure("unreachable")]
    stage.ask("openclaw://arp/discover")
    stage.wait(1_801)
    stage.ask("openclaw://arp/discover", wait=65)
    began = stage.now
    answer = stage.ask("openclaw://arp/discover")
    assert (answer.outcome, stage.now - began) == ("stale", 0)


def test_another_process_gives_what_this_one_fetched(stage: Stage) -> None:
    stage.upstream.script["twitter_mentions_recent"] = [[tweet()]]
    stage.ask(MENTIONS)
    run(stage.loop, stage.gateway.logger.flush())
    assert stage.ask(MENTIONS, gateway=stage.another()).outcome == "cached"


def test_anybody_reads_news_and_nothing_else(stage: Stage) -> None:
    stage.upstream.script["news_global_trends"] = [[trend()]]
    assert stage.ask(GLOBAL, ANYBODY).outcome == "fresh"
    with pytest.raises(Unauthorized):
        stage.ask(MENTIONS, ANYBODY)
    with pytest.raises(Forbidden):
        stage.ask(MENTIONS, Caller("gamma", ("market://",)))


def test_a_chain_gives_nothing_that_the_agent_was_not_granted(stage: Stage) -> None:
    stage.upstream.script = {"twitter_feed": [failure("refused")], "twitter_mentions_recent": [[tweet()]]}
    caller = Caller("gamma", ("twitter://feed/",))
    answer = stage.ask("twitter://feed/5", caller)
    assert (answer.outcome, codes(answer)) == ("exhausted", ["refused", "not_granted"])


@pytest.mark.parametrize("path", ["data", "empty", "fallback"])
def test_every_question_is_logged_counted_and_can_be_explained(stage: Stage, path: str) -> None:
    stage.upstream.script["openclaw_arp_discover"] = [[{"agent_id": "a", "name": "n"}] if path == "data" else failure("refused")]
    answer = stage.ask("openclaw://arp/discover")
    run(stage.loop, stage.gateway.logger.flush())
    row = RequestLog.objects.get(request_id=answer.request_id)
    assert (row.agent_id, row.resource, row.outcome) == ("alpha", "openclaw_arp_discover", answer.outcome)
    assert row.error_code == (None if path == "data" else "refused")
    assert row.rate_limit_remaining == 99
    count = CallCount.objects.get()
    assert (count.calls, count.upstream_calls) == (1, 1)


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
@settings(max_examples=15, deadline=None)
@given(
    steps=st.lists(st.tuples(st.sampled_from(["alpha", "beta"]), st.integers(0, 2), st.integers(0, 400)), min_size=2, max_size=12)
)
def test_two_agents_never_see_each_others_data(steps: list[tuple[str, int, int]]) -> None:
    """Whatever they ask in whatever order, at once and one after the other, while upstreams fail now and then."""
    Entry.objects.all().delete()
    stage = Stage(lambda policy: policy.with_overrides({name: {"min_interval": 0, "limit": 1_000} for name in policy.resources}))
    stage.gateway.quota.is_on = False
    turn = iter(range(10**6))

    def own(call: UpstreamCall) -> object:
        whose = call.attributes["twitter_id"]
        if next(turn) % 4 == 3:
            return failure("refused")
        if call.resource.startswith("twitter"):
            return [tweet(1, f"private of {whose}")]
        return {"transactions": [payment(1) | {"tx_id": f"private of {whose}"}]}

    stage.upstream.script = {name: [own] for name in stage.policy.resources}
    uris = (MENTIONS, "twitter://feed/5", BASE)
    callers = {"alpha": ALL, "beta": OTHER}

    async def go() -> None:
        for name, which, pause in steps:
            caller, other = callers[name], callers["beta" if name == "alpha" else "alpha"]
            one, two = await asyncio.gather(stage.asking(uris[which], caller), stage.asking(uris[which], other))
            assert f"private of {other.attributes['twitter_id']}".encode() not in one.body
            assert f"private of {caller.attributes['twitter_id']}".encode() not in two.body
            await asyncio.sleep(pause)

    run(stage.loop, go())
    stage.close()


def test_the_desk_changes_numbers_only() -> None:
    from mcpserver.gateway.resource_policy import PolicyError, load_policy

    policy: Policy = load_policy().with_overrides({"openclaw_heartbeat": {"min_interval": 14_400}})
    assert policy.resources["openclaw_heartbeat"].limit == 6
    with pytest.raises(PolicyError):
        load_policy().with_overrides({"openclaw_heartbeat": {"command": 1}})


def test_what_another_process_forgot_is_let_go_of(stage: Stage) -> None:
    stage.upstream.script["twitter_mentions_recent"] = [[tweet(1)], [tweet(2)]]
    assert stage.ask(MENTIONS).outcome == "fresh"
    stage.wait(40)
    Entry.objects.all().delete()
    assert stage.ask(MENTIONS).outcome == "cached"  # this question makes it look
    stage.wait(1)
    assert stage.ask(MENTIONS).outcome == "fresh"


def test_numbers_of_the_desk_hold_without_a_restart(stage: Stage) -> None:
    numbers: dict[str, dict[str, float]] = {}
    stage.gateway.read_policy = lambda: stage.policy.with_overrides(numbers)
    stage.upstream.script["openclaw_arp_discover"] = [[{"agent_id": "a", "name": "n"}]]
    stage.ask("openclaw://arp/discover?region=EU")
    numbers["openclaw_arp_discover"] = {"ttl": 60, "limit": 2}
    stage.wait(6)
    stage.ask("openclaw://arp/discover?region=EU")
    stage.wait(1)
    answer = stage.ask("openclaw://arp/discover?region=US")
    assert (answer.ttl, answer.remaining) == (60, 0)
    numbers["openclaw_arp_discover"] = {"ttl": -1}
    stage.wait(6)
    stage.ask("openclaw://arp/discover?region=US")
    stage.wait(1)
    assert stage.gateway.policy.resources["openclaw_arp_discover"].ttl == 60  # what cannot be used changes nothing


def _ids(data_json: bytes) -> list[str]:
    return [one["tx_id"] for one in json.loads(data_json)["transactions"]]


def test_a_cached_answer_holds_the_bytes_of_the_fresh_one(stage: Stage) -> None:
    stage.upstream.script["blockchain_base_transactions"] = [{"transactions": [payment(n)]} for n in (1, 2, 3)]
    for number in (1, 2):
        fresh = stage.ask(BASE)
        run(stage.loop, stage.gateway.logger.flush())
        for again in (stage.ask(BASE), stage.ask(BASE, gateway=stage.another())):
            assert (again.outcome, again.data_json, again.sha256, again.count, again.note) == (
                "cached", fresh.data_json, fresh.sha256, 1, fresh.note,
            )  # fmt: skip
        assert _ids(fresh.data_json) == [f"x{number}"]  # of this window, and nothing that was seen before
        stage.wait(601)


def test_an_answer_with_a_pending_transaction_is_fetched_anew(stage: Stage) -> None:
    pending, done = {"transactions": [payment(1, "pending")]}, {"transactions": [payment(1)]}
    stage.upstream.script["blockchain_base_transactions"] = [pending, done]
    outcomes = [(one.outcome, json.loads(one.data_json)["transactions"][0]["status"]) for one in (stage.ask(BASE), stage.ask(BASE))]
    assert outcomes == [("fresh", "pending"), ("fresh", "confirmed")]
    assert stage.ask(BASE).outcome == "cached"


def _of_attribute(call: UpstreamCall) -> object:
    whose = f"private of {call.attributes.get('twitter_id', 'nobody')}"
    if call.resource.startswith("twitter"):
        return [tweet(1, whose)]
    return {"transactions": [payment(1) | {"tx_id": whose}]}


@pytest.mark.slow
@pytest.mark.parametrize("uri", [MENTIONS, "twitter://feed/5", BASE])
def test_an_agent_with_another_attribute_gets_nothing_of_the_earlier_one(stage: Stage, uri: str) -> None:
    stage.gateway.quota.is_on = False
    stage.upstream.script = {name: [_of_attribute] for name in stage.policy.resources}
    assert b"private of 7" in stage.ask(uri).body
    run(stage.loop, stage.gateway.logger.flush())
    for attributes in ({"twitter_id": "8"}, {"twitter_id": "7", "more": "x"}, {}):
        changed = replace(ALL, attributes=attributes)
        for gateway in (stage.gateway, stage.another()):
            assert stage.ask(uri, changed, gateway=gateway).outcome in ("fresh", "cached")
            if attributes.get("twitter_id") != "7":
                assert b"private of 7" not in stage.ask(uri, changed, gateway=gateway).body
    assert stage.ask(uri).outcome == "cached"  # what was its own is its own again


@pytest.mark.slow
@pytest.mark.parametrize("code", ["refused", "unreachable", "unauthorized"])
def test_no_failure_brings_back_what_was_fetched_for_another_attribute(stage: Stage, code: str) -> None:
    stage.gateway.quota.is_on = False
    changed = replace(ALL, attributes={"twitter_id": "8"})
    stage.upstream.script = {name: [_of_attribute] for name in stage.policy.resources}
    uris = (MENTIONS, "twitter://feed/5", BASE)
    for uri in uris:
        stage.ask(uri)
    stage.upstream.script = {name: [failure(code)] for name in stage.policy.resources}
    for pause in (0, 1_000):
        stage.wait(pause)
        for uri in uris * 2:  # the second time the circuit is open where the failure opens it
            answer = stage.ask(uri, changed, wait=65)
            assert (answer.outcome, b"private of 7" in answer.body) == ("exhausted", False)


def test_a_call_under_way_answers_no_other_attribute(stage: Stage) -> None:
    stage.gateway.quota.is_on = False
    stage.upstream.script["twitter_mentions_recent"] = [(1, _of_attribute)]
    changed = replace(ALL, attributes={"twitter_id": "8"})

    async def both() -> tuple[bytes, bytes]:
        one, two = await asyncio.gather(stage.asking(MENTIONS), stage.asking(MENTIONS, changed))
        return one.body, two.body

    one, two = run(stage.loop, both())
    assert (b"private of 7" in one, b"private of 8" in two) == (True, True)


def test_a_text_of_an_upstream_that_no_table_takes_is_an_error_that_is_logged(stage: Stage) -> None:
    odd = UpstreamError("refused", "It says \0 and \udcff." + "x" * 5_000)
    stage.upstream.script["openclaw_arp_discover"] = [odd]
    answer = stage.ask("openclaw://arp/discover")
    run(stage.loop, stage.gateway.logger.flush())
    assert RequestLog.objects.get(request_id=answer.request_id).attempts[0]["detail"].startswith("It says ")
    stage.upstream.script["openclaw_arp_discover"] = [[{"agent_id": "a", "name": "n\0"}]]
    assert codes(stage.ask("openclaw://arp/discover?region=EU")) == ["upstream_invalid"]
