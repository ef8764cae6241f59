"""Between a resource's contract and an upstream: the arguments of its tool, and where in its answer the data lie."""

import re
from collections.abc import Mapping
from typing import Any, Final

from mcpserver.upstreams.config import Adapter
from mcpserver.upstreams.protocol import INVALID, UpstreamCall, UpstreamError

_HOLE: Final = re.compile(r"\{([A-Za-z_.]+)\}")


def fill_arguments(adapter: Adapter, call: UpstreamCall) -> dict[str, Any]:
    """Return the tool's arguments, without those that name a parameter which was left out."""
    given = {name: value for name, value in call.params.items() if value is not None}
    given |= {f"agent.{name}": value for name, value in call.attributes.items()}
    filled = {}
    for name, value in adapter.arguments.items():
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
    data = _look_up(answer, adapter.at)
    if not adapter.fields:
        return data
    return [_map_item(adapter.fields, item) for item in data] if isinstance(data, list) else _map_item(adapter.fields, data)


def _map_item(fields: Mapping[str, str], item: Any) -> dict[str, Any]:
    """Return an item as the contract has it. `=text` is a fixed value; a name with dots is a place in the item, and here."""
    mapped: dict[str, Any] = {}
    for name, place in fields.items():
        value = place[1:] if place.startswith("=") else _look_up(item, place, is_needed=False)
        if value is None:
            continue
        inner = mapped
        *outer, last = name.split(".")
        for part in outer:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return mapped


def _look_up(value: Any, place: str, *, is_needed: bool = True) -> Any:
    for part in filter(None, place.split(".")):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif is_needed:
            raise UpstreamError(INVALID, f"The answer has nothing at {place!r}.")
        else:
            return None
    return value
