"""What every answer of the MCP door must be, whatever was asked."""

import json
from typing import Any, Final

import orjson

from tests.mcpserver.asgi import Answer

INTERNAL: Final = (
    *("Traceback", 'File "', ".py", "site-packages", "python3", "/usr/", "/home/", "/work/", "/tmp/", "0x7f"),  # noqa: S108
    *("SELECT ", "INSERT ", "UPDATE ", "PRAGMA ", "sqlite", "psycopg", "postgres", "redis://"),
    *("django", "pydantic", "orjson", "asyncio", "starlette", "uvicorn", "mcpserver", "wire.queries", "mcp_types", "mcp.server"),
    *("ValidationError", "TypeError", "ValueError", "KeyError", "RuntimeError", "AttributeError", "RecursionError", "Exception"),
)
"""Of how it is made inside; no answer has a word of it."""


def strictly(text: bytes) -> Any:
    """JSON as every reader has it: no NaN, no key twice. Raises: ValueError."""

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise ValueError(f"a key comes twice among {[name for name, _ in pairs]}")
        return found

    def refused(constant: str) -> Any:
        raise ValueError(constant)

    return json.loads(text, object_pairs_hook=once, parse_constant=refused)


def own_id(body: bytes) -> Any:
    """The id of a request as the standard library reads it; None where there is none to echo."""
    try:
        said = json.loads(body)
    except RecursionError:
        said = orjson.loads(body)  # which reads what is nested deeper
    except ValueError:
        return None
    found = said.get("id") if isinstance(said, dict) else None
    return found if isinstance(found, int | str) and not isinstance(found, bool) else None


def check(body: bytes, answer: Answer) -> None:
    """A well-formed JSON-RPC answer with the request's own id or null, no fault, nothing of the inside. Raises: AssertionError."""
    text = answer.body.decode()
    assert 200 <= answer.status < 500, (answer.status, text[:500])
    assert not [word for word in INTERNAL if word in text], ([word for word in INTERNAL if word in text], text[:2000])
    if answer.status == 202:
        assert not text
        return
    if answer["content-type"] != "application/json":
        assert (answer.status, (answer["content-type"] or "").partition(";")[0]) == (200, "text/event-stream"), answer.headers
        return
    assert answer["content-length"] in (None, str(len(answer.body)))
    said = strictly(answer.body)
    assert said["jsonrpc"] == "2.0"
    if "result" in said:
        assert set(said) == {"jsonrpc", "id", "result"}
        assert answer.status == 200
        assert isinstance(said["result"], dict)
        assert _same(said["id"], own_id(body)), said["id"]
        return
    assert set(said) == {"jsonrpc", "id", "error"}
    assert said["id"] is None or _same(said["id"], own_id(body)), said["id"]
    error = said["error"]
    assert set(error) <= {"code", "message", "data"}
    assert type(error["code"]) is int
    assert error["code"] != -32603, text[:500]
    assert isinstance(error["message"], str)
    assert error["message"]
    assert len(answer.body) - len(json.dumps(said["id"])) < 5_000, text[:500]


def _same(answered: Any, asked: Any) -> bool:
    return asked is not None and type(answered) is type(asked) and answered == asked
