"""What a client sends to a tool or prompt, checked against types; and those types as JSON Schema for the client."""

from collections.abc import Mapping
from typing import Any, Final, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, ValidationError

from config.errors import InvalidArgument


class Arguments(BaseModel):
    """Base of all argument sets: nothing unknown is accepted, and no text is read as a number."""

    model_config = ConfigDict(extra="forbid", frozen=True, regex_engine="python-re")


A = TypeVar("A", bound=Arguments)


def whole(value: Any) -> Any:
    """`10.0` is a whole number, `true` and `"10"` are not. JSON does not tell 10 from 10.0; some clients send the latter."""
    if isinstance(value, bool) or not (isinstance(value, int) or (isinstance(value, float) and value.is_integer())):
        raise ValueError("a whole number is needed")
    return int(value)


WHOLE: Final = BeforeValidator(whole)
"""Stands after the bounds in an `Annotated`, so that it looks first and the bounds stay part of the JSON Schema."""


def read(model: type[A], raw: Mapping[str, Any] | None) -> A:
    """The arguments, typed. `null` means left out. Raises: InvalidArgument, saying what is wrong with each and what is accepted."""
    given = {name: value for name, value in (raw or {}).items() if value is not None}
    try:
        return model.model_validate(given)
    except ValidationError as error:
        problems = [
            _problem(model, row["loc"], row["type"], row["msg"]) for row in error.errors(include_url=False, include_input=False)
        ]
    known = ", ".join(f"{name}{'' if field.is_required() else '?'}" for name, field in model.model_fields.items())
    raise InvalidArgument(" ".join(problems), f"Arguments: {known or 'none'} (? = optional).")


def input_schema(model: type[Arguments]) -> dict[str, Any]:
    """JSON Schema of an argument set, flat: enums in place, no `null`, since many clients read nothing more."""
    schema = model.model_json_schema()
    definitions = schema.get("$defs", {})
    properties = {name: _flat(dict(value), definitions) for name, value in schema.get("properties", {}).items()}
    found: dict[str, Any] = {"type": "object", "properties": properties, "additionalProperties": False}
    if schema.get("required"):
        found["required"] = schema["required"]
    return found


def _flat(value: dict[str, Any], definitions: Mapping[str, Any]) -> dict[str, Any]:
    if "anyOf" in value:
        inner = next(option for option in value.pop("anyOf") if option.get("type") != "null")
        value = {**inner, **value}
    if "$ref" in value:
        target = definitions[value.pop("$ref").rsplit("/", 1)[-1]]
        value = {**{key: target[key] for key in ("type", "enum", "description") if key in target}, **value}
    if value.get("default") is None:
        value.pop("default", None)
    value.pop("title", None)
    return value


def _problem(model: type[Arguments], loc: tuple[int | str, ...], kind: str, message: str) -> str:
    """One sentence about one argument; unknown names are not echoed, they are a stranger's words."""
    if kind == "extra_forbidden":
        return "An unknown argument was given."
    name = str(loc[0]) if loc and str(loc[0]) in model.model_fields else "An argument"
    if kind == "missing":
        return f"{name} is missing."
    return f"{name}: {message.removeprefix('Value error, ')}."
