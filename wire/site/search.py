"""The search page: words, filters, or both."""

import datetime as dt
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote, urlencode

from django.http import HttpRequest, HttpResponse
from pydantic import ValidationError

from config.errors import InvalidArgument, NotInRoster
from sources import queries as sources_queries
from sources.vocabulary import Tier
from wire import queries
from wire.answers import StoriesAnswer
from wire.bounds import MAX_QUERY, SearchForm, Sort
from wire.schemas import SearchOut, StoryOut
from wire.site.pages import PER_LIST, page, public
from wire.stories import tokens
from wire.stories.question import EVERYTHING, Query, Text, forms
from wire.stories.vocabulary import Category, Topic

FILTERS: Final = ("source", "tier", "category", "topic", "since", "until")  # as a sentence names them

Asked = dict[str, str]
"""What the form holds, by field; empty where nothing was chosen."""


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter in words, and the address of the same search without it."""

    text: str
    without: str


@dataclass(frozen=True, slots=True)
class Hit:
    """A story that was found, and the summary to show: the longer one where the short one would leave out why."""

    story: StoryOut
    summary: str


@public
def search(request: HttpRequest) -> HttpResponse:
    """A form, and what was found. Words alone are searched for; filters alone list the newest stories that pass them."""
    asked = {name: request.GET.get(name, "").strip() for name in ("query", *FILTERS, "sort")}
    publications = [source.name for source in sources_queries.list_sources().sources]
    context: dict[str, Any] = {"asked": asked, "categories": Category, "topics": Topic, "tiers": Tier, "sources": publications}
    try:
        form = _read(asked)
        if form.source and form.source not in publications:
            publications.append(form.source)  # replaced on the roster; its stories stay
        if any(asked[name] for name in ("query", *FILTERS)):
            context |= _results(form, asked, request.GET.get("cursor") or None)
    except InvalidArgument as error:
        return page(request, "search.html", context | {"refused": error}, "no-store", status=422)
    return page(request, "search.html", context)


def _read(asked: Asked) -> SearchForm:
    """The form's values; `asked` gets the roster's spelling of the publication, and loses what is refused.

    Raises: InvalidArgument.
    """
    try:
        form = SearchForm.model_validate({name: value for name, value in asked.items() if value} | {"limit": PER_LIST})
        if form.source:
            form.source = asked["source"] = sources_queries.canonical_source(form.source)
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        if name == "query":
            raise InvalidArgument(f"The query is longer than {MAX_QUERY} characters.", "Ask for fewer words.") from None
        refused, asked[name] = asked[name], ""
        raise InvalidArgument(f"The filter “{name}” cannot be {refused!r}.", "Choose from the form, or leave it empty.") from None
    except NotInRoster:
        refused, asked["source"] = asked["source"], ""
        raise InvalidArgument(f"“{refused}” is not one of the 24 publications.", "Choose one from the list.") from None
    return form


def _results(form: SearchForm, asked: Asked, cursor: str | None) -> dict[str, Any]:
    """What the page shows below the form. Raises: InvalidArgument for a query without words and for a strange cursor."""
    found = _found(form, cursor)
    question = _words(found, form.query)
    filters = _filters(form, asked)
    newest = Sort.NEWEST if form.sort == Sort.RELEVANCE else Sort.RELEVANCE
    return {
        "found": found,
        "hits": [Hit(story, _summary(story, question)) for story in found.stories],
        "question": question,
        "quoted": form.query if '"' in form.query else f"“{form.query}”",
        "filters": filters,
        "is_newest_first": form.sort == Sort.NEWEST or not form.query,
        "other_order": _address(asked, sort=newest) if form.query else None,
        "next": _address(asked, cursor=found.next_cursor) if found.next_cursor else None,
        "corrected": _address(asked, query=found.suggestion) if found.suggestion else None,
        "wider": _address({"query": form.query}) if form.query and filters else None,
        # A feed of a search knows no filters.
        "query_string": f"?query={quote(form.query, safe='')}" if form.query and not filters else None,
    }


def _found(form: SearchForm, cursor: str | None) -> StoriesAnswer[SearchOut]:
    filters: dict[str, Any] = {name: getattr(form, name) for name in FILTERS}
    if not form.query:
        return queries.filter_wire(**filters, limit=form.limit, cursor=cursor)
    return queries.search_wire(form.query, **filters, limit=form.limit, cursor=cursor, sort=form.sort)


def _filters(form: SearchForm, asked: Asked) -> list[Filter]:
    texts = {
        "source": f"from {form.source}",
        "tier": f"in tier {form.tier}",
        "category": f"in {form.category.label}" if form.category else "",
        "topic": f"about {form.topic.label}" if form.topic else "",
        "since": f"since {_moment(form.since)}" if form.since else "",
        "until": f"before {_moment(form.until)}" if form.until else "",
    }
    return [Filter(texts[name], _address(asked, **{name: ""})) for name in FILTERS if asked[name]]


def _moment(moment: dt.datetime) -> str:
    return f"{moment:%-d %B %Y}" if moment.time() == dt.time() else f"{moment:%-d %B %Y, %H:%M UTC}"


def _words(found: StoriesAnswer[SearchOut], query: str) -> Query:
    """What of the stories found is marked: every word that was searched for, and synonyms where these counted."""
    searched = found.suggestion or (query.replace(found.period.said, " ") if found.period else query)
    asked = forms(searched)
    return EVERYTHING if not asked else asked[0 if found.matched == "all words" else -1]


def _summary(story: StoryOut, question: Query) -> str:
    headline, short, medium = map(tokens.tokens, (story.headline, story.summary_short, story.summary_medium))
    is_enough = Text(headline, short).share(question) == Text(headline, medium).share(question)
    return story.summary_short if is_enough else story.summary_medium


def _address(asked: Asked, **changes: str) -> str:
    """The search page with what is asked for and these changes, its first page unless they name another."""
    params = {name: value for name, value in (asked | changes).items() if value and (name, value) != ("sort", Sort.RELEVANCE)}
    return f"/search?{urlencode(params)}" if params else "/search"
