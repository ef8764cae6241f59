"""What people and machines read outside /api/: the home page, health, keys, and pages for what is not there."""

import logging

from django.db import connection
from django.db.utils import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.safestring import SafeString
from django.views.decorators.http import require_safe
from django.views.defaults import bad_request
from markdown_it import MarkdownIt

from config.answers import BRIEFLY, SHARED, answer, error_answer, json_answer
from config.errors import BadRequest, InternalError, NotFound, NothingPublished
from sources import queries as sources_queries
from wire import directives, queries
from wire.bounds import read_date
from wire.vocabulary import Category

log = logging.getLogger(__name__)


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """The latest published day, for people."""
    try:
        day = queries.get_today()
    except NothingPublished:
        return render(request, "empty.html", status=200)
    sections = [(category.label, [story for story in day.stories if story.category == category]) for category in Category]
    shown = [(label, rows) for label, rows in sections if rows]
    response = render(request, "home.html", {"day": day, "sections": shown, **directives.addresses()})
    response["Cache-Control"] = SHARED
    return response


@require_safe
def story(request: HttpRequest, story_id: str) -> HttpResponse:
    """A story's permanent address."""
    try:
        found = queries.get_story(story_id)
    except NotFound:
        return missing(request)
    response = render(request, "story.html", {"story": found, "sample": queries.is_sample()})
    response["Cache-Control"] = BRIEFLY
    return response


@require_safe
def editor_take(request: HttpRequest, day: str) -> HttpResponse:
    """A day's brief."""
    try:
        found = queries.get_editor_take(read_date(day))
    except (NotFound, ValueError):
        return missing(request)
    context = {"take": found, "take_html": _html(found.markdown), "sample": queries.is_sample()}
    response = render(request, "editor_take.html", context)
    response["Cache-Control"] = BRIEFLY
    return response


@require_safe
def sources(request: HttpRequest) -> HttpResponse:
    """The roster, for people."""
    context = {"roster": sources_queries.list_sources(), "sample": queries.is_sample()}
    response = render(request, "sources.html", context)
    response["Cache-Control"] = BRIEFLY
    return response


@require_safe
def freshness(request: HttpRequest) -> HttpResponse:
    """How old each source is, for people."""
    context = {"health": sources_queries.feeds_health(), "sample": queries.is_sample()}
    response = render(request, "freshness.html", context)
    response["Cache-Control"] = "no-store"
    return response


@require_safe
def mcp_spec(request: HttpRequest) -> HttpResponse:
    """The MCP contract, for people."""
    response = render(request, "mcp_spec.html", {"spec_html": _html(directives.spec()), "sample": queries.is_sample()})
    response["Cache-Control"] = BRIEFLY
    return response


@require_safe
def llms_txt(_request: HttpRequest) -> HttpResponse:
    """Directives for crawlers and agents."""
    return HttpResponse(directives.llms_txt(), content_type="text/plain; charset=utf-8", headers={"Cache-Control": BRIEFLY})


@require_safe
def server_card(_request: HttpRequest) -> HttpResponse:
    """Who the MCP server is, for clients that did not connect yet; any site's script may read it."""
    headers = {"Cache-Control": "public, max-age=3600", "Access-Control-Allow-Origin": "*"}
    return HttpResponse(directives.server_card(), content_type="application/json", headers=headers)


@require_safe
def wire_keys(_request: HttpRequest) -> HttpResponse:
    """Public keys that ever signed a snapshot."""
    return answer(queries.wire_keys(), BRIEFLY)


@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    """The process answers; nothing else is asked."""
    return json_answer({"status": "ok"}, "no-store")


@require_safe
def readyz(_request: HttpRequest) -> HttpResponse:
    """200 when the database answers and a snapshot is served, else 503; tells the age of the snapshot in seconds."""
    try:
        connection.ensure_connection()
        snapshot = queries.latest_snapshot()
    except DatabaseError:
        log.exception("The database does not answer.")
        return _not_ready("database", "The database does not answer; the log says why.")
    except NothingPublished as error:
        return _not_ready("snapshot", error.message)
    age = int((timezone.now() - snapshot.generated_at).total_seconds())
    return json_answer(
        {"status": "ready", "wire_date": snapshot.wire_date, "sequence": snapshot.sequence, "snapshot_age_seconds": age}, "no-store"
    )


def _html(markdown: str) -> SafeString:
    """Markdown of ours as HTML. Raw HTML in it is escaped (html=False), so the result is safe to show."""
    return SafeString(MarkdownIt("commonmark", {"html": False}).enable("table").render(markdown))


def _not_ready(what: str, why: str) -> HttpResponse:
    response = json_answer({"status": "not ready", "what": what, "why": why}, "no-store")
    response.status_code = 503
    return response


def unreadable(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400, as JSON under /api/ and as Django has it elsewhere."""
    if request.path.startswith("/api/"):
        return error_answer(BadRequest())
    return bad_request(request, exception)


def missing(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001
    """404, as JSON under /api/ and as a page elsewhere."""
    if request.path.startswith("/api/"):
        return error_answer(NotFound("There is no such address.", "All addresses are described in /api/openapi.json."))
    try:
        return render(request, "404.html", {"sample": queries.is_sample()}, status=404)
    finally:
        if not connection.in_atomic_block:
            connection.close()  # Django runs handler404 in a thread that never gives its connection back by itself


def failed(request: HttpRequest) -> HttpResponse:
    """500, telling nothing internal."""
    if request.path.startswith("/api/"):
        return error_answer(InternalError())
    return render(request, "500.html", status=500)
