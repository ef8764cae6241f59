"""The fourth target: what the MCP door makes of any bytes, read for the first time and recognised."""

import re
from typing import Any, Final

import orjson

from config import kept
from tests.fuzz.answers import check
from tests.mcpserver.asgi import ERAS, LEGACY, MODERN, Answer, http_scope, message, rpc_headers, send_request

PROBES: Final = [
    (orjson.dumps({**message(method, params, era), "id": 1}), rpc_headers(message(method, params, era), era))
    for era in ERAS
    for method, params in (("prompts/list", {}), ("tools/call", {"name": "list_sources", "arguments": {"tier": 1}}))
]
LISTS: Final = {"method": "tools/list", "params": {}}
_FIRST_ID: Final = re.compile(rb'("id":[ ]?)(?:[0-9]+|"[A-Za-z0-9_.:-]*")')


async def ask(body: bytes, headers: dict[str, str]) -> Answer:
    return await send_request(http_scope("POST", "/mcp", headers), [body], leaves=True)


async def jsonrpc(data: bytes) -> None:
    """The same answer when it is made, when it is kept, and under another id; and what others ask is answered as before.

    The first byte chooses the headers. Needs the application between startup and shutdown. Raises: AssertionError.
    """
    if not data:
        return
    body = data[1:]
    headers = _headers(data[0] % 4, body)
    made = await ask(body, headers)
    check(body, made)
    _same(made, await ask(body, headers))
    if made.status == 200:
        other = _FIRST_ID.sub(rb'\g<1>"other"', body, count=1)
        recognised = await ask(other, headers)
        check(other, recognised)
        for probe, before in zip(PROBES, _expected, strict=False):
            _same(before, await ask(*probe))
        kept.answers.forget()
        _same(recognised, await ask(other, headers))
        _expected[:] = [await ask(*probe) for probe in PROBES]


_expected: list[Answer] = []
"""What the probes are answered; made anew whenever what is kept is forgotten."""


def _same(one: Answer, other: Answer) -> None:
    assert (one.status, one.headers, one.body) == (other.status, other.headers, other.body)


def _headers(kind: int, body: bytes) -> dict[str, str]:
    """No revision, an old one, the new one as it belongs to the body, or as it belongs to another."""
    if kind == 0:
        return {"content-type": "application/json"}
    if kind == 1:
        return rpc_headers(LISTS, LEGACY)
    if kind == 2 and (told := _told(body)) is not None:
        return rpc_headers(told, MODERN)
    return rpc_headers(LISTS, MODERN)


def _told(body: bytes) -> dict[str, Any] | None:
    try:
        said = orjson.loads(body)
    except ValueError:
        return None
    if not isinstance(said, dict) or not isinstance(said.get("method"), str):
        return None
    if not said["method"].isprintable() or not said["method"].isascii():
        return None
    return {"method": said["method"], "params": said["params"] if isinstance(said.get("params"), dict) else {}}
