"""The desk's login: limits failed tries of one client, and under one name, within five minutes; with Redis over all processes."""

import datetime as dt
import secrets
import threading
from collections.abc import Callable
from functools import cache, partial
from typing import Final

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from config.http.client_address import get_client_key
from config.ratelimit.limiter import Limiter
from config.unicode import normalize

# Against guesses from many addresses. More than one client can fill, and not for browsers that logged in under this name before:
# a stranger does not lock an editor out by failing under the editor's name.
OF_A_NAME: Final = "100/5m"
KNOWN_BROWSER: Final = "desk_browser"
REMEMBERED: Final = dt.timedelta(days=180)
# A cache alone lets two threads that come first make one counter each, and tries in the lost one are not counted.
_MAKING: Final = threading.Lock()

Counter = tuple[Callable[[str], int], Callable[[str], None]]  # counts a try of a key, and takes it back


def login(request: HttpRequest) -> HttpResponse:
    """Show the admin's login and count its failures; beyond a limit nothing is tried, and the answer says when it will be."""
    if request.method != "POST":
        return admin.site.login(request)
    name = normalize("NFKC", request.POST.get("username", "")).strip().casefold()[:150]
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").encode("latin-1", "replace")
    client = get_client_key({"client": (request.META.get("REMOTE_ADDR", ""), 0), "headers": [(b"x-forwarded-for", forwarded)]})
    # A browser that logged in under this name before has a token, and is counted by it.
    salt = f"{KNOWN_BROWSER} {name}"
    token = request.get_signed_cookie(KNOWN_BROWSER, default=None, salt=salt, max_age=REMEMBERED)
    with _MAKING:
        limits = [(client, _build_counter("10/5m")), (f"{name} {token}" if token else name, _build_counter(OF_A_NAME))]
    counted: list[Callable[[], None]] = []
    # A try is counted before it is made, so that parallel tries find no more room.
    for key, (count, give_back) in limits:
        if wait := count(key):
            context = {**admin.site.each_context(request), "title": "Too many failed logins", "wait": wait}
            context["again"] = timezone.now() + dt.timedelta(seconds=wait)
            response = render(request, "admin/too_many_logins.html", context, status=429)
            response["Retry-After"] = str(wait)
            break
        counted.append(partial(give_back, key))
    else:
        response = admin.site.login(request)
        if response.status_code != 302:  # the form again
            return response
        cookie = {"secure": settings.SESSION_COOKIE_SECURE, "httponly": True, "samesite": "Strict", "path": "/admin/login/"}
        response.set_signed_cookie(KNOWN_BROWSER, secrets.token_hex(8), salt=salt, max_age=REMEMBERED, **cookie)
    for give_back_one in counted:
        give_back_one()
    return response


@cache
def _build_counter(rate: str) -> Counter:
    limiter = Limiter(rate)
    if not settings.REDIS_URL:
        return limiter.count_request, limiter.uncount_request
    from config.ratelimit.redis_limiter import SharedLimiter  # a wire without Redis need not carry that library

    shared = SharedLimiter(limiter, settings.REDIS_URL, settings.SECRET_KEY)
    return shared.count_request_blocking, shared.uncount_request
