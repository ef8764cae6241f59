"""Between a resource's contract and what an upstream really offers: arguments of its tool, and where in its answer the data lie."""

import re
from collections.abc import Mapping
from typing import Any, Final

from sources.gateway.policy import Adapter
from sources.gateway.reach import INVALID, Call, UpstreamError

_WHOLE: Final = re.compile(r"\{([A-Za-z_.]+)\}")


def arguments(adapter: Adapter, call: Call) -> dict[str, Any]:
    """The tool's arguments. Those that name a parameter which was left out are left out."""
    given = {name: value for name, value in call.params.items() if value is not None}
    given |= {f"agent.{name}": value for name, value in call.attributes.items()}
    found = {}
    for name, value in adapter.arguments.items():
        filled = _filled(value, given)
        if filled is not None:
            found[name] = filled
    return found


def _filled(value: Any, given: Mapping[str, Any]) -> Any:
    if not isinstance(value, str):
        return value
    if whole := _WHOLE.fullmatch(value):
        return given.get(whole[1])
    names = _WHOLE.findall(value)
    if any(name not in given for name in names):
        return None
    return _WHOLE.sub(lambda hole: str(given[hole[1]]), value)


def data(adapter: Adapter, answer: Any) -> Any:
    """The data in an upstream's answer. Raises: UpstreamError where there are none."""
    found = _at(answer, adapter.at)
    if not adapter.fields:
        return found
    if isinstance(found, list):
        return [_mapped(adapter.fields, one) for one in found]
    return _mapped(adapter.fields, found)


def _mapped(fields: Mapping[str, str], item: Any) -> dict[str, Any]:
    """An item as the contract has it. `=text` is a fixed value; a name with dots is a place in the item, and here."""
    made: dict[str, Any] = {}
    for name, place in fields.items():
        value = place[1:] if place.startswith("=") else _at(item, place, must=False)
        if value is None:
            continue
        inner = made
        *outer, last = name.split(".")
        for part in outer:
            inner = inner.setdefault(part, {})
        inner[last] = value
    return made


def _at(value: Any, place: str, *, must: bool = True) -> Any:
    for part in filter(None, place.split(".")):
        if isinstance(value, Mapping) and part in value:
            value = value[part]
        elif isinstance(value, list) and part.isdigit() and int(part) < len(value):
            value = value[int(part)]
        elif must:
            raise UpstreamError(INVALID, f"The answer has nothing at {place!r}.")
        else:
            return None
    return value
