"""The news, for people."""

import calendar
import datetime as dt
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from itertools import pairwise
from typing import Any, Final, TypeVar
from urllib.parse import quote

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe
from pydantic import ValidationError

from citations.formats import authors_of
from config.errors import InvalidArgument, NotFound, NothingPublished, NotInRoster
from config.http.responses import BRIEFLY, SHARED
from sources import queries as sources_queries
from sources.vocabulary import Tier
from wire import queries
from wire.answers import StoriesAnswer
from wire.bounds import MAX_QUERY, SearchQuery, read_date
from wire.schemas import DayOut, SearchOut, StoryOut
from wire.site import metadata
from wire.site.errors import missing
from wire.snapshots import editors_take
from wire.stories.vocabulary import Category, Status, Topic
from wire.templatetags.wire_site import html

PER_PAGE: Final = 60
PER_LIST: Final = 30

T = TypeVar("T")
View = Callable[..., HttpResponse]


@dataclass(frozen=True, slots=True)
class Card:
    """A story, and the stories of other publications that report its event on the same day."""

    story: StoryOut
    others: list[StoryOut]


@dataclass(frozen=True, slots=True)
class Month:
    """Weeks of days, Monday first; each with how many stories it has (None: nothing published, or another month)."""

    first: dt.date
    weeks: list[list[tuple[dt.date, int | None]]]


def public(view: View) -> View:
    """A page that is only ever read, and a 404 page for what is not there or cannot be asked. Any other error is a fault of ours:
    it goes on to Django, which logs it and answers 500.
    """

    @require_safe
    @wraps(view)
    def wrapped(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except NothingPublished:
            return page(request, "empty.html", {}, "no-store")
        except (NotFound, InvalidArgument):
            return missing(request)

    return wrapped


def read(parse: Callable[[str], T], text: str) -> T:
    """A part of an address or a parameter, parsed. Raises: NotFound where `parse` raises ValueError."""
    try:
        return parse(text)
    except ValueError:
        raise NotFound("There is no such page.") from None


def page(request: HttpRequest, template: str, context: dict[str, Any], caching: str = BRIEFLY, status: int = 200) -> HttpResponse:
    response = render(request, template, context, status=status)
    response["Cache-Control"] = caching
    return response


@public
def home(request: HttpRequest) -> HttpResponse:
    """The latest published day."""
    return _day(request, queries.get_today(), SHARED)


@public
def day(request: HttpRequest, day: str) -> HttpResponse:
    """One published day in its latest revision."""
    return _day(request, queries.get_archive(read(read_date, day)), BRIEFLY)


@public
def story(request: HttpRequest, story_id: str) -> HttpResponse:
    """A story's permanent address."""
    found = queries.get_story(story_id)
    history = queries.story_history(story_id)
    coverage = queries.get_consensus(story_id=story_id) if found.status != Status.WITHDRAWN else None
    context = {
        "story": found,
        "authors": authors_of(found.author) if found.author else [],
        "changes": list(pairwise(history)),
        "first": history[-1],
        "coverage": coverage,
        "graph": metadata.graph([metadata.article(found)] if found.status != Status.WITHDRAWN else []),
    }
    return page(request, "story.html", context)


@public
def event(request: HttpRequest, event_id: str) -> HttpResponse:
    """One happening, as every publication tells it."""
    found = queries.get_event(event_id)
    if found.event_id != event_id:
        return HttpResponsePermanentRedirect(reverse("event", args=[found.event_id]))
    return page(request, "event.html", {"event": found, "lead": max(found.stories, key=lambda cards: cards.consensus_score)})


@public
def category(request: HttpRequest, category: str) -> HttpResponse:
    """Stories of a category, of all days."""
    found = read(Category, category)
    listed = queries.get_category(found, PER_LIST, request.GET.get("cursor"))
    return page(request, "list.html", {"name": found.label, "kind": "Category", "list": listed, "feed": f"category-{found}"})


@public
def topic(request: HttpRequest, topic: str) -> HttpResponse:
    """Stories about a topic, of all days."""
    found = read(Topic, topic)
    listed = queries.get_topic_coverage(found, None, PER_LIST, request.GET.get("cursor"))
    context = {"name": found.label, "kind": "Topic", "list": listed, "says": listed.summary, "feed": f"topic-{found}"}
    return page(request, "list.html", context)


@public
def search(request: HttpRequest) -> HttpResponse:
    """A form, and what was found."""
    params = {
        name: request.GET.get(name, "").strip() for name in ("query", "category", "topic", "source", "tier", "since", "until")
    }
    context: dict[str, Any] = {"asked": params, "categories": Category, "topics": Topic, "tiers": Tier}
    context["sources"] = [source.name for source in sources_queries.list_sources().sources]
    if params["query"]:
        try:
            context["found"] = _search(params, request.GET.get("cursor"))
        except InvalidArgument as error:
            strange = InvalidArgument(f"“{params['source']}” is not one of the 24 publications.", "Choose one from the list.")
            context["refused"] = strange if isinstance(error, NotInRoster) else error
            return page(request, "search.html", context, "no-store", status=422)
        following = context["found"].next_cursor
        context["next"] = _with(request, cursor=following) if following else None
        if not any(value for name, value in params.items() if name != "query"):  # a feed of a search knows no filters
            context["query_string"] = f"?query={quote(params['query'], safe='')}"
        context["corrected"] = _with(request, query=context["found"].suggestion or "", cursor="")
    return page(request, "search.html", context)


@public
def archive(request: HttpRequest) -> HttpResponse:
    """A calendar with the number of stories of each day, a year a page."""
    found = queries.calendar(read(int, request.GET["year"]) if "year" in request.GET else None)
    if found.years and found.year not in found.years:
        raise NotFound("There is no such year.")
    months = sorted({day.replace(day=1) for day in found.days}, reverse=True)
    context = {
        "year": found.year,
        "years": found.years,
        "months": [_month(first, found.days) for first in months],
        "total": sum(found.days.values()),
    }
    return page(request, "archive.html", context)


@public
def editor_take(request: HttpRequest, day: str) -> HttpResponse:
    """A day's brief."""
    found = queries.get_editor_take(read(read_date, day))
    return page(request, "editor_take.html", {"take": found, "take_html": html(found.markdown)})


@public
def corrections(request: HttpRequest) -> HttpResponse:
    """What editors changed in published stories."""
    cards, more = queries.corrections(PER_LIST, read(int, request.GET["before"]) if "before" in request.GET else None)
    return page(request, "corrections.html", {"corrections": cards, "more": more})


def _day(request: HttpRequest, found: StoriesAnswer[DayOut], caching: str) -> HttpResponse:
    by_event: dict[str, list[StoryOut]] = defaultdict(list)
    for one in found.stories:
        by_event[one.event_id].append(one)
    cards = [
        Card(one, [other for other in by_event[one.event_id] if other.original_publisher != one.original_publisher])
        for category in Category
        for one in found.stories
        if one.category == category
    ]
    pages = Paginator(cards, PER_PAGE).get_page(request.GET.get("page"))
    quotable = [one for one in cards if not one.story.untrusted_instructions]
    lead = max(quotable, key=_weight, default=None) if pages.number == 1 else None
    context = {
        "day": found,
        "pages": pages,
        "sections": _sections(pages.object_list),
        "totals": [(category, sum(one.story.category == category for one in cards)) for category in Category],
        "lead": lead,
        "take_html": html(editors_take.opening(found.editor_take)),
        "near": queries.neighbours(found.wire_date),
        "events": len(by_event),
        "publications": len({one.original_publisher for one in found.stories}),
    }
    return page(request, "day.html", context, caching)


def _weight(cards: Card) -> tuple[float, int, float]:
    """What leads a day: the event with the most consensus; of its stories the first."""
    return cards.story.consensus_score, cards.story.cross_source_count, -cards.story.published_at.timestamp()


def _sections(cards: Iterable[Card]) -> list[tuple[Category, list[Card]]]:
    found: dict[Category, list[Card]] = defaultdict(list)
    for one in cards:
        found[one.story.category].append(one)
    return list(found.items())


def _search(params: dict[str, str], cursor: str | None) -> StoriesAnswer[SearchOut]:
    """Raises: InvalidArgument, NotInRoster for what cannot be asked."""
    try:
        asked = SearchQuery(**{name: value for name, value in params.items() if value}, limit=PER_LIST)  # type: ignore[arg-type]
    except ValidationError as error:
        name = str(error.errors()[0]["loc"][0])
        if name == "query":
            raise InvalidArgument(f"The query is longer than {MAX_QUERY} characters.", "Ask for fewer words.") from None
        what = f"The filter “{name}” cannot be {params[name]!r}."
        raise InvalidArgument(what, "Choose from the form, or leave it empty.") from None
    return queries.search_wire(**dict(asked) | {"cursor": cursor or None})


def _with(request: HttpRequest, **changes: str) -> str:
    params = request.GET.copy()
    for name, value in changes.items():
        params[name] = value
    return params.urlencode()


def _month(first: dt.date, counts: dict[dt.date, int]) -> Month:
    weeks = calendar.Calendar().monthdatescalendar(first.year, first.month)
    return Month(first, [[(day, counts.get(day) if day.month == first.month else None) for day in week] for week in weeks])
