"""What every public answer carries. The admin is private and keeps Django's own headers."""

import hashlib
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_vary_headers

Handler = Callable[[HttpRequest], HttpResponse]


def public_headers(get_response: Handler) -> Callable[[HttpRequest], HttpResponseBase]:
    """A strong ETag and its 304; HEAD wherever GET is; open CORS under /api/, preflight included."""

    def middleware(request: HttpRequest) -> HttpResponseBase:
        if request.path.startswith(("/admin/", "/static/")):
            return get_response(request)
        is_api = request.path.startswith("/api/")
        if is_api and request.method == "OPTIONS":
            return HttpResponse(status=204, headers=_PREFLIGHT)
        head = request.method == "HEAD"
        if head:
            request.method = "GET"  # views know GET only; the body is dropped on the way out
        response = get_response(request)
        if head:
            request.method = "HEAD"
        if is_api:
            response["Access-Control-Allow-Origin"] = "*"
            response["Access-Control-Expose-Headers"] = "ETag, Retry-After"
        if response.status_code != 200 or response.streaming or request.method not in {"GET", "HEAD"}:
            return response
        patch_vary_headers(response, ["Accept-Encoding"])
        response["ETag"] = f'"{hashlib.sha256(response.content).hexdigest()[:32]}"'
        return get_conditional_response(request, response["ETag"], None, response) or response

    return middleware


_PREFLIGHT = {
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Allow-Methods": "GET, HEAD, OPTIONS",
    "Access-Control-Allow-Headers": "*",
    "Access-Control-Max-Age": "86400",
}
