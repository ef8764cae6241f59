"""Headers of every public answer. The desk is private: it keeps Django's own headers, and has a policy of its own."""

import hashlib
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.template.loader import render_to_string
from django.utils.cache import get_conditional_response, patch_vary_headers
from django.utils.deprecation import MiddlewareMixin

from config.database import routing
from config.errors import MethodNotAllowed, Unavailable
from config.http.responses import BRIEFLY, error_response

Handler = Callable[[HttpRequest], HttpResponse]


def public_headers(get_response: Handler) -> Callable[[HttpRequest], HttpResponseBase]:
    """Add a strict policy for pages, a strong ETag and its 304, HEAD wherever GET is, and open CORS under /api/."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.path.startswith("/admin/"):
            response = build_unavailable_response(request) if routing.explain_missing_file() else get_response(request)
            response["Content-Security-Policy"] = _DESK_POLICY
            return response
        if request.path.startswith("/static/"):
            return get_response(request)
        request.urlconf = settings.PUBLIC_URLCONF
        request.COOKIES = {}  # pages know nobody: a session that is none would be deleted by an answer that caches may keep
        is_api = request.path.startswith("/api/")
        if is_api and request.method == "OPTIONS":
            return HttpResponse(status=204, headers=_PREFLIGHT)
        is_read = request.method in {"GET", "HEAD"}
        if is_api and not is_read:
            response = error_response(MethodNotAllowed())
            response["Allow"] = _PREFLIGHT["Access-Control-Allow-Methods"]
        else:
            method = request.method
            if method == "HEAD":  # views know GET only, and the server drops the body on the way out
                request.method = "GET"
            with routing.public_reads():
                response = get_response(request)
            request.method = method
        if response.get("Content-Type", "").startswith("text/html"):
            response["Content-Security-Policy"] = _POLICY
        if is_api and is_read and response.status_code == 200:
            response.setdefault("Cache-Control", BRIEFLY)  # what ninja itself answers says nothing
        if is_read and response.status_code == 200 and not response.streaming:
            patch_vary_headers(response, ["Accept-Encoding"])
            response["ETag"] = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
            response = get_conditional_response(request, response["ETag"], None, response) or response
        if is_api:  # last, so that a 304 has them too
            response["Access-Control-Allow-Origin"] = "*"
            response["Access-Control-Expose-Headers"] = (
                "ETag, Retry-After, Warning, Age, Content-Digest, Memento-Datetime, Link, PAYMENT-REQUIRED, PAYMENT-RESPONSE"
            )
        return response

    return middleware


class DatabaseAway(MiddlewareMixin):
    """Answer 503 where the database cannot be read, and when to ask again. A page for it needs no database."""

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not routing.is_outage(error):
            return None
        routing.close_broken_connection()
        return build_unavailable_response(request)


def build_unavailable_response(request: HttpRequest) -> HttpResponse:
    answer = error_response(Unavailable())
    if not request.path.startswith("/api/"):
        answer.content, answer["Content-Type"] = render_to_string("503.html").encode(), "text/html; charset=utf-8"
    return answer


# Nothing from elsewhere, nothing inline (JSON-LD is data, which no policy concerns).
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
# The desk's scripts and style sheets are files as well. But Alpine.js, as Unfold ships it, makes functions of the expressions in
# attributes, and select2, and Unfold where it shows JSON, write style attributes.
_DESK_POLICY = (
    "default-src 'none'; style-src 'self'; style-src-attr 'unsafe-inline'; script-src 'self' 'unsafe-eval'; img-src 'self'; "
    "font-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
_PREFLIGHT = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
    "Access-Control-Allow-Headers": "*, Authorization",  # which `*` does not cover (Fetch standard)
    "Access-Control-Max-Age": "86400",
}
