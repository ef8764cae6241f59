"""A clock that steps, two days ahead or two days back: limits, circuits and freshness stay what they were."""

from collections.abc import Iterator

import pytest

from mcpserver.gateway import limiter, process_context, request_log
from mcpserver.gateway.limiter import Limit
from mcpserver.gateway.models import Bucket, Entry, UpstreamState
from mcpserver.gateway.process_context import ProcessContext
from mcpserver.gateway.resolver import LOOK
from sources.choices import Circuit
from tests.mcpserver.gateway.clock import run
from tests.mcpserver.gateway.stage import Stage, codes, coin, failure, payment, run_inline, tweet

DAYS = 2 * 86_400.0
MENTIONS = "twitter://mentions/recent"
BASE = "blockchain://base/transactions"
ARP = "openclaw://arp/discover"
STEPS = pytest.mark.parametrize("step", [DAYS, -DAYS, 86_400.0 * 3_650, -3_600.0])


class SteppingStage(Stage):
    """A stage whose wall clock can be set; the steady one goes on."""

    def __init__(self) -> None:
        self.step = 0.0
        super().__init__()

    def build_host(self) -> ProcessContext:
        return ProcessContext(run_inline, run_inline, lambda: self.loop.now() + self.step, lambda: self.loop.time() + 1e6)

    def restart(self) -> None:
        """The machine boots again: what is stored is of a steady clock that nobody can compare."""
        run(self.loop, self.gateway.logger.flush())
        Bucket.objects.update(boot="another")
        Entry.objects.update(boot="another")
        self.gateway = self.another()


@pytest.fixture
def stepping(transactional_db: None) -> Iterator[SteppingStage]:  # noqa: ARG001
    made = SteppingStage()
    yield made
    made.close()


@pytest.mark.slow
@STEPS
def test_a_distance_stays_what_it_was(stepping: SteppingStage, step: float) -> None:
    stepping.upstream.script["twitter_mentions_recent"] = [[tweet()]]
    stepping.ask(MENTIONS)
    stepping.wait(10)
    stepping.step = step
    limited = stepping.ask(f"{MENTIONS}?max_results=5")
    assert codes(limited)[0] == "limited_here"
    assert limited.attempts[0].retry_after == pytest.approx(26, abs=1)
    stepping.wait(26.1)
    assert stepping.ask(f"{MENTIONS}?max_results=5").outcome == "fresh"


@pytest.mark.slow
@STEPS
def test_a_limit_is_neither_lifted_nor_kept_for_days(stepping: SteppingStage, step: float) -> None:
    stepping.use(stepping.policy.with_overrides({"market_crypto_trending": {"limit": 3}}))
    stepping.upstream.script["market_crypto_trending"] = [[coin()]]
    for number in range(3):
        stepping.ask(f"market://crypto/a{number}/trending")
    stepping.step = step
    for gateway in (stepping.gateway, stepping.another()):
        assert codes(stepping.ask("market://crypto/b/trending", gateway=gateway))[0] == "limited_here"
    stepping.step = 0.0
    assert codes(stepping.ask("market://crypto/b/trending"))[0] == "limited_here"
    stepping.wait(3_601)
    assert stepping.ask("market://crypto/c/trending").outcome == "fresh"


@pytest.mark.slow
@STEPS
def test_an_entry_is_as_old_as_it_was(stepping: SteppingStage, step: float) -> None:
    stepping.upstream.script["twitter_mentions_recent"] = [[tweet()], failure("refused")]
    stepping.upstream.script["twitter_feed"] = [failure("refused")]
    stepping.ask(MENTIONS)
    stepping.wait(100)
    stepping.step = step
    for gateway in (stepping.gateway, stepping.another()):
        cached = stepping.ask(MENTIONS, gateway=gateway)
        assert cached.outcome == "cached"
        assert cached.ttl == pytest.approx(200, abs=1)
    stepping.wait(201)
    stale = stepping.ask(MENTIONS)
    assert stale.outcome == "stale"
    assert stale.stale_for == pytest.approx(1, abs=1)
    stepping.wait(3_300)
    assert stepping.ask(MENTIONS).outcome == "exhausted"


@pytest.mark.slow
@STEPS
def test_a_circuit_is_open_for_as_long_as_it_was(stepping: SteppingStage, step: float) -> None:
    stepping.gateway.quota.is_on = False
    stepping.upstream.script["openclaw_arp_discover"] = [failure("unreachable")]
    stepping.ask(ARP, wait=65)
    stepping.step = step
    assert codes(stepping.ask(ARP))[0] == "circuit_open"
    stepping.wait(31)
    stepping.upstream.script["openclaw_arp_discover"] = [[{"agent_id": "a", "name": "n"}]]
    assert stepping.ask(ARP).outcome == "fresh"


def test_after_a_restart_what_a_wrong_clock_wrote_blocks_no_longer_than_one_window(stepping: SteppingStage) -> None:
    stepping.upstream.script["twitter_mentions_recent"] = [[tweet(1)], [tweet(2)]]
    stepping.step = DAYS
    stepping.ask(MENTIONS)
    stepping.restart()
    stepping.step = 0.0
    stepping.upstream.script["twitter_feed"] = [failure("refused")]
    first = stepping.ask(MENTIONS)
    assert (codes(first)[0], first.outcome) == ("limited_here", "exhausted")  # its age is unknown, so it is not given
    stepping.wait(37)
    assert (stepping.ask(MENTIONS).outcome, stepping.ask(MENTIONS).outcome) == ("fresh", "cached")
    assert b'"2"' in stepping.ask(MENTIONS).data_json
    run(stepping.loop, stepping.gateway.logger.flush())
    assert stepping.ask(MENTIONS, gateway=stepping.another()).outcome == "cached"


def test_transactions_that_a_wrong_clock_dated_are_still_known(stepping: SteppingStage) -> None:
    stepping.upstream.script["blockchain_base_transactions"] = [{"transactions": [payment()]}, failure("refused")]
    stepping.step = DAYS
    stepping.ask(BASE)
    stepping.restart()
    stepping.step = 0.0
    known = stepping.ask(BASE)
    assert (known.outcome, "unknown age" in known.note, b'"x1"' in known.data_json) == ("stale", True, True)


def test_the_desks_numbers_are_looked_at_after_a_step_back(stepping: SteppingStage) -> None:
    looks: list[float] = []
    original = stepping.gateway.follow_desk_changes

    async def look() -> None:
        looks.append(stepping.now)
        await original()

    stepping.gateway.follow_desk_changes = look  # type: ignore[method-assign]
    stepping.upstream.script["twitter_mentions_recent"] = [[tweet()]]
    stepping.step = DAYS
    stepping.ask(MENTIONS)
    stepping.step = 0.0
    stepping.wait(LOOK + 1)
    stepping.ask(MENTIONS)
    stepping.wait(1)
    assert len(looks) == 2


def test_a_circuit_that_was_closed_by_command_closes_in_every_process(stepping: SteppingStage) -> None:
    stepping.gateway.quota.is_on = False
    stepping.upstream.script["openclaw_arp_discover"] = [failure("unreachable")]
    stepping.ask(ARP, wait=65)
    stepping.wait(1)
    assert UpstreamState.objects.get(pk="mcp-server-openclaw").circuit == "open"
    assert request_log.reset_circuits(["mcp-server-openclaw"]) == ["mcp-server-openclaw"]
    assert UpstreamState.objects.get(pk="mcp-server-openclaw").circuit == "closed"
    stepping.wait(LOOK)
    stepping.ask(ARP)
    stepping.wait(1)
    assert stepping.gateway.breakers["openclaw_arp_discover"].state == Circuit.CLOSED


@pytest.mark.django_db
def test_a_bucket_of_the_release_before_that_lies_in_the_future_is_set_right() -> None:
    limits = [Limit("old", 2, 3_600.0, 60.0)]
    assert limiter.acquire_limits([limits], 1_000_000.0 + DAYS, 5.0)[0].wait == 0
    Bucket.objects.update(steady_at=None, boot="")
    assert limiter.acquire_limits([limits], 1_000_000.0, 5.0)[0].wait == pytest.approx(60)
    assert limiter.acquire_limits([limits], 1_000_060.0, 65.0)[0].wait == 0
    assert limiter.peek_admission(limits, 1_000_060.0, 65.0).remaining == 0


def test_the_steady_clock_goes_on_and_names_this_boot() -> None:
    first = process_context.read_uptime()
    assert process_context.read_uptime() >= first
    assert process_context.measure_clock_step(1_000.0, 50.0, process_context.BOOT, 1_010.0, 60.0) == 0.0
    if process_context.BOOT:
        assert process_context.measure_clock_step(1_000.0, 50.0, process_context.BOOT, 2_010.0, 60.0) == 1_000.0
    assert process_context.measure_clock_step(1_000.0, 50.0, "another", 2_010.0, 60.0) == 0.0
