"""Files of a day at /archive/: its stories as NDJSON, and what they are; days and lists for reference managers at /export/."""

from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from config.errors import InvalidArgument, NotFound, UnknownParameter, WireError
from config.http.responses import BRIEFLY, answer, error_answer
from wire import queries
from wire.bounds import read_date
from wire.queries.exports import TYPES
from wire.stories.vocabulary import Category, Topic

FORMS: Final = ("bib", "ris", "csl", "ninjs")

_HINTS: Final = {
    "date": "A date is written 2026-01-14.",
    "revision": "A revision is 1, 2, 3 …",
    "category": f"There are: {', '.join(Category)}.",
    "topic": f"There are: {', '.join(Topic)}.",
}

T = TypeVar("T")
View = Callable[..., HttpResponse]


def file(view: View) -> View:
    """A file that programs fetch: errors have the shape of the API's."""

    @require_safe
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except WireError as error:
            return error_answer(error)

    return wrapped


@file
def ndjson(request: HttpRequest, day: str) -> HttpResponse:
    """A day's stories, a line each."""
    body = queries.get_day_ndjson(_read("date", read_date, day), _revision(request))
    return HttpResponse(body, content_type=TYPES["ndjson"], headers={"Cache-Control": BRIEFLY})


@file
def manifest(request: HttpRequest, day: str) -> HttpResponse:
    """Length and checksum of that file."""
    return answer(queries.get_day_file(_read("date", read_date, day), _revision(request)), BRIEFLY)


@file
def listed(request: HttpRequest, form: str) -> HttpResponse:
    """A day or a list as BibTeX, RIS, CSL-JSON or ninjs 3."""
    if form not in FORMS:
        raise NotFound(f"There is no export in the form {form[:20]!r}.", f"Ask for {', '.join(FORMS)}.")
    given = _given(request, "date", "category", "topic", "query")
    body = queries.get_list(
        form,
        _read("date", read_date, given["date"]) if "date" in given else None,
        _read("category", Category, given["category"]) if "category" in given else None,
        _read("topic", Topic, given["topic"]) if "topic" in given else None,
        given.get("query"),
    )
    return HttpResponse(body, content_type=TYPES[form], headers={"Cache-Control": BRIEFLY})


def _revision(request: HttpRequest) -> int | None:
    text = _given(request, "revision").get("revision")
    return None if text is None else _read("revision", int, text)


def _given(request: HttpRequest, *taken: str) -> dict[str, str]:
    """What of these is given. Raises: UnknownParameter for anything else."""
    for name in request.GET:
        if name not in taken:
            raise UnknownParameter(f"{name[:40]!r} is an unknown parameter.", f"This address takes {', '.join(taken)}.")
    return {name: value for name in taken if (value := request.GET.get(name))}


def _read(name: str, parse: Callable[[str], T], text: str) -> T:
    """Raises: InvalidArgument where `parse` raises ValueError."""
    try:
        return parse(text)
    except ValueError:
        raise InvalidArgument(f"{name} cannot be read: {text[:40]!r}.", _HINTS[name]) from None
