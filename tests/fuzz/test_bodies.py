"""Hostile bodies by the thousand through the whole application: none breaks it, hangs it, opens it up or changes what others get.

A seed and a number name a body. `make fuzz` sends 100,000: FUZZ_BODIES is how many, FUZZ_SEED which, and FUZZ_ONLY=4711 sends that
one alone and shows what came back.
"""

import asyncio
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from typing import Any, Final

import pytest

from config import kept
from mcpserver import usage
from mcpserver.servers import wire as wire_server
from tests.fuzz.answers import check
from tests.fuzz.bodies import KINDS, PROMPTS, URIS, VALID, body
from tests.mcpserver.asgi import ERAS, LEGACY, MODERN, Answer, http_scope, message, rpc_headers, send_request, serving
from tests.mcpserver.hostile import Hostile

NUMBER: Final = int(os.environ.get("FUZZ_BODIES", "10000"))
SEED: Final = int(os.environ.get("FUZZ_SEED", "20260728"))
ONLY: Final = os.environ.get("FUZZ_ONLY", "")
BETWEEN: Final = 200  # bodies between two looks at what others are answered
PATIENCE: Final = 10.0  # seconds for any one answer, on a machine that has other things to do
GROWTH: Final = 64  # megabytes that the second half may add to what the process holds


def honest() -> Iterator[tuple[bytes, dict[str, str]]]:
    """One right request of every method, tool, resource and prompt, in each era that has it, but for those that open a stream."""
    elsewhere = {("ping", MODERN), ("initialize", MODERN), ("server/discover", LEGACY)}
    for era in ERAS:
        for method, params in VALID:
            if method != "subscriptions/listen" and (method, era) not in elsewhere:
                asked = {**message(method, params, era), "id": "honest"}
                yield json.dumps(asked).encode(), rpc_headers(asked, era)


async def answers_of_honest() -> list[Answer]:
    return [await send_request(http_scope("POST", "/mcp", headers), [asked]) for asked, headers in honest()]


async def send(made: Hostile) -> Answer:
    scope = http_scope("POST", "/mcp", made.headers)
    return await asyncio.wait_for(send_request(scope, [made.body], leaves=True), PATIENCE)


def megabytes() -> float:
    """The most memory that the process ever held; 0 where the system does not tell."""
    if sys.platform == "win32":
        return 0.0
    import resource

    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1 << 20 if sys.platform == "darwin" else 1 << 10)


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("sample_wire", "own_door")
def test_no_body_breaks_hangs_or_opens_the_door_or_changes_what_others_get() -> None:
    outcomes: Counter[str] = Counter()
    slowest, half = (0.0, -1), 0.0

    async def all_of_them() -> None:
        nonlocal slowest, half
        async with serving():
            expected = await answers_of_honest()
            for (asked, _), answer in zip(honest(), expected, strict=True):
                assert (answer.status, "result" in answer.json()) == (200, True), (asked, answer.body)
                assert not answer.json()["result"].get("isError"), (asked, answer.body)
            for number in [int(ONLY)] if ONLY else range(NUMBER):
                made = body(SEED, number)
                began = time.perf_counter()
                try:
                    answer = await send(made)
                    if ONLY:
                        print(f"\n{made.kind}\n{made.headers}\n{made.body!r}\n-> {answer.status} {answer.headers}\n{answer.body!r}")  # noqa: T201
                    check(made.body, answer)
                    if number % 8 == 0:  # once more, as whoever asks the same is answered
                        assert (await send(made)).body == answer.body
                except (AssertionError, Exception) as error:
                    raise AssertionError(f"FUZZ_SEED={SEED} FUZZ_ONLY={number} ({made.kind}): {error!r}") from error
                slowest = max(slowest, (time.perf_counter() - began, number))
                outcomes[_outcome(answer)] += 1
                if number % BETWEEN == BETWEEN - 1:
                    _nothing_changed(expected, await answers_of_honest(), number)
                if number == NUMBER // 2:
                    half = megabytes()
            kept.answers.forget()
            _nothing_changed(expected, await answers_of_honest(), NUMBER)
            assert kept.answers.bytes <= kept.answers.most_bytes
            assert kept.answers._making == {}
            assert len(asyncio.all_tasks()) < 20

    began = time.perf_counter()
    asyncio.run(all_of_them())
    took = time.perf_counter() - began
    print(  # noqa: T201
        f"\n{NUMBER:,} bodies of seed {SEED} in {took:.0f} s; slowest {slowest[0] * 1000:.0f} ms (body {slowest[1]:,}); "
        f"memory {half:.0f} MB after half, {megabytes():.0f} MB in the end; {dict(outcomes.most_common())}"
    )
    assert len(usage._waiting) < 1_000
    if not ONLY:
        assert megabytes() - half < GROWTH
        assert len(outcomes) > 5
        assert outcomes["result"] > NUMBER // 50


def _nothing_changed(expected: list[Answer], found: list[Answer], number: int) -> None:
    for asked, one, other in zip(honest(), expected, found, strict=True):
        assert (one.status, one.headers, one.body) == (other.status, other.headers, other.body), (number, asked)


def _outcome(answer: Answer) -> str:
    """What came back, in a word."""
    if answer.status == 202 or answer["content-type"] != "application/json":
        return str(answer.status)
    said = answer.json()
    if "result" in said:
        return "result that is an error" if said["result"].get("isError") else "result"
    return f"{answer.status} {said['error']['code']}"


def test_a_number_names_one_body_of_every_kind() -> None:
    some = [body(SEED, number) for number in range(2_000)]
    assert some == [body(SEED, number) for number in range(2_000)]
    assert {made.kind for made in some} == {kind.__name__ for kind in KINDS}
    assert len({made.body for made in some}) > 1_800


def test_a_right_request_of_all_that_there_is_is_made_worse() -> None:
    named: dict[str, set[Any]] = {"tools/call": set(), "prompts/get": set()}
    for method, params in VALID:
        if method in named:
            named[method].add(params["name"])
    assert named["tools/call"] == {tool.name for tool in wire_server._TOOLS}
    assert named["prompts/get"] == {prompt.name for prompt in wire_server._PROMPTS} == {name for name, _ in PROMPTS}
    assert len(URIS) >= 10
