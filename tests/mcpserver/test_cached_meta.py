"""A strange `_meta` is refused to its sender and to nobody else, whatever is cached of the same request without it."""

import asyncio
import json
from typing import Any, Final

import pytest

from tests.factories import entry, publish
from tests.mcpserver.asgi import ERAS, MODERN, Answer, http_scope, message, request, rpc_headers, send_request
from tests.mcpserver.test_cached_answers import opened, uncached  # noqa: F401  autouse

pytestmark = pytest.mark.django_db(transaction=True)

ASKED: Final[list[tuple[str, dict[str, Any]]]] = [
    ("tools/call", {"name": "search_wire", "arguments": {"query": "quince"}}),
    ("tools/list", {}),
    ("server/discover", {}),
]
TOKENS: Final[list[Any]] = [[1], 1.5, None, {}, True, "", "x", 7, 10**18, "x" * 3_000]
TYPES: Final[list[Any]] = [5, "x", []]
STRANGE_META: Final[list[Any]] = [
    *(5, 0, True, None, [], [1], "x", {}),
    *({"progressToken": value} for value in TOKENS),
    *(
        {f"io.modelcontextprotocol/{name}": value}
        for name in ("protocolVersion", "clientInfo", "clientCapabilities")
        for value in TYPES
    ),
    *({"io.modelcontextprotocol/clientInfo": value} for value in ({}, {"name": 5, "version": "1"}, {"name": "a"})),
    *({"io.modelcontextprotocol/logLevel": value} for value in ("debug", "loud", 5)),
    *({"io.modelcontextprotocol/related-task": value} for value in ({"taskId": "1"}, {}, 5)),
    *({"": 1}, {"zyzzyva": {"a": [1.5]}}),
]


def with_meta(good: dict[str, Any], meta: Any) -> bytes:
    """The same request with other members of `_meta`, or with something in its place that has none."""
    ours = good["params"].get("_meta", {})
    strange = {**ours, **meta} if isinstance(meta, dict) and meta else meta
    return json.dumps({**good, "params": {**good["params"], "_meta": strange}}).encode()


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(("method", "params"), ASKED, ids=[method for method, _ in ASKED])
def test_a_strange_meta_is_answered_as_if_nobody_had_asked_before(method: str, params: dict[str, Any], era: str) -> None:
    """It is refused to its sender, whatever is cached of the same request without it, and to nobody else."""
    publish(entry(title="Quince opens"))
    good = message(method, params, era) | {"id": 1}
    headers = rpc_headers(good, era)

    def ask(body: bytes) -> Answer:
        return request("POST", "/mcp", body, headers)

    expected = uncached(lambda: ask(json.dumps(good).encode()))
    assert ("result" in expected.json()) is (method != "server/discover" or era == MODERN)
    for meta in STRANGE_META:
        strange = with_meta(good, meta)
        body = json.dumps(good).encode()
        answers = [ask(body), ask(body), ask(body), ask(strange), ask(strange), ask(body)]
        assert {one.body for one in (*answers[:3], answers[5])} == {expected.body}
        anew = uncached(lambda strange=strange: ask(strange))
        assert [(one.status, one.headers, one.body) for one in answers[3:5]] == [(anew.status, anew.headers, anew.body)] * 2, meta


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("meta", [5, {"progressToken": [1]}])
def test_a_strange_meta_is_refused_to_nobody_else_who_asks_meanwhile(meta: Any, era: str) -> None:
    publish(entry(title="Quince opens"))
    good = message("tools/call", {"name": "search_wire", "arguments": {"query": "quince"}}, era) | {"id": 1}

    async def together() -> list[Answer]:
        scopes = [http_scope("POST", "/mcp", rpc_headers(good, era)) for _ in range(2)]
        bodies = [with_meta(good, meta), json.dumps(good).encode()]
        return await asyncio.gather(*(send_request(scope, [body]) for scope, body in zip(scopes, bodies, strict=True)))

    for _ in range(2):
        strange, plain = asyncio.run(together())
        assert ("error" in strange.json(), "result" in plain.json()) == (True, True)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("era", ERAS)
def test_a_progress_token_changes_no_result_and_a_bad_one_is_refused(era: str) -> None:
    publish(entry(title="Quince opens"))
    good = message("tools/call", {"name": "search_wire", "arguments": {"query": "quince"}}, era) | {"id": 1}
    answers = [
        request("POST", "/mcp", with_meta(good, {"progressToken": token}), rpc_headers(good, era)).json()
        for token in (1, 2, "x", 1, 1.5, [1], 2)
    ]
    assert [answer.get("error", {}).get("code") for answer in answers] == [None] * 4 + [-32602] * 2 + [None]
    assert {json.dumps(answer["result"]) for answer in answers if "result" in answer} == {json.dumps(answers[0]["result"])}
    assert answers[0]["result"]["structuredContent"]["total"] == 1
