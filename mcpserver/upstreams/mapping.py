"""Between a resource's contract and an upstream: the arguments of its tool, where in its answer the data lie, and how they are made
safe to pass on: strict JSON, plain texts, and a flag where a text addresses the model.
"""

import datetime as dt
import json
import math
import re
from collections.abc import Mapping
from contextlib import suppress
from email.utils import parsedate_to_datetime
from typing import Any, Final

from mcpserver.upstreams.client_interface import INVALID, UpstreamCall, UpstreamError
from mcpserver.upstreams.config import Adapter
from wire.text.plain_text import addresses_model, strip_invisible

MAX_ANSWER: Final = 1_000_000  # bytes
MAX_DEPTH: Final = 50  # levels of lists and objects
LATEST: Final = 100_000_000_000  # a larger number is milliseconds since 1970, as seconds it would be the year 5138
_HOLE: Final = re.compile(r"\{([A-Za-z_.]+)\}")


def fill_arguments(arguments: Mapping[str, Any], call: UpstreamCall) -> dict[str, Any]:
    """Return the arguments with the call's values, without those that name a parameter which was left out."""
    given = {name: value for name, value in call.params.items() if value is not None}
    given |= {f"agent.{name}": value for name, value in call.attributes.items()}
    filled = {}
    for name, value in arguments.items():
        holes = _HOLE.findall(value) if isinstance(value, str) else []
        if any(hole not in given for hole in holes):
            continue
        if holes and value == f"{{{holes[0]}}}":
            filled[name] = given[holes[0]]  # of the parameter's own type
        else:
            filled[name] = _HOLE.sub(lambda hole: str(given[hole[1]]), value) if holes else value
    return filled


def map_data(adapter: Adapter, answer: Any) -> Any:
    """Return the data in an upstream's answer. Raises: UpstreamError where there are none."""
    data = _look_up_path(answer, adapter.at)
    if adapter.at or adapter.fields:
        data = _unpack_json(data)
    if not adapter.fields:
        return data
    return [_map_item(adapter.fields, item) for item in data] if isinstance(data, list) else _map_item(adapter.fields, data)


def _map_item(fields: Mapping[str, str], item: Any) -> dict[str, Any]:
    """Return an item as the contract has it. `=text` is a fixed value; a name with dots is a place in the item, and here."""
    mapped: dict[str, Any] = {}
    for name, source in fields.items():
        place, _, conversion = ("" if source.startswith("=") else source).partition("|")
        value = _look_up_path(item, place.strip(), is_needed=False) if place else source[1:]
        if value is not None and conversion:
            value = _convert_value(conversion.strip(), value)
        if value is None:
            continue
        inner = mapped
        *outer, last = name.split(".")
        for part in outer:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return mapped


def _look_up_path(value: Any, place: str, *, is_needed: bool = True) -> Any:
    for part in filter(None, place.split(".")):
        value = _unpack_json(value)
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif is_needed:
            raise UpstreamError(INVALID, f"The answer has nothing at {place!r}.")
        else:
            return None
    return value


def _unpack_json(value: Any) -> Any:
    """Return the object or list in a text that is JSON, and everything else as it is."""
    if isinstance(value, str) and value.lstrip()[:1] in ("{", "["):
        try:
            return parse_json(value)
        except UpstreamError:
            return value
    return value


def _convert_value(conversion: str, value: Any) -> Any:
    """Raises: UpstreamError for a value that cannot be converted."""
    try:
        match conversion:
            case "text":
                return value if isinstance(value, str) else json.dumps(value)
            case "number":
                return value if isinstance(value, int | float) else float(value)
            case "json":
                return parse_json(value) if isinstance(value, str) else value
            case _:
                return _to_rfc3339(value)
    except (ValueError, TypeError, OverflowError) as error:
        raise UpstreamError(INVALID, f"The answer contains a value that cannot be read as {conversion}.") from error


def _to_rfc3339(value: Any) -> str:
    """Return seconds or milliseconds since 1970, or a time in RFC 3339 or RFC 9110, as RFC 3339; a text without a zone is UTC."""
    with suppress(ValueError, TypeError):
        seconds = float(value)
        return dt.datetime.fromtimestamp(seconds / 1000 if abs(seconds) > LATEST else seconds, dt.UTC).isoformat()
    try:
        when = dt.datetime.fromisoformat(value)
    except ValueError:
        when = parsedate_to_datetime(value)
    return (when if when.tzinfo else when.replace(tzinfo=dt.UTC)).isoformat()


def parse_json(text: str) -> Any:
    """Return the JSON value of a text. Raises: UpstreamError for none, for NaN, for an object's name that recurs, for too much."""
    if len(text) > MAX_ANSWER or len(text.encode(errors="replace")) > MAX_ANSWER:
        raise UpstreamError(INVALID, f"The answer is larger than {MAX_ANSWER:,} bytes.")
    try:
        return json.loads(text, object_pairs_hook=_build_object, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise UpstreamError(INVALID, "The answer is not JSON.") from error


def _build_object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise UpstreamError(INVALID, "The answer has an object with the same name twice.")
    return found


def _refuse_constant(name: str) -> Any:
    raise UpstreamError(INVALID, f"The answer holds {name}, which is not JSON.")


def clean_json(value: Any, *, is_exact: bool = False) -> tuple[Any, bool]:
    """Return the value without invisible characters, and whether a text addresses the model. Raises: UpstreamError."""
    texts: list[str] = []
    found = _clean(value, texts, is_exact, 0)
    return found, addresses_model("\n".join(texts)[:200_000])  # characters in which instructions are looked for


def _clean(value: Any, texts: list[str], is_exact: bool, level: int) -> Any:
    if level > MAX_DEPTH:
        raise UpstreamError(INVALID, f"The answer is nested more than {MAX_DEPTH} levels deep.")
    kind = type(value)  # JSON has these types and no subclass of them; to compare them is fast
    if kind is str:
        texts.append(clean := strip_invisible(value))
        return value if is_exact else clean
    if kind is list:
        return [_clean(item, texts, is_exact, level + 1) for item in value]
    if kind is dict:
        return {_clean(name, texts, is_exact, level + 1): _clean(item, texts, is_exact, level + 1) for name, item in value.items()}
    if kind is float and not math.isfinite(value):
        raise UpstreamError(INVALID, "The answer contains a number that is not valid.")
    if kind not in (int, float, bool, type(None)):
        raise UpstreamError(INVALID, "The answer contains something that is not JSON.")
    return value
