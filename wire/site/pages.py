"""Pages of the news: days, stories, events, lists, corrections."""

import calendar
from collections import Counter
from collections.abc import Callable
from functools import wraps
from itertools import groupby, pairwise
from typing import Any, Final, TypeVar

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from citations.format.bylines import parse_authors
from config.errors import InvalidArgument, NotFound, NothingPublished
from config.http.responses import BRIEFLY, SHARED
from config.plugins import get_story_extras
from sources import queries as sources_queries
from sources.vocabulary import Tier
from wire import queries
from wire.publishing import editors_take, event_view
from wire.schemas.params import read_date
from wire.schemas.stories_answer import StoriesAnswer
from wire.schemas.story import DayOut
from wire.site import metadata
from wire.site.errors import missing
from wire.templatetags.wire_site import html
from wire.text.vocabulary import Category, Status, Topic

PER_PAGE: Final = 60
PER_LIST: Final = 30

T = TypeVar("T")
View = Callable[..., HttpResponse]


def public(view: View) -> View:
    """Wrap a page that is only ever read: 404 for missing subjects and bad parameters; any other error is our fault."""

    @require_safe
    @wraps(view)
    def answer_errors(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except NothingPublished:
            return page(request, "empty.html", {}, "no-store")
        except (NotFound, InvalidArgument):
            return missing(request)

    return answer_errors


def read(parse: Callable[[str], T], text: str) -> T:
    """Parse a part of an address or a parameter. Raises: NotFound where `parse` raises ValueError."""
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
    return _show_day(request, queries.get_today(), SHARED)


@public
def day(request: HttpRequest, day: str) -> HttpResponse:
    return _show_day(request, queries.get_archive(read(read_date, day)), BRIEFLY)


@public
def story(request: HttpRequest, story_id: str) -> HttpResponse:
    """Show a story at its permanent address; redirect a pinned id to its revision there."""
    if (pin := queries.resolve_pin(story_id)) is not None:
        address = f"{reverse('story', args=[pin[0].chatbotnews_id])}#revision-{pin[1].revision}"
        return HttpResponseRedirect(address, headers={"Cache-Control": BRIEFLY})
    found = queries.get_story(story_id)
    history = queries.story_history(story_id)
    coverage = queries.get_consensus(story_id=story_id) if found.status != Status.WITHDRAWN else None
    context = {
        "story": found,
        "standing": queries.get_standing_story(story_id) if found.merged_into else None,
        "beside": get_story_extras(found.chatbotnews_id),
        "authors": parse_authors(found.author, found.original_publisher),
        "changes": list(pairwise(history)),
        "first": history[-1],
        "coverage": coverage,
        "event": queries.view_event(found.event_id) if coverage else None,
        "graph": metadata.graph([metadata.article(found)] if found.status != Status.WITHDRAWN else []),
    }
    return page(request, "story.html", context)


@public
def event(request: HttpRequest, event_id: str) -> HttpResponse:
    found = queries.view_event(event_id)
    if found.event_id != event_id:
        return HttpResponseRedirect(reverse("event", args=[found.event_id]), headers={"Cache-Control": BRIEFLY})  # events may part
    stories = [report.story for report in found.reports]
    compared = [report.story for report in found.reports if report.independent]  # one a publication
    publications = {story.original_publisher for story in stories}
    not_received = queries.list_not_received([story.published_at for story in stories])
    others = [source.name for source in sources_queries.list_sources().sources if source.name not in publications]
    context = {
        "event": found,
        "publications": len(publications),
        "tiers": [(tier, sum(story.original_publisher_tier == tier for story in stories)) for tier in Tier],
        "missing": [name for name in others if name not in not_received],
        "not_received": [name for name in others if name in not_received],
        "compared": [(one, event_view.figures(f"{one.headline}. {one.summary_medium}")) for one in compared],
        "headlines": [story.headline for story in compared],
        "neighbours": queries.find_neighbours(found.event_id),
        "possibly_same": queries.list_possibly_same(found),
    }
    return page(request, "event.html", context)


@public
def storyline(request: HttpRequest, event_id: str) -> HttpResponse:
    found, events = queries.view_storyline(event_id)
    if found.storyline_id != event_id:
        return HttpResponseRedirect(reverse("storyline", args=[found.storyline_id]), headers={"Cache-Control": BRIEFLY})
    return page(request, "storyline.html", {"storyline": found, "events": events})


@public
def category(request: HttpRequest, category: str) -> HttpResponse:
    found = read(Category, category)
    listed = queries.category_events(found, PER_LIST, request.GET.get("cursor"))
    return page(request, "list.html", {"name": found.label, "kind": "Category", "list": listed, "feed": f"category-{found}"})


@public
def topic(request: HttpRequest, topic: str) -> HttpResponse:
    found = read(Topic, topic)
    listed = queries.topic_events(found, PER_LIST, request.GET.get("cursor"))
    says = queries.get_topic_coverage(found, None, 1).summary
    context = {"name": found.label, "kind": "Topic", "list": listed, "says": says, "feed": f"topic-{found}"}
    return page(request, "list.html", context)


@public
def topics(request: HttpRequest) -> HttpResponse:
    categories, topics = queries.list_heads()
    kinds = [("category", "Categories", categories), ("topic", "Topics", topics)]
    return page(request, "topics.html", {"kinds": kinds})


@public
def archive(request: HttpRequest) -> HttpResponse:
    """Show a calendar with the number of stories of each day, a year a page."""
    year, years, days = queries.calendar(read(int, request.GET["year"]) if "year" in request.GET else None)
    months = []  # newest first; weeks of days, Monday first, each with its number of stories (None: nothing published)
    for first in sorted({day.replace(day=1) for day in days}, reverse=True):
        weeks = calendar.Calendar().monthdatescalendar(first.year, first.month)
        counts = [[(day, days.get(day) if day.month == first.month else None) for day in week] for week in weeks]
        months.append({"first": first, "weeks": counts})
    return page(request, "archive.html", {"year": year, "years": years, "months": months, "total": sum(days.values())})


@public
def editor_take(request: HttpRequest, day: str) -> HttpResponse:
    found = queries.get_editor_take(read(read_date, day))
    return page(request, "editor_take.html", {"take": found, "take_html": html(found.markdown)})


@public
def corrections(request: HttpRequest) -> HttpResponse:
    cards, more = queries.corrections(PER_LIST, read(int, request.GET["before"]) if "before" in request.GET else None)
    return page(request, "corrections.html", {"corrections": cards, "more": more})


def _show_day(request: HttpRequest, found: StoriesAnswer[DayOut], caching: str) -> HttpResponse:
    """Show a day's events by category, and below a short day those of the days before."""
    (day, today), *earlier = queries.days_down_from(found.wire_date)
    lead = event_view.leading(today, day)
    events = [event for category in Category for event in today if event.lead.category == category and event is not lead]
    pages = Paginator(events, PER_PAGE).get_page(request.GET.get("page"))
    totals = Counter(event.lead.category for event in today)
    context = {
        "day": found,
        "pages": pages,
        "sections": [(name, list(group)) for name, group in groupby(pages.object_list, lambda event: event.lead.category)],
        "totals": [(category, totals[category]) for category in Category],
        "lead": lead if pages.number == 1 else None,
        "earlier": earlier if pages.number == pages.paginator.num_pages else (),
        "take_html": html(editors_take.opening(found.editor_take)),
        "near": queries.list_neighbours(found.wire_date),
        "withdrawn": queries.withdrawn_on(found.wire_date),
        "stories": len(found.story_json),
        "events": len(today),
        "publications": len({one.original_publisher for one in found.stories}),
    }
    return page(request, "day.html", context, caching)
