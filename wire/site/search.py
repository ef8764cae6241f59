"""The search page: words, filters, or both."""

import datetime as dt
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote, urlencode

from django.conf import settings
from django.http import HttpRequest, HttpResponse, QueryDict
from pydantic import ValidationError

from config.errors import Forbidden, InvalidArgument, NotInRoster
from config.http.responses import BRIEFLY
from sources import queries as sources_queries
from sources.choices import Tier
from wire import queries
from wire.schemas.params import MAX_QUERY, Group, SearchForm, Sort
from wire.schemas.story import StoryOut
from wire.site.pages import page, public_page
from wire.text import tokens
from wire.text.choices import Category, Topic
from wire.text.search_query import EVERYTHING, Query, Text, list_query_forms

DEFAULTS: Final = {("sort", Sort.RELEVANCE), ("group", Group.EVENT)}
FILTERS: Final = ("source", "tier", "category", "topic", "since", "until")  # as a sentence names them
SUBSCRIBED: Final = ("query", *FILTERS)  # what a feed of a search takes of it

HITS: Final = 15  # on a page
NEAREST: Final = 3  # stories that an empty answer offers

Params = dict[str, str]  # the form's values by field; "" where nothing was chosen


@public_page
def search(request: HttpRequest) -> HttpResponse:
    """Show the form and its results: a search for words, or the newest stories that pass the filters."""
    params = read_params(request.GET, *SUBSCRIBED, "sort", "group")
    publications = sources_queries.list_source_names()
    context: dict[str, Any] = {"asked": params, "categories": Category, "topics": Topic, "tiers": Tier, "sources": publications}
    try:
        form = read_form(params)
        if form.source and form.source not in publications:
            publications.append(form.source)  # replaced on the roster; its stories stay
        if any(params[name] for name in SUBSCRIBED):
            context |= _build_results(form, params, request.GET.get("cursor") or None)
            if form.query and not context["filters"] and not request.GET.get("cursor"):  # filters are for stories alone
                is_best_first = form.sort == Sort.RELEVANCE and form.group == Group.EVENT
                context |= _find_other_documents(form.query, [hit["story"] for hit in context["hits"]] if is_best_first else None)
    except InvalidArgument as error:
        return page(request, "search.html", context | {"refused": error}, "no-store", status=422)
    return page(request, "search.html", context, "no-store" if context.get("degraded") else BRIEFLY)


def read_params(sent: QueryDict, *names: str) -> Params:
    return {name: sent.get(name, "").strip() for name in names}


def read_form(params: Params) -> SearchForm:
    """Return the form's values; spell the publication as the roster does, drop a refused value. Raises: InvalidArgument."""
    try:
        form = SearchForm.model_validate({name: value for name, value in params.items() if value} | {"limit": HITS})
        if form.source:
            form.source = params["source"] = sources_queries.get_canonical_name(form.source)
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        if name == "query":
            raise InvalidArgument(f"The query is longer than {MAX_QUERY} characters.", "Use fewer words.") from None
        refused, params[name] = params[name], ""
        raise InvalidArgument(f"The filter “{name}” rejects {refused!r}.", "Choose from the form, or leave it empty.") from None
    except NotInRoster:
        refused, params["source"] = params["source"], ""
        raise InvalidArgument(f"“{refused}” is not one of the 24 publications.", "Choose one from the list.") from None
    return form


def _build_results(form: SearchForm, params: Params, cursor: str | None) -> dict[str, Any]:
    """Return the context below the form. Raises: InvalidArgument for a query without words and for a strange cursor."""
    chosen: dict[str, Any] = {name: getattr(form, name) for name in FILTERS} | {"limit": form.limit, "cursor": cursor}
    if form.query:
        found = queries.search_wire(form.query, **chosen, sort=form.sort, group=form.group)
    else:
        found = queries.list_filtered_stories(**chosen)
    # To mark in the stories: the words searched for, and synonyms where these counted.
    parsed = list_query_forms(found.suggestion or (form.query.replace(found.period.said, " ") if found.period else form.query))
    question = EVERYTHING if not parsed else parsed[0 if found.matched == "all words" else -1]
    texts = describe_filters(form)
    filters = [{"text": texts[name], "without": _build_search_address(params, **{name: ""})} for name in FILTERS if params[name]]
    words = [term.written for term in parsed[0].terms if term.written] if parsed else []
    nearest = _find_nearest_stories(form) if filters and not found.total else []
    newest = Sort.NEWEST if form.sort == Sort.RELEVANCE else Sort.RELEVANCE
    return {
        "found": found,
        "hits": [{"story": story, "summary": _choose_summary(story, question)} for story in found.stories],
        "question": question,
        "understood": words,
        "names": queries.find_query_names(form.query) if form.query else [],
        "topics_named": [topic for topic in Topic if topic.label.casefold() in words],
        "nearest": nearest or ([] if found.total else queries.list_stories(NEAREST).stories),
        "is_nearest_by_words": bool(nearest),
        "quoted": form.query if '"' in form.query else f"“{form.query}”",
        "filters": filters,
        "is_newest_first": form.sort == Sort.NEWEST or not form.query,
        "other_order": _build_search_address(params, sort=newest) if form.query else None,
        "all_stories": _build_search_address(params, group=Group.NONE) if found.group == Group.EVENT else None,
        "next": _build_search_address(params, cursor=found.next_cursor) if found.next_cursor else None,
        "corrected": _build_search_address(params, query=found.suggestion) if found.suggestion else None,
        "wider": _build_search_address({"query": form.query}) if form.query and filters else None,
        "query_string": f"?{write_query(params)}",
    }


def describe_filters(form: SearchForm) -> dict[str, str]:
    """Return the filters in words, each by its name and as a part of a sentence, in the order of one."""
    texts = {
        "source": f"from {form.source}" if form.source else "",
        "tier": f"in tier {form.tier}" if form.tier else "",
        "category": f"in {form.category.label}" if form.category else "",
        "topic": f"about {form.topic.label}" if form.topic else "",
        "since": f"since {_format_moment(form.since)}" if form.since else "",
        "until": f"before {_format_moment(form.until)}" if form.until else "",
    }
    return {name: text for name, text in texts.items() if text}


def write_query(params: Params) -> str:
    """Return the query string of a search's feed, and of the page that shows what the feed has."""
    return urlencode({name: params[name] for name in SUBSCRIBED if params[name]}, quote_via=quote)


def _find_nearest_stories(form: SearchForm) -> list[StoryOut]:
    """Return the best stories for the words of a search without its filters."""
    return queries.search_wire(form.query, limit=NEAREST).stories if form.query else []


def _find_other_documents(query: str, stories: Sequence[StoryOut] | None) -> dict[str, Any]:
    """Return the hits of other kinds than stories, which link to their events, with the title of each kind; `stories`: the best
    ones, if they are known.
    """
    titles = {name: title for name, title in queries.list_kind_titles().items() if name not in (queries.STORY, queries.EVENT)}
    try:
        found = queries.search_documents(query, ",".join(titles), stories=stories)
    except (InvalidArgument, Forbidden):  # of every other kind; the stories have answered
        return {}
    for hit in found.results:
        hit.url = hit.url.removeprefix(settings.WIRE_SITE_URL)
    groups = [(title, [hit for hit in found.results if hit.kind == name]) for name, title in titles.items()]
    return {"documents": [group for group in groups if group[1]], "degraded": found.degraded}


def _format_moment(moment: dt.datetime) -> str:
    return f"{moment:%-d %B %Y}" if moment.time() == dt.time() else f"{moment:%-d %B %Y, %H:%M UTC}"


def _choose_summary(story: StoryOut, question: Query) -> str:
    """Return the short summary, or the longer one if the short one lacks words of the question."""
    if story.summary_short == story.summary_medium:
        return story.summary_short
    headline, short = map(tokens.tokenize, (story.headline, story.summary_short))
    shares = Text(headline, short).measure_matches(question)
    if all(share == 1 for share in shares):
        return story.summary_short
    more = Text(headline, tokens.tokenize(story.summary_medium)).measure_matches(question)
    return story.summary_short if more == shares else story.summary_medium


def _build_search_address(params: Params, **changes: str) -> str:
    """Return the search page with these parameters and changes; its first page unless `changes` has a cursor."""
    kept = {name: value for name, value in (params | changes).items() if value and (name, value) not in DEFAULTS}
    return f"/search?{urlencode(kept)}" if kept else "/search"
