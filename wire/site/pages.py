"""Pages of the news: days, stories, events, lists, corrections."""

import calendar
from collections import Counter
from collections.abc import Callable
from functools import wraps
from itertools import pairwise
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
from wire import queries
from wire.publishing import editors_take, event_view
from wire.schemas.figures import ActivityOut, format_week, parse_week
from wire.schemas.params import EntityKind, read_date
from wire.schemas.stories_answer import StoriesAnswer
from wire.schemas.story import DayOut
from wire.site import metadata
from wire.site.day_summary import describe_day
from wire.site.errors import not_found
from wire.templatetags.wire_site import render_markdown
from wire.text.choices import Category, Status, Topic

PER_PAGE: Final = 60
PER_LIST: Final = 30
PER_NEW: Final = 80
USUAL_DAYS: Final = 28  # of which the mean is a usual day

T = TypeVar("T")
View = Callable[..., HttpResponse]


def public_page(view: View) -> View:
    """Wrap a page that is only ever read: 404 for missing subjects and bad parameters; any other error is our fault."""

    @require_safe
    @wraps(view)
    def answer_errors(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except NothingPublished:
            return page(request, "empty.html", {}, "no-store")
        except (NotFound, InvalidArgument):
            return not_found(request)

    return answer_errors


def parse_or_404(parse: Callable[[str], T], text: str) -> T:
    """Parse a part of an address or a parameter. Raises: NotFound where `parse` raises ValueError."""
    try:
        return parse(text)
    except ValueError:
        raise NotFound("There is no such page.") from None


def page(request: HttpRequest, template: str, context: dict[str, Any], caching: str = BRIEFLY, status: int = 200) -> HttpResponse:
    response = render(request, template, context, status=status)
    response["Cache-Control"] = caching
    return response


@public_page
def home(request: HttpRequest) -> HttpResponse:
    return _show_day(request, queries.get_today(), SHARED)


@public_page
def day(request: HttpRequest, day: str) -> HttpResponse:
    return _show_day(request, queries.get_archived_day(parse_or_404(read_date, day)), BRIEFLY)


@public_page
def story(request: HttpRequest, story_id: str) -> HttpResponse:
    """Show a story at its permanent address; redirect a pinned id to its revision there."""
    if (pin := queries.find_pinned_revision(story_id)) is not None:
        address = f"{reverse('story', args=[pin[0].chatbotnews_id])}#revision-{pin[1].revision}"
        return HttpResponseRedirect(address, headers={"Cache-Control": BRIEFLY})
    found = queries.get_story(story_id)
    history = queries.list_story_revisions(story_id)
    coverage = queries.get_consensus(story_id=story_id) if found.status != Status.WITHDRAWN else None
    event = queries.view_event(found.event_id) if coverage else None
    addresses = {report.story.chatbotnews_id: report.story.original_url for report in event.reports} if event else {}
    context = {
        "story": found,
        "standing": queries.get_standing_story(story_id) if found.merged_into else None,
        "beside": get_story_extras(found.chatbotnews_id),
        "picture": queries.find_shown_picture(story_id),
        "authors": parse_authors(found.author, found.original_publisher),
        "changes": list(pairwise(history)),
        "first": history[-1],
        "coverage": coverage,
        "event": event,
        "names": queries.list_named_entities([story_id]),
        "siblings": [(one, addresses.get(one.chatbotnews_id, "")) for one in coverage.sibling_details] if coverage else (),
        "graph": metadata.render_graph([metadata.build_article(found)] if found.status != Status.WITHDRAWN else []),
    }
    return page(request, "story.html", context)


@public_page
def event(request: HttpRequest, event_id: str) -> HttpResponse:
    found = queries.view_event(event_id)
    if found.event_id != event_id:
        return HttpResponseRedirect(reverse("event", args=[found.event_id]), headers={"Cache-Control": BRIEFLY})  # events may part
    compared = [report.story for report in found.reports if report.independent]  # one a publication
    coverage, possibly_same = queries.measure_coverage(found), queries.list_possible_duplicates(found)
    storyline_id, *neighbours = queries.find_storyline_neighbours(found.event_id)
    unsure = {other.event_id for other in possibly_same}
    context = {
        "event": found,
        "picture": queries.find_shown_picture(found.lead.chatbotnews_id),
        "coverage": coverage,
        "missing": [name for tier in coverage.tiers for name in tier.silent],
        "not_received": [name for tier in coverage.tiers for name in tier.not_received],
        "compared": [(one, event_view.find_figures(f"{one.headline}. {one.summary_medium}")) for one in compared],
        "names": queries.list_named_entities([report.story.chatbotnews_id for report in found.reports]),
        "headlines": [story.headline for story in compared],
        "storyline_id": storyline_id,
        "neighbours": [None if one is None or one.event_id in unsure else one for one in neighbours],
        "possibly_same": possibly_same,
    }
    return page(request, "event.html", context)


@public_page
def storyline(request: HttpRequest, event_id: str) -> HttpResponse:
    found, events = queries.view_storyline(event_id)
    if found.storyline_id != event_id:
        return HttpResponseRedirect(reverse("storyline", args=[found.storyline_id]), headers={"Cache-Control": BRIEFLY})
    return page(request, "storyline.html", {"storyline": found, "events": events})


@public_page
def week(request: HttpRequest, week: str | None = None) -> HttpResponse:
    """Show a week (default: the latest) by its storylines and events."""
    return page(request, "week.html", queries.view_week(parse_or_404(parse_week, week) if week else None)._asdict())


@public_page
def new_stories(request: HttpRequest) -> HttpResponse:
    """Show the stories that came last. Which of them are new to a reader only the reader's browser knows."""
    return page(request, "new.html", {"list": queries.list_latest_arrivals(PER_NEW)})


@public_page
def category(request: HttpRequest, category: str) -> HttpResponse:
    found = parse_or_404(Category, category)
    listed = queries.list_category_events(found, PER_LIST, request.GET.get("cursor"))
    context = {"name": found.label, "kind": "Category", "list": listed, "feed": f"category-{found}"}
    return page(request, "list.html", context | _describe_trend(queries.get_activity(category=found), f"category={found}"))


@public_page
def topic(request: HttpRequest, topic: str) -> HttpResponse:
    found = parse_or_404(Topic, topic)
    listed = queries.list_topic_events(found, PER_LIST, request.GET.get("cursor"))
    says = queries.get_topic_coverage(found, None, 1).summary
    context = {"name": found.label, "kind": "Topic", "list": listed, "says": says, "feed": f"topic-{found}"}
    return page(request, "list.html", context | _describe_trend(queries.get_activity(topic=found), f"topic={found}"))


@public_page
def topics(request: HttpRequest) -> HttpResponse:
    categories, topics = queries.list_heads()
    kinds = [("category", "Categories", categories), ("topic", "Topics", topics)]
    return page(request, "topics.html", {"kinds": kinds})


@public_page
def entity(request: HttpRequest, slug: str) -> HttpResponse:
    """Show a company, person or product; a name or another spelling of it leads to its page."""
    found = queries.find_entity(slug)
    if found.slug != slug:
        return HttpResponseRedirect(reverse("entity", args=[found.slug]), headers={"Cache-Control": BRIEFLY})
    head = queries.get_entity(slug, limit=1).head
    context = {
        "name": found.name,
        "kind": found.get_kind_display(),
        "list": queries.list_entity_events(found, PER_LIST, request.GET.get("cursor")),
        "says": head.summary,
        "feed": f"about-{slug}",
        "official": head.official_posts,
        "publication": head.publication,
        "storylines": head.storylines,
        "is_entity": True,
    }
    return page(request, "list.html", context | _describe_trend(queries.get_activity(entity=slug), f"entity={slug}"))


@public_page
def named_entities(request: HttpRequest) -> HttpResponse:
    """Show the companies, people and products that stories name, those most in the news lately first."""
    named = [one for one in queries.list_entities().entities if one.stories]
    found = sorted(named, key=lambda one: (-one.recent, -one.stories, one.name.casefold()))
    titles = {EntityKind.COMPANY: "Companies", EntityKind.PERSON: "People", EntityKind.PRODUCT: "Products"}
    kinds = [(title, [one for one in found if one.kind == kind]) for kind, title in titles.items()]
    return page(request, "names.html", {"kinds": kinds})


@public_page
def archive(request: HttpRequest) -> HttpResponse:
    """Show a calendar with the number of stories of each day, a year a page."""
    year, years, days = queries.get_calendar(parse_or_404(int, request.GET["year"]) if "year" in request.GET else None)
    months = []  # newest first; weeks of days, Monday first, each with its number of stories (None: nothing published)
    for first in sorted({day.replace(day=1) for day in days}, reverse=True):
        weeks = calendar.Calendar().monthdatescalendar(first.year, first.month)
        counts = [[(day, days.get(day) if day.month == first.month else None) for day in week] for week in weeks]
        names = [
            format_week(week[0]) if any(number is not None for _, number in week_counts) else ""
            for week, week_counts in zip(weeks, counts, strict=True)
        ]
        months.append({"first": first, "weeks": list(zip(names, counts, strict=True))})
    activity = queries.build_activity(days, min(days, default=None), max(days, default=None))
    context = {"year": year, "years": years, "months": months, "total": sum(days.values()), "activity": activity}
    return page(request, "archive.html", context)


@public_page
def editor_take(request: HttpRequest, day: str) -> HttpResponse:
    found = queries.get_editor_take(parse_or_404(read_date, day))
    return page(request, "editor_take.html", {"take": found, "take_html": render_markdown(found.markdown)})


@public_page
def corrections(request: HttpRequest) -> HttpResponse:
    cards, more = queries.list_corrections(PER_LIST, parse_or_404(int, request.GET["before"]) if "before" in request.GET else None)
    return page(request, "corrections.html", {"corrections": cards, "more": more})


def _describe_trend(activity: ActivityOut, parameters: str) -> dict[str, Any]:
    return {"activity": activity, "activity_address": f"/api/activity.json?{parameters}"}


def _show_day(request: HttpRequest, found: StoriesAnswer[DayOut], caching: str) -> HttpResponse:
    """Show a day's events, most widely reported first, of all categories or one; below a short day those of the days before."""
    chosen = parse_or_404(Category, request.GET["category"]) if request.GET.get("category") else None
    (day, today), *earlier = queries.list_days_down_from(found.wire_date)
    lead = event_view.choose_leading_event(today, day) if chosen is None else None
    events = [event for event in today if event is not lead and chosen in (None, event.lead.category)]
    pages = Paginator(events, PER_PAGE).get_page(request.GET.get("page"))
    lead = lead if pages.number == 1 else None
    totals = Counter(event.lead.category for event in today)
    publications = {one.original_publisher for one in found.stories}
    activity = queries.get_activity(days=USUAL_DAYS, until=found.wire_date)
    days_before = [one.stories for one in activity.days if one.stories and one.date != found.wire_date]
    context = {
        "day": found,
        "pages": pages,
        "chosen": chosen,
        "totals": [(category, totals[category]) for category in Category],
        "events": len(today),
        "lead": lead,
        "picture": queries.find_shown_picture(lead.lead.chatbotnews_id) if lead else None,
        "earlier": earlier if pages.number == pages.paginator.num_pages and chosen is None else (),
        "take_html": render_markdown(editors_take.extract_opening(found.editor_take)),
        "near": queries.list_neighbours(found.wire_date),
        "changed": queries.view_day_changes(found.wire_date),
        "shape": describe_day(today, found.wire_date, len(found.story_json), len(publications), days_before),
        "activity": activity,
        "week": format_week(found.wire_date),
    }
    return page(request, "day.html", context, caching)
