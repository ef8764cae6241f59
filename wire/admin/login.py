"""The desk's door: only so many logins of one client, and under one name, fail within five minutes, over all processes together."""

import datetime as dt
import secrets
import unicodedata
from functools import cache
from typing import Final

from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone

from config.client import client_key
from config.edge import store_of
from config.limit import Limiter
from config.shared_limit import SharedTries

OF_A_CLIENT: Final = "10/5m"
OF_A_NAME: Final = "100/5m"
"""For guesses from many addresses. More than one client can fill, and not for browsers that logged in under this name before: a
stranger does not lock an editor out by failing under the editor's name.
"""
KNOWN_BROWSER: Final = "desk_browser"
REMEMBERED: Final = dt.timedelta(days=180)


def login(request: HttpRequest) -> HttpResponse:
    """The admin's login. What fails is counted; beyond a limit nothing is tried, and the answer says when it will be."""
    if request.method != "POST":
        return admin.site.login(request)
    name = _user_name(request)
    counted: list[tuple[SharedTries, str]] = []
    for tries, whom in ((_tries(OF_A_CLIENT), _address(request)), (_tries(OF_A_NAME), _known_browser(request, name) or name)):
        if wait := tries.wait(whom):
            _give_back(counted)
            return _refusal(request, wait)
        counted.append((tries, whom))
    response = admin.site.login(request)
    if response.status_code == 302:  # not the form again
        _give_back(counted)
        _remember_browser(response, name)
    return response


@cache
def _tries(rate: str) -> SharedTries:
    limiter = Limiter(rate)
    return SharedTries(limiter, store_of(limiter, "logins.sqlite3"), settings.SECRET_KEY)


def _give_back(counted: list[tuple[SharedTries, str]]) -> None:
    for tries, whom in counted:
        tries.give_back(whom)


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
