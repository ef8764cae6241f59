"""REST of the wire: parse, call one query, render. `streaming` holds long polls and streams of changes."""

from collections.abc import Callable
from typing import Any, TypeVar

from ninja import Router

from config.http.responses import error_schemas

F = TypeVar("F", bound=Callable[..., Any])


def route(router: Router, path: str, shape: Any, summary: str, *statuses: int, **options: Any) -> Callable[[F], F]:
    """Declare a GET that answers `shape`, or errors with these statuses."""
    return router.get(path, response={200: shape, **error_schemas(*statuses)}, summary=summary, **options)
