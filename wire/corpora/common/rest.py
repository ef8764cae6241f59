"""Documentation of the routes of a corpus's REST."""

from collections.abc import Mapping
from typing import Any, Final

from pydantic import BaseModel

from config.http.responses import error_schemas

UNKNOWN_PARAMETER: Final = (
    "`unknown_parameter`: the address does not take a parameter that was sent; the hint names those it takes."  # of status 400
)


def build_route_options(schema: type[BaseModel], *statuses: int, refusals: Mapping[int, str]) -> dict[str, Any]:
    """Return a route's options: its schema, and each refusal with what it means there; every route may refuse with 400."""
    described = {status: {"description": refusals[status]} for status in (400, *statuses)}
    return {"response": {200: schema, **error_schemas(*statuses)}, "openapi_extra": {"responses": described}}
