"""The news, for people."""

import calendar
import datetime as dt
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import wraps
from itertools import pairwise
from typing import Any, Final, TypeVar

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from citations.names import authors_of
from config.errors import InvalidArgument, NotFound, NothingPublished
from config.http.responses import BRIEFLY, SHARED
from sources import queries as sources_queries
from sources.vocabulary import Tier
from wire import beside, queries
from wire.answers import StoriesAnswer
from wire.bounds import read_date
from wire.schemas import DayOut
from wire.site import metadata
from wire.site.errors import missing
from wire.snapshots import editors_take, event_view
from wire.snapshots.event_view import EventView
from wire.stories.vocabulary import Category, Status, Topic
from wire.templatetags.wire_site import html

PER_PAGE: Final = 60
PER_LIST: Final = 30

T = TypeVar("T")
View = Callable[..., HttpResponse]


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
    """A story's permanent address; of one revision, if that is named."""
    if (pin := queries.pinned(story_id)) is not None:
        address = f"{reverse('story', args=[pin[0].chatbotnews_id])}#revision-{pin[1].revision}"
        return HttpResponseRedirect(address, headers={"Cache-Control": BRIEFLY})
    found = queries.get_story(story_id)
    history = queries.story_history(story_id)
    coverage = queries.get_consensus(story_id=story_id) if found.status != Status.WITHDRAWN else None
    context = {
        "story": found,
        "beside": beside.of_story(found.chatbotnews_id),
        "authors": authors_of(found.author, found.original_publisher),
        "changes": list(pairwise(history)),
        "first": history[-1],
        "coverage": coverage,
        "event": queries.view_event(found.event_id) if coverage else None,
        "graph": metadata.graph([metadata.article(found)] if found.status != Status.WITHDRAWN else []),
    }
    return page(request, "story.html", context)


@public
def event(request: HttpRequest, event_id: str) -> HttpResponse:
    """One happening, with every report of it."""
    found = queries.view_event(event_id)
    if found.event_id != event_id:
        return HttpResponseRedirect(reverse("event", args=[found.event_id]), headers={"Cache-Control": BRIEFLY})  # events may part
    stories = [report.story for report in found.reports]
    compared = [report.story for report in found.reports if report.independent]  # one a publication
    publications = {story.original_publisher for story in stories}
    context = {
        "event": found,
        "publications": len(publications),
        "tiers": [(tier, sum(story.original_publisher_tier == tier for story in stories)) for tier in Tier],
        "missing": [source for source in sources_queries.list_sources().sources if source.name not in publications],
        "compared": [(one, event_view.figures(f"{one.headline}. {one.summary_medium}")) for one in compared],
        "headlines": [story.headline for story in compared],
    }
    return page(request, "event.html", context)


@public
def category(request: HttpRequest, category: str) -> HttpResponse:
    """Events with a story of a category, of all days."""
    found = read(Category, category)
    listed = queries.category_events(found, PER_LIST, request.GET.get("cursor"))
    return page(request, "list.html", {"name": found.label, "kind": "Category", "list": listed, "feed": f"category-{found}"})


@public
def topic(request: HttpRequest, topic: str) -> HttpResponse:
    """Events with a story about a topic, of all days."""
    found = read(Topic, topic)
    listed = queries.topic_events(found, PER_LIST, request.GET.get("cursor"))
    says = queries.get_topic_coverage(found, None, 1).summary
    context = {"name": found.label, "kind": "Topic", "list": listed, "says": says, "feed": f"topic-{found}"}
    return page(request, "list.html", context)


@public
def topics(request: HttpRequest) -> HttpResponse:
    """Every category and topic, how many stories each has, and its newest."""
    categories, topics = queries.list_heads()
    kinds = [("category", "Categories", categories), ("topic", "Topics", topics)]
    return page(request, "topics.html", {"kinds": kinds})


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
    """A day's events by category, and below a short day those of the days before."""
    today, *earlier = queries.days_down_from(found.wire_date)
    lead = event_view.leading(today.events)
    events = [event for category in Category for event in today.events if event.lead.category == category and event is not lead]
    pages = Paginator(events, PER_PAGE).get_page(request.GET.get("page"))
    totals = Counter(event.lead.category for event in today.events)
    context = {
        "day": found,
        "pages": pages,
        "sections": _sections(pages.object_list),
        "totals": [(category, totals[category]) for category in Category],
        "lead": lead if pages.number == 1 else None,
        "earlier": earlier if pages.number == pages.paginator.num_pages else (),
        "take_html": html(editors_take.opening(found.editor_take)),
        "near": queries.neighbours(found.wire_date),
        "withdrawn": queries.withdrawn_on(found.wire_date),
        "stories": len(found.story_json),
        "events": len(today.events),
        "publications": len({one.original_publisher for one in found.stories}),
    }
    return page(request, "day.html", context, caching)


def _sections(events: Iterable[EventView]) -> list[tuple[Category, list[EventView]]]:
    found: dict[Category, list[EventView]] = defaultdict(list)
    for event in events:
        found[event.lead.category].append(event)
    return list(found.items())


def _month(first: dt.date, counts: dict[dt.date, int]) -> Month:
    weeks = calendar.Calendar().monthdatescalendar(first.year, first.month)
    return Month(first, [[(day, counts.get(day) if day.month == first.month else None) for day in week] for week in weeks])
