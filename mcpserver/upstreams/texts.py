"""What a stranger's server sent, made safe to pass on: JSON without tricks, texts that are only texts, and a flag where one speaks
to the model that reads it.
"""

import json
from typing import Any, Final

from sources.gateway.reach import INVALID, UpstreamError
from wire.stories.text import addresses_model, visible

MOST: Final = 1_000_000  # bytes of one answer
DEEPEST: Final = 50  # levels of lists and objects
LOOKED_AT: Final = 200_000  # characters in which instructions are looked for


def parsed(text: str) -> Any:
    """The JSON value of a text. Raises: UpstreamError for none, for NaN, for a name that an object has twice, and for too much."""
    if len(text) > MOST or len(text.encode(errors="replace")) > MOST:
        raise UpstreamError(INVALID, f"The answer is larger than {MOST:,} bytes.")
    try:
        return json.loads(text, object_pairs_hook=_object, parse_constant=_constant)
    except UpstreamError:
        raise
    except (ValueError, RecursionError) as error:
        raise UpstreamError(INVALID, "The answer is no JSON.") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise UpstreamError(INVALID, "The answer has an object with the same name twice.")
    return found


def _constant(name: str) -> Any:
    raise UpstreamError(INVALID, f"The answer holds {name}, which is no JSON.")


def cleaned(value: Any, *, exact: bool = False) -> tuple[Any, bool]:
    """The value with its texts free of characters that nobody can see, and whether one of them addresses the model that reads it.
    `exact`: texts stay as they are, since something was computed of them. Raises: UpstreamError for what is nested too deeply.
    """
    texts: list[str] = []
    found = _walk(value, texts, exact, 0)
    return found, addresses_model("\n".join(texts)[:LOOKED_AT])


def _walk(value: Any, texts: list[str], exact: bool, level: int) -> Any:
    """Types are told apart by what they are exactly, which is fast; JSON has no others."""
    if level > DEEPEST:
        raise UpstreamError(INVALID, f"The answer is nested more than {DEEPEST} levels deep.")
    kind = type(value)
    if kind is str:
        clean = visible(value)
        texts.append(clean)
        return value if exact else clean
    if kind is list:
        return [_walk(one, texts, exact, level + 1) for one in value]
    if kind is dict:
        return {_walk(name, texts, exact, level + 1): _walk(one, texts, exact, level + 1) for name, one in value.items()}
    if kind is float and (value != value or value in (float("inf"), float("-inf"))):
        raise UpstreamError(INVALID, "The answer holds a number that is none.")
    if kind not in (int, float, bool, type(None)):
        raise UpstreamError(INVALID, "The answer holds what is no JSON.")
    return value
