"""What every public answer carries. The admin is private and keeps Django's own headers."""

import hashlib
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers

from config.answers import error_answer
from config.errors import MethodNotAllowed

Handler = Callable[[HttpRequest], HttpResponse]


def public_headers(get_response: Handler) -> Callable[[HttpRequest], HttpResponseBase]:
    """A strict policy for pages; a strong ETag and its 304; HEAD wherever GET is; under /api/ open CORS, preflight too, and only
    reading.
    """

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.path.startswith(("/admin/", "/static/")):
            return get_response(request)
        request.COOKIES = {}  # pages know nobody: a session that is none would be deleted by an answer that caches may keep
        is_api = request.path.startswith("/api/")
        if is_api and request.method == "OPTIONS":
            return HttpResponse(status=204, headers=_PREFLIGHT)
        is_read = request.method in {"GET", "HEAD"}
        if is_api and not is_read:
            response = error_answer(MethodNotAllowed())
            response["Allow"] = _PREFLIGHT["Access-Control-Allow-Methods"]
        else:
            response = _as_get(get_response, request)
        if response.get("Content-Type", "").startswith("text/html"):
            response["Content-Security-Policy"] = _POLICY
        if is_read and response.status_code == 200 and not response.streaming:
            patch_vary_headers(response, ["Accept-Encoding"])
            response["ETag"] = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
            response = get_conditional_response(request, response["ETag"], None, response) or response
        if is_api:  # last, so that a 304 has them too
            response["Access-Control-Allow-Origin"] = "*"
            response["Access-Control-Expose-Headers"] = "ETag, Retry-After"
        return response

    return middleware


def _as_get(get_response: Handler, request: HttpRequest) -> HttpResponse:
    """The answer to a HEAD is that to a GET: views know GET only, and the server drops the body on the way out."""
    asked = request.method
    if asked == "HEAD":
        request.method = "GET"
    response = get_response(request)
    request.method = asked
    return response


# Nothing from elsewhere, nothing inline (JSON-LD is data, which no policy concerns).
_POLICY = (
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
    "base-uri 'none'; frame-ancestors 'none'"
)
_PREFLIGHT = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
    "Access-Control-Allow-Headers": "*",
    "Access-Control-Max-Age": "86400",
}
