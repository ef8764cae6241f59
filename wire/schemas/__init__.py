"""Shapes of answers, the same for REST, MCP and archive files, and the bounds of parameters. No Django models."""

from typing import Any, TypeVar

from ninja import Schema

S = TypeVar("S", bound=Schema)


def build_from(shape: type[S], source: object, **fields: Any) -> S:
    """Return a schema with `fields`; all that these lack it takes from attributes of the same names."""
    return shape(**fields, **{name: getattr(source, name) for name in shape.model_fields if name not in fields})
