"""Arguments of tools and prompts, checked against types; and those types as JSON Schema for the client."""

import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import orjson
from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from config.errors import InvalidArgument
from wire.text.untrusted_text import describe_unknown


class Arguments(BaseModel):
    """Base of all argument sets: nothing unknown is accepted."""

    model_config = ConfigDict(extra="forbid", frozen=True, regex_engine="python-re")


A = TypeVar("A", bound=Arguments)


def parse_whole_number(value: Any) -> Any:
    """Return 10 of `10.0` and `"10"`, as some clients write numbers; JSON does not tell 10 from 10.0."""
    if isinstance(value, str) and re.fullmatch(r"\s*[0-9]{1,9}\s*", value):
        return int(value)
    return expect_whole_number(value)


def expect_whole_number(value: Any) -> Any:
    """The same, but a text is no number."""
    if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
        raise ValueError("a whole number is needed")
    return int(value)


def parse_list(value: Any) -> Any:
    """Return a list that is written as JSON text, or of a single text, as some clients send it."""
    if not isinstance(value, str):
        return value
    try:
        found = orjson.loads(value)
    except ValueError:
        return [value]
    return found if isinstance(found, list) else [value]


WHOLE: Final = BeforeValidator(parse_whole_number)
NUMBER: Final = BeforeValidator(expect_whole_number)
LIST: Final = BeforeValidator(parse_list)  # each behind the bounds, which stay part of the JSON Schema


def parse_arguments(model: type[A], raw: Mapping[str, Any] | None) -> A:
    """Return the arguments, typed; `null`, and `""` where it is optional, mean left out. Raises: InvalidArgument."""
    fields = model.model_fields
    optional = {name for name, field in fields.items() if not field.is_required()}
    given = {name: value for name, value in (raw or {}).items() if not (value is None or (value == "" and name in optional))}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        rows = error.errors(include_url=False, include_input=False)
    strange, problems = [], []
    for row in rows:
        name = str(row["loc"][0]) if row["loc"] else ""
        if row["type"] == "extra_forbidden":
            strange.append(name)
        else:
            said = " is missing." if row["type"] == "missing" else f": {row['msg'].removeprefix('Value error, ')}."
            problems.append(f"{name if name in fields else 'An argument'}{said}")
    if strange:
        problems.append(describe_unknown(strange, "argument"))
    known = ", ".join(f"{name}{'?' if name in optional else ''}" for name in fields)
    raise InvalidArgument(" ".join(problems), f"Arguments: {known or 'none'} (? = optional).")


def build_input_schema(model: type[Arguments]) -> dict[str, Any]:
    """JSON Schema of an argument set, without references. What may be left out may be null as well.

    Unknown arguments are refused by name, but no schema says so: `additionalProperties: false` breaks google-genai's own reader.
    """
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    required = schema.get("required", [])
    properties = {
        name: _inline_definitions(value, definitions) if name in required else to_nullable(_inline_definitions(value, definitions))
        for name, value in schema.get("properties", {}).items()
    }
    found: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        found["required"] = required
    return found


def to_nullable(value: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an argument that may be null: OpenAI's strict mode makes every argument required, so a model leaves
    one out by null.

    `anyOf` alone: the one spelling that most clients load (docs/clients.md). A list in `type` breaks semantic-kernel, autogen,
    dspy and Google's SDKs, also where it stands beside `anyOf`.
    """
    outside: dict[str, Any] = {key: value[key] for key in ("description", "default") if key in value}
    inside = {key: part for key, part in value.items() if key not in outside}
    return {"anyOf": [inside, {"type": "null"}], **outside}


def _inline_definitions(value: Mapping[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    """Enumerations in place; without what only repeats a name, and without examples, on which Google's SDK breaks."""
    found = dict(value)
    if "anyOf" in found:
        found = {**next(option for option in found.pop("anyOf") if option.get("type") != "null"), **found}
    if "$ref" in found:
        target = definitions[found.pop("$ref").rsplit("/", 1)[-1]]
        found = {**{key: target[key] for key in ("type", "enum") if key in target}, **found}
    if "items" in found:
        found["items"] = _inline_definitions(found["items"], definitions)
    dropped = ("title", "examples", *(("default",) if found.get("default") is None else ()))
    return {key: part for key, part in found.items() if key not in dropped}
