"""Pages and answers for errors, and whether the wire is well."""

import logging

from django.db import connection, connections
from django.db.utils import Error
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe
from django.views.defaults import bad_request

from config.database.routing import is_outage
from config.errors import BadRequest, InternalError, NotFound, NothingPublished, Unavailable
from config.http.middleware import build_unavailable_response
from config.http.responses import dump_json, error_response
from wire import queries

log = logging.getLogger(__name__)


@require_safe
def healthz(_request: HttpRequest) -> HttpResponse:
    return dump_json({"status": "ok"}, "no-store")


@require_safe
def readyz(_request: HttpRequest) -> HttpResponse:
    """Answer 200 with the age of the snapshot in seconds when the database answers and a snapshot is served, else 503."""
    try:
        snapshot = queries.get_latest_snapshot()
    except Unavailable:
        return _build_503("database", "The database does not answer; the log says why. Cached answers are served, marked as stale.")
    except Error:
        log.exception("The database does not answer.")
        return _build_503("database", "The database does not answer; the log says why.")
    except NothingPublished as error:
        return _build_503("snapshot", error.message)
    age = int((timezone.now() - snapshot.generated_at).total_seconds())
    return dump_json(
        {"status": "ready", "wire_date": snapshot.wire_date, "sequence": snapshot.sequence, "snapshot_age_seconds": age}, "no-store"
    )


def _build_503(what: str, why: str) -> HttpResponse:
    response = dump_json({"status": "not ready", "what": what, "why": why}, "no-store")
    response.status_code = 503
    return response


def bad_request_page(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Answer 400, as JSON under /api/ and as Django does elsewhere."""
    if request.path.startswith("/api/"):
        return error_response(BadRequest())
    return bad_request(request, exception)


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001  it tells of cookies and tokens
    """Answer 403 for a form of the desk that was opened before its editor logged in anew, 405 elsewhere."""
    if not request.path.startswith("/admin/"):
        return HttpResponseNotAllowed(("GET", "HEAD"))
    return _render_error_page(request, "403_csrf.html", 403)


def forbidden(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001
    """Answer 403 with what to do about it; only the desk forbids anything."""
    return _render_error_page(request, "403.html", 403)


def not_found(request: HttpRequest, exception: Exception | None = None) -> HttpResponse:  # noqa: ARG001
    """Answer 404, as JSON under /api/ and as a page elsewhere."""
    if request.path.startswith("/api/"):
        return error_response(NotFound("There is no such address.", "All addresses are described in /api/openapi.json."))
    return _render_error_page(request, "404.html", 404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Answer 500 without anything internal."""
    if request.path.startswith("/api/"):
        return error_response(InternalError())
    return render(request, "500.html", status=500)


def _render_error_page(request: HttpRequest, template: str, status: int) -> HttpResponse:
    """Render a page about an error; 503 while the database is away."""
    try:
        return render(request, template, status=status)
    except (Error, Unavailable) as error:
        if not is_outage(error):
            raise
        return build_unavailable_response(request)
    finally:
        if not connection.in_atomic_block:
            connections.close_all()  # Django runs its handlers in a thread that never gives its connections back by itself
