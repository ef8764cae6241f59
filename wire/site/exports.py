"""Files of a day at /archive/ (its stories as NDJSON, and their checksum); days and lists for reference managers at /export/."""

import datetime as dt
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from config.errors import InvalidArgument, NotFound, UnknownParameter, WireError
from config.http.responses import BRIEFLY, error_response, schema_response
from wire import queries
from wire.queries.exports import TYPES
from wire.schemas.params import read_date, read_day
from wire.text.choices import Category, Topic

FORMS: Final = ("bib", "ris", "csl", "ninjs")

_HINTS: Final = {
    "date": "Give one day, such as 2026-01-14; /export/ takes today and yesterday as well.",
    "revision": "A revision is 1, 2, 3 …",
    "category": f"Use one of: {', '.join(Category)}.",
    "topic": f"Use one of: {', '.join(Topic)}.",
}

T = TypeVar("T")
View = Callable[..., HttpResponse]


def file_view(view: View) -> View:
    """Wrap a view of a file for programs: its errors have the shape of the API's."""

    @require_safe
    @wraps(view)
    def answer_errors(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except WireError as error:
            return error_response(error)

    return answer_errors


@file_view
def ndjson(request: HttpRequest, day: str) -> HttpResponse:
    body = queries.get_day_ndjson(*_parse_day_params(request, day))
    return HttpResponse(body, content_type=TYPES["ndjson"], headers={"Cache-Control": BRIEFLY})


@file_view
def manifest(request: HttpRequest, day: str) -> HttpResponse:
    """Answer length and checksum of a day's NDJSON."""
    return schema_response(queries.describe_day_file(*_parse_day_params(request, day)), BRIEFLY)


@file_view
def export_list(request: HttpRequest, form: str) -> HttpResponse:
    """Answer a day, or a page of a list, as BibTeX, RIS, CSL-JSON or ninjs 3; the Link header leads to the next page."""
    if form not in FORMS:
        raise NotFound(f"There is no export in the format {form[:20]!r}.", f"Ask for {', '.join(FORMS)}.")
    given = _read_params(request, "date", "category", "topic", "query", "cursor")
    page = queries.get_export_page(
        form,
        _parse_param("date", read_day, given.get("date")),
        _parse_param("category", Category, given.get("category")),
        _parse_param("topic", Topic, given.get("topic")),
        given.get("query"),
        given.get("cursor"),
    )
    response = HttpResponse(page.body, content_type=TYPES[form], headers={"Cache-Control": BRIEFLY})
    if page.total is not None:
        response["X-Total-Count"] = str(page.total)
    if page.next_cursor is not None:
        following = urlencode(given | {"cursor": page.next_cursor})
        response["Link"] = f'<{settings.WIRE_SITE_URL}/export/{form}?{following}>; rel="next"'
    return response


def _parse_day_params(request: HttpRequest, day: str) -> tuple[dt.date, int | None]:
    date = _parse_param("date", read_date, day)
    assert date is not None  # noqa: S101
    return date, _parse_param("revision", int, _read_params(request, "revision").get("revision"))


def _read_params(request: HttpRequest, *taken: str) -> dict[str, str]:
    """Return those parameters that are given. Raises: UnknownParameter for any other."""
    for name in request.GET:
        if name not in taken:
            raise UnknownParameter(f"{name[:40]!r} is an unknown parameter.", f"This address takes {', '.join(taken)}.")
    return {name: value for name in taken if (value := request.GET.get(name))}


def _parse_param(name: str, parse: Callable[[str], T], text: str | None) -> T | None:
    """Parse a parameter, if it is given. Raises: InvalidArgument where `parse` raises ValueError."""
    try:
        return None if text is None else parse(text)
    except ValueError:
        raise InvalidArgument(f"{name} cannot be read: {str(text)[:40]!r}.", _HINTS[name]) from None
