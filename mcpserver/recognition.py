"""Which requests ask the same: by what they mean, and, once answered, by their bytes."""

import re
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import orjson

from config import kept

KEPT: Final = {
    *("tools/list", "tools/call", "resources/list", "resources/templates/list", "resources/read"),
    *("prompts/list", "prompts/get", "server/discover"),
}
"""What is read and depends on nothing but the wire and the question."""
TIMELESS: Final = frozenset(("tools/list", "resources/templates/list", "prompts/list", "server/discover"))
"""What depends not even on the wire."""
ANOTHER_ID: Final = 10**14 + secrets.randbelow(9 * 10**14)  # an id that no request happens to have, or can be made to have
MARK_BYTES: Final = 300
_READ: Final = frozenset((b"accept", b"content-type"))  # and all that begins with mcp-
Said = tuple[tuple[bytes, bytes], ...]
Shape = tuple[Any, ...]
_ID: Final = re.compile(rb'"id":[ ]?(0|[1-9][0-9]{0,14}|"[A-Za-z0-9_.:-]{1,64}")(?=[,}])')


def key_of(version: str, method: str, params: Any) -> tuple[Any, ...] | None:
    """What the answer is kept under: the question without what is the client's own. None for what is not kept."""
    if method not in KEPT:
        return None
    asked = {name: value for name, value in params.items() if name != "_meta"} if params else {}
    try:
        return "mcp", version, method, orjson.dumps(asked, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # nested too deeply, as no question of ours is
        return None


@dataclass(frozen=True, slots=True)
class Again:
    """A request that was answered before: what its answer is kept under, and what of it is counted."""

    key: tuple[Any, ...]
    method: str
    named: dict[str, Any]


def said_in(headers: Sequence[tuple[bytes, bytes]]) -> Said:
    """Of a request's headers those that the door reads; proxies and tracers give each request others of its own."""
    return tuple([pair for pair in headers if pair[0] in _READ or pair[0].startswith(b"mcp-")])


def shape_of(said: Said, body: bytes) -> tuple[Shape | None, bytes]:
    """What was said, and a body's bytes around its first `"id"`; and that id. None for one that has no plain one.

    Requests of one shape are one question: reading and checking all of them again gives what the first one gave.
    """
    found = _ID.search(body)
    if found is None:
        return None, b""
    return ("shape", said, body[: found.start(1)], body[found.end(1) :]), found[1]


def recognise(shape: Shape, message: dict[str, Any], version: str) -> None:
    """Answer this shape without reading it from now on, if what was cut out is the request's own id. Not before it was asked twice:
    most shapes that are new are asked once, and leave a mark only.
    """
    key = key_of(version, message["method"], message.get("params"))
    if key is None or key not in kept.answers:  # it tells of an error
        return
    mark = "asked", hash(shape)
    if kept.answers.find(mark) is None:
        kept.answers.put(mark, True, MARK_BYTES)
        return
    before, after = shape[-2:]
    if orjson.loads(b"%b%d%b" % (before, ANOTHER_ID, after)) == {**message, "id": ANOTHER_ID}:
        named = {name: value for name, value in (message.get("params") or {}).items() if name in ("name", "uri")}
        headers = sum([len(name) + len(value) + 200 for name, value in shape[1]])
        size = len(before) + len(after) + headers + 2 * len(key[-1]) + 2_000
        kept.answers.put(shape, Again(key, message["method"], named), size)
