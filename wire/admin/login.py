"""The desk's door: at most ten failed logins in five minutes for one client address, and for one user name."""

import datetime as dt
import threading
import unicodedata
from typing import Any, Final

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django_ratelimit.core import get_usage

from config.client import client_key

RATE: Final = "10/5m"
_ONE_AT_A_TIME: Final = threading.Lock()
"""Between looking at a count and adding to it: many guesses at once would else all find room."""


def login(request: HttpRequest) -> HttpResponse:
    """The admin's login. What fails is counted; beyond the limit nothing is tried, and the answer says when it will be."""
    if request.method != "POST":
        return admin.site.login(request)
    tried = {"address": _address(request), "name": _user_name(request)}
    with _ONE_AT_A_TIME:
        wait = max(_wait(request, group, value) for group, value in tried.items())
        if wait:
            return _refusal(request, wait)
        response = admin.site.login(request)
        if response.status_code == 200:  # the form again
            for group, value in tried.items():
                _usage(request, group, value, increment=True)
    return response


def _wait(request: HttpRequest, group: str, value: str) -> int:
    """Seconds until the next try is allowed; 0 for now."""
    usage = _usage(request, group, value)
    return max(1, usage["time_left"]) if usage and usage["count"] >= usage["limit"] else 0


def _usage(request: HttpRequest, group: str, value: str, *, increment: bool = False) -> dict[str, Any] | None:
    usage: dict[str, Any] | None = get_usage(request, group=f"login {group}", key=lambda *_: value, rate=RATE, increment=increment)
    return usage


def _address(request: HttpRequest) -> str:
    forwarded = request.META.get("HTTP_X_FORWARDED_FOR", "").encode("latin-1", "replace")
    return client_key({"client": (request.META.get("REMOTE_ADDR", ""), 0), "headers": [(b"x-forwarded-for", forwarded)]})


def _user_name(request: HttpRequest) -> str:
    return unicodedata.normalize("NFKC", request.POST.get("username", "")).strip().casefold()[:150]


def _refusal(request: HttpRequest, wait: int) -> HttpResponse:
    again = timezone.now() + dt.timedelta(seconds=wait)
    context = {**admin.site.each_context(request), "title": "Too many failed logins", "again": again, "wait": wait}
    response = render(request, "admin/too_many_logins.html", context, status=429)
    response["Retry-After"] = str(wait)
    return response
