"""JSON Schemas of answers, small enough to be read with every list of tools: what a name already says is left out."""

from collections.abc import Mapping
from typing import Any, Final

import orjson

BOUNDS: Final = frozenset(("title", "examples", "default", "pattern", "minLength", "maxLength", "minimum", "maximum"))
"""What narrows values that this server makes itself: a client that is not told of it reads every answer all the same."""


def compact_schema(schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return a schema for the same answers: without titles, examples, bounds, and descriptions that names and formats repeat."""
    found: dict[str, Any] = _drop_bounds(schema)
    definitions = found.pop("$defs", {})
    found = dict(_inline_definitions(found, definitions, orjson.dumps([found, definitions]).decode()))
    shared = {name: part for name, part in definitions.items() if _format_reference(name) in orjson.dumps(found).decode()}
    return found | {"$defs": shared} if shared else found


def _inline_definitions(part: Any, definitions: Mapping[str, Any], text: str) -> Any:
    if isinstance(part, list):
        return [_inline_definitions(one, definitions, text) for one in part]
    if not isinstance(part, Mapping):
        return part
    name = str(part.get("$ref", "")).rpartition("/")[2]
    if name and text.count(_format_reference(name)) == 1:
        part = definitions[name] | {key: value for key, value in part.items() if key != "$ref"}
    return {key: _inline_definitions(value, definitions, text) for key, value in part.items()}


def _format_reference(name: str) -> str:
    return f'"#/$defs/{name}"'


def _drop_bounds(part: Any) -> Any:
    if isinstance(part, list):
        return [_drop_bounds(inner) for inner in part]
    if not isinstance(part, Mapping):
        return part
    said = BOUNDS | {"description"} if {"properties", "enum", "format"} & part.keys() else BOUNDS
    return {  # properties are by names of fields, of which "title" may be one
        key: {name: _drop_bounds(one) for name, one in inner.items()} if key in ("properties", "$defs") else _drop_bounds(inner)
        for key, inner in part.items()
        if key not in said
    }


def spell_nullable_types(part: Any) -> Any:
    """Return schemas in which what may be null has a list of types instead of `anyOf`, for clients that read no `anyOf`."""
    if isinstance(part, list):
        return [spell_nullable_types(one) for one in part]
    if not isinstance(part, dict):
        return part
    options = part.get("anyOf", [])
    if len(options) != 2 or options[1] != {"type": "null"} or "type" not in options[0]:
        return {key: spell_nullable_types(value) for key, value in part.items()}
    found = {**spell_nullable_types(options[0]), **{key: value for key, value in part.items() if key != "anyOf"}}
    if "enum" in found:
        found["enum"] = [*found["enum"], None]
    # To smolagents 5 is an integer, and in a list of types no number.
    return found | {"type": [found["type"], *(["integer"] if found["type"] == "number" else ()), "null"]}
