"""The desk's login: only so many tries of one client, and under one name, may fail within five minutes.

All processes that have the same Redis count together; without Redis each counts alone.
"""

import datetime as dt
import secrets
import threading
import unicodedata
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

OF_A_CLIENT: Final = "10/5m"
OF_A_NAME: Final = "100/5m"
"""For guesses from many addresses. More than one client can fill, and not for browsers that logged in under this name before: a
stranger does not lock an editor out by failing under the editor's name.
"""
KNOWN_BROWSER: Final = "desk_browser"
REMEMBERED: Final = dt.timedelta(days=180)
_MAKING: Final = threading.Lock()
"""A cache alone lets two threads that come first make one count each, and a try is counted where nobody looks again."""


class _Count(NamedTuple):
    """How tries of one kind are counted. A try is counted before it is made, so that many at once find no more room."""

    wait: Callable[[str], int]
    give_back: Callable[[str], None]


def login(request: HttpRequest) -> HttpResponse:
    """The admin's login. What fails is counted; beyond a limit nothing is tried, and the answer says when it will be."""
    if request.method != "POST":
        return admin.site.login(request)
    name = _user_name(request)
    counted: list[tuple[_Count, str]] = []
    for count, whom in ((_count(OF_A_CLIENT), _address(request)), (_count(OF_A_NAME), _known_browser(request, name) or name)):
        if wait := count.wait(whom):
            _give_back(counted)
            return _refusal(request, wait)
        counted.append((count, whom))
    response = admin.site.login(request)
    if response.status_code == 302:  # not the form again
        _give_back(counted)
        _remember_browser(response, name)
    return response


def _count(rate: str) -> _Count:
    with _MAKING:
        return _kept_count(rate)


@cache
def _kept_count(rate: str) -> _Count:
    limiter = Limiter(rate)
    if not settings.REDIS_URL:
        return _Count(limiter.wait, limiter.give_back)
    from config.ratelimit.shared import SharedLimiter  # a wire without Redis need not carry that library

    shared = SharedLimiter(limiter, settings.REDIS_URL, settings.SECRET_KEY)
    return _Count(shared.wait_blocking, shared.give_back)


def _give_back(counted: list[tuple[_Count, str]]) -> None:
    for count, whom in counted:
        count.give_back(whom)


def _address(request: HttpRequest) -> str:
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").encode("latin-1", "replace")
    return client_key({"client": (request.META.get("REMOTE_ADDR", ""), 0), "headers": [(b"x-forwarded-for", forwarded)]})


def _user_name(request: HttpRequest) -> str:
    return unicodedata.normalize("NFKC", request.POST.get("username", "")).strip().casefold()[:150]


def _known_browser(request: HttpRequest, name: str) -> str | None:
    """What the browser was given when it last logged in under this name; None if it never did."""
    given = request.get_signed_cookie(KNOWN_BROWSER, default=None, salt=_salt(name), max_age=REMEMBERED)
    return None if given is None else f"{name} {given}"


def _remember_browser(response: HttpResponse, name: str) -> None:
    response.set_signed_cookie(
        KNOWN_BROWSER,
        secrets.token_hex(8),
        salt=_salt(name),
        max_age=REMEMBERED,
        path="/admin/login/",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Strict",
    )


def _salt(name: str) -> str:
    return f"{KNOWN_BROWSER} {name}"


def _refusal(request: HttpRequest, wait: int) -> HttpResponse:
    again = timezone.now() + dt.timedelta(seconds=wait)
    context = {**admin.site.each_context(request), "title": "Too many failed logins", "again": again, "wait": wait}
    response = render(request, "admin/too_many_logins.html", context, status=429)
    response["Retry-After"] = str(wait)
    return response
