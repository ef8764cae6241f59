"""The frameworks that fewer people use, at the servers of the corpora and at the gateway."""

import asyncio
from typing import Any, Final

import mcp
import pytest

from tests.clients import test_factchecks_clients, test_timeline_clients
from tests.clients.test_frameworks import FRAMEWORKS, Framework, described, reported
from tests.clients.test_gateway_clients import TRENDS

pytestmark = [pytest.mark.clients, pytest.mark.rare]

NEEDS_A_KEY: Final = "gateway_vector_search"
WRONG_AT_THE_GATEWAY: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "an unknown address": ("gateway_read", {"uri": "news://nowhere"}),
    "no key": (NEEDS_A_KEY, {"query_embedding": [0.1, 0.2]}),
}
each = pytest.mark.parametrize("framework", [one for one in FRAMEWORKS if one.is_rare], ids=lambda one: one.package)


@pytest.fixture(scope="module")
def factchecks_calls(factchecks: str) -> dict[str, Any]:
    return described(factchecks, test_factchecks_clients.CALLS)


@pytest.fixture(scope="module")
def timeline(wire: str) -> str:
    """Address of the small corpus, which a sample wire has."""
    return f"{wire}/timeline/harbour-clock"


@pytest.fixture(scope="module")
def timeline_calls(timeline: str) -> dict[str, Any]:
    return described(timeline, test_timeline_clients.CALLS, {"timeline_deepen_story": {"motif": "long-tide"}})


@pytest.fixture(scope="module")
def gateway_calls(wire: str) -> dict[str, Any]:
    async def read() -> str:
        async with mcp.Client(f"{wire}/gateway") as client:
            answer = (await client.call_tool("gateway_read", {"uri": TRENDS})).structured_content
            return str(answer["provenance"]["request_id"])

    calls: dict[str, dict[str, Any]] = {
        "gateway_read": {"uri": TRENDS},
        "gateway_resources": {},
        "gateway_explain": {"request_id": asyncio.run(read())},
        NEEDS_A_KEY: WRONG_AT_THE_GATEWAY["no key"][1],
    }
    return {name: call for name, call in described(f"{wire}/gateway", calls).items() if name != NEEDS_A_KEY}


@each
def test_it_asks_every_tool_of_the_factchecks(framework: Framework, factchecks: str, factchecks_calls: dict[str, Any]) -> None:
    errors = reported(framework, factchecks, factchecks_calls, test_factchecks_clients.WRONG)["errors"]
    assert "20" in errors["a wrong argument"]["told"]
    assert "nix" in errors["an unknown id"]["told"]


@each
def test_it_asks_every_tool_of_a_timeline(framework: Framework, timeline: str, timeline_calls: dict[str, Any]) -> None:
    errors = reported(framework, timeline, timeline_calls, {"an unknown report": ("timeline_get_report", {"id": "x"})})["errors"]
    assert "unknown_report" in errors["an unknown report"]["told"]


@each
def test_it_asks_every_tool_of_the_gateway(framework: Framework, wire: str, gateway_calls: dict[str, Any]) -> None:
    errors = reported(framework, f"{wire}/gateway", gateway_calls, WRONG_AT_THE_GATEWAY)["errors"]
    assert "no such resource" in errors["an unknown address"]["told"]
    assert "key" in errors["no key"]["told"]
