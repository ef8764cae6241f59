"""JSON Schemas of answers, small enough to be read with every list of tools: what a name already says is left out."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

BOUNDS: Final = frozenset(("title", "examples", "default", "pattern", "minLength", "maxLength", "minimum", "maximum"))
"""What narrows values that this server makes itself: a client that is not told of it reads every answer all the same."""


def compact(schema: Mapping[str, Any]) -> dict[str, Any]:
    """The schema, by which every answer is still valid: without titles, examples and bounds, without descriptions of objects,
    enumerations and times, whose names and formats say it, and with definitions only of what stands in it more than once.
    """
    found = _short(schema)
    definitions = found.pop("$defs", {})
    found = dict(_inline(found, definitions, orjson.dumps([found, definitions]).decode()))
    shared = {name: part for name, part in definitions.items() if _refers_to(name) in orjson.dumps(found).decode()}
    return found | {"$defs": shared} if shared else found


def _inline(part: Any, definitions: Mapping[str, Any], text: str) -> Any:
    """With definitions in place of the only references to them in `text`."""
    if isinstance(part, list):
        return [_inline(one, definitions, text) for one in part]
    if not isinstance(part, Mapping):
        return part
    name = str(part.get("$ref", "")).rpartition("/")[2]
    if name and text.count(_refers_to(name)) == 1:
        part = definitions[name] | {key: value for key, value in part.items() if key != "$ref"}
    return {key: _inline(value, definitions, text) for key, value in part.items()}


def _refers_to(name: str) -> str:
    return f'"#/$defs/{name}"'


def _short(schema: Mapping[str, Any]) -> dict[str, Any]:
    said = BOUNDS | {"description"} if {"properties", "enum", "format"} & schema.keys() else BOUNDS
    return {key: _value(key, part) for key, part in schema.items() if key not in said}


def _value(key: str, part: Any) -> Any:
    if key in ("properties", "$defs"):  # by names of fields, of which "title" may be one
        return {name: _short(inner) for name, inner in part.items()}
    if isinstance(part, Mapping):
        return _short(part)
    if isinstance(part, list):
        return [_short(inner) if isinstance(inner, Mapping) else inner for inner in part]
    return part


def list_types(part: Any) -> Any:
    """Return schemas in which what may be null has a list of types instead of `anyOf`, for clients that read no `anyOf`."""
    if isinstance(part, list):
        return [list_types(one) for one in part]
    if not isinstance(part, dict):
        return part
    options = part.get("anyOf", [])
    if len(options) != 2 or options[1] != {"type": "null"} or "type" not in options[0]:
        return {key: list_types(value) for key, value in part.items()}
    found = {**list_types(options[0]), **{key: value for key, value in part.items() if key != "anyOf"}}
    if "enum" in found:
        found["enum"] = [*found["enum"], None]
    # To smolagents 5 is an integer, and in a list of types no number.
    return found | {"type": [found["type"], *(["integer"] if found["type"] == "number" else ()), "null"]}
