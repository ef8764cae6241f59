"""Files of a day at /archive/: its stories as NDJSON, and what they are; days and lists for reference managers at /export/."""

from typing import Final

from django.http import HttpRequest, HttpResponse

from config.errors import NotFound
from config.http.responses import BRIEFLY, answer
from wire import queries
from wire.bounds import read_date
from wire.queries.exports import TYPES
from wire.site.pages import public, read
from wire.stories.vocabulary import Category, Topic

FORMS: Final = ("bib", "ris", "csl", "ninjs")


@public
def ndjson(request: HttpRequest, day: str) -> HttpResponse:
    """A day's stories, a line each."""
    body = queries.get_day_ndjson(read(read_date, day), _revision(request))
    return HttpResponse(body, content_type=TYPES["ndjson"], headers={"Cache-Control": BRIEFLY})


@public
def manifest(request: HttpRequest, day: str) -> HttpResponse:
    """Length and checksum of that file."""
    return answer(queries.get_day_file(read(read_date, day), _revision(request)), BRIEFLY)


@public
def listed(request: HttpRequest, form: str) -> HttpResponse:
    """A day or a list as BibTeX, RIS, CSL-JSON or ninjs 3."""
    if form not in FORMS:
        raise NotFound(f"There is no export in the form {form[:20]!r}.", f"Ask for {', '.join(FORMS)}.")
    given = {name: request.GET.get(name) or None for name in ("date", "category", "topic", "query")}
    body = queries.get_list(
        form,
        read(read_date, given["date"]) if given["date"] else None,
        read(Category, given["category"]) if given["category"] else None,
        read(Topic, given["topic"]) if given["topic"] else None,
        given["query"],
    )
    return HttpResponse(body, content_type=TYPES[form], headers={"Cache-Control": BRIEFLY})


def _revision(request: HttpRequest) -> int | None:
    text = request.GET.get("revision")
    return None if text is None else read(int, text)
