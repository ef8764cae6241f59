"""The desk's login: limits failed tries of one client, and under one name, within five minutes. Processes with the same Redis
count together; without Redis each counts alone.
"""

import datetime as dt
import secrets
import threading
from collections.abc import Callable
from functools import cache
from typing import Final, NamedTuple

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from config.http.client_address import client_key
from config.ratelimit.limiter import Limiter
from config.unicode import normalize

OF_A_CLIENT: Final = "10/5m"
# Against guesses from many addresses. More than one client can fill, and not for browsers that logged in under this name before:
# a stranger does not lock an editor out by failing under the editor's name.
OF_A_NAME: Final = "100/5m"
KNOWN_BROWSER: Final = "desk_browser"
REMEMBERED: Final = dt.timedelta(days=180)
# A cache alone lets two threads that come first make one counter each, and tries in the lost one are not counted.
_MAKING: Final = threading.Lock()


class _Counter(NamedTuple):
    """A counter of tries. A try is counted before it is made, so that parallel tries find no more room."""

    wait: Callable[[str], int]
    give_back: Callable[[str], None]


def login(request: HttpRequest) -> HttpResponse:
    """Show the admin's login and count its failures; beyond a limit nothing is tried, and the answer says when it will be."""
    if request.method != "POST":
        return admin.site.login(request)
    name = normalize("NFKC", request.POST.get("username", "")).strip().casefold()[:150]
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").encode("latin-1", "replace")
    client = client_key({"client": (request.META.get("REMOTE_ADDR", ""), 0), "headers": [(b"x-forwarded-for", forwarded)]})
    # A browser that logged in under this name before has a token, and is counted by it.
    salt = f"{KNOWN_BROWSER} {name}"
    token = request.get_signed_cookie(KNOWN_BROWSER, default=None, salt=salt, max_age=REMEMBERED)
    counted: list[tuple[_Counter, str]] = []
    for rate, key in ((OF_A_CLIENT, client), (OF_A_NAME, name if token is None else f"{name} {token}")):
        counter = _get_counter(rate)
        if wait := counter.wait(key):
            response = _refuse(request, wait)
            break
        counted.append((counter, key))
    else:
        response = admin.site.login(request)
        if response.status_code != 302:  # the form again
            return response
        _remember_browser(response, salt)
    for counter, key in counted:
        counter.give_back(key)
    return response


def _get_counter(rate: str) -> _Counter:
    with _MAKING:
        return _build_counter(rate)


@cache
def _build_counter(rate: str) -> _Counter:
    limiter = Limiter(rate)
    if not settings.REDIS_URL:
        return _Counter(limiter.wait, limiter.give_back)
    from config.ratelimit.redis_limiter import SharedLimiter  # a wire without Redis need not carry that library

    shared = SharedLimiter(limiter, settings.REDIS_URL, settings.SECRET_KEY)
    return _Counter(shared.wait_blocking, shared.give_back)


def _remember_browser(response: HttpResponse, salt: str) -> None:
    response.set_signed_cookie(
        KNOWN_BROWSER,
        secrets.token_hex(8),
        salt=salt,
        max_age=REMEMBERED,
        path="/admin/login/",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Strict",
    )


def _refuse(request: HttpRequest, wait: int) -> HttpResponse:
    again = timezone.now() + dt.timedelta(seconds=wait)
    context = {**admin.site.each_context(request), "title": "Too many failed logins", "again": again, "wait": wait}
    response = render(request, "admin/too_many_logins.html", context, status=429)
    response["Retry-After"] = str(wait)
    return response
