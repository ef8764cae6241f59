"""The desk against those who are not of it: foreign forms, foreign sessions, weak passwords, and cookies that leave the machine."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlencode

import pytest
from django.contrib.auth.models import User
from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.test import Client

from tests.factories import entry, publish, story_of
from tests.wire.archives import MANAGE
from tests.wire.desk import PASSWORD, at_desk, person
from wire.models import Story

pytestmark = pytest.mark.django_db
DOOR = "/admin/login/"


def test_a_form_of_another_site_changes_nothing() -> None:
    publish(made := entry())
    story = story_of(made)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_superuser("root"))
    for path in (
        f"/admin/wire/story/{story.pk}/change/",
        "/admin/auth/user/add/",
        "/admin/sources/publication/replace/",
        "/admin/logout/",
    ):
        answer = strict.post(path, {"headline": "Ours", "reason": "None"}, headers={"Origin": "https://evil.example"})
        assert answer.status_code == 403, path
    assert Story.objects.get(pk=story.pk).current == story.current
    assert strict.get("/admin/").status_code == 200, "and the editor is still logged in"


def test_a_foreign_site_cannot_log_anybody_in() -> None:
    person("ada", "editor")
    strict = Client(enforce_csrf_checks=True)
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', strict.get(DOOR).content.decode())
    assert token is not None
    form = {"username": "ada", "password": PASSWORD}
    assert strict.post(DOOR, form).status_code == 403
    form["csrfmiddlewaretoken"] = token[1]
    assert strict.post(DOOR, form, headers={"Origin": "https://evil.example"}).status_code == 403
    assert strict.post(DOOR, form).status_code == 302


def test_a_session_that_was_known_before_the_login_is_worth_nothing_after_it() -> None:
    person("ada", "editor")
    client = Client()
    client.cookies["sessionid"] = planted = "a" * 32
    answer = client.post(DOOR, {"username": "ada", "password": PASSWORD})
    assert answer.cookies["sessionid"].value not in ("", planted)
    assert answer.cookies["sessionid"]["httponly"]
    assert answer.cookies["sessionid"]["samesite"] == "Lax"
    thief = Client()
    thief.cookies["sessionid"] = planted
    assert thief.get("/admin/").status_code == 302


def test_a_link_logs_nobody_out() -> None:
    desk = at_desk("editor")
    assert desk.get("/admin/logout/").status_code == 405
    assert desk.get("/admin/").status_code == 200


@pytest.mark.parametrize("password", ["", "short", "password1234", "123456789012", "editor-editor"])
def test_a_password_that_can_be_guessed_is_refused(password: str) -> None:
    with pytest.raises(ValidationError):
        validate_password(password, User(username="editor-editor"))


def test_no_page_of_the_desk_is_shown_in_a_frame_or_kept() -> None:
    for client, path in ((Client(), DOOR), (at_desk("editor"), "/admin/"), (at_desk("publisher"), "/admin/sources/feed/")):
        answer = client.get(path)
        assert answer["X-Frame-Options"] == "DENY"
        assert {"no-store", "private"} <= set(answer["Cache-Control"].split(", "))


@pytest.mark.slow
@pytest.mark.parametrize("path", ["login/", "", "wire/story/", "wire/lexiconterm/import/", "sources/feed/", "no-such-page/"])
def test_pages_of_the_desk_hold_no_script_and_no_style_and_may_have_none(path: str) -> None:
    answer = (Client() if path == "login/" else at_desk("publisher")).get(f"/admin/{path}")
    page = answer.content.decode()
    policy = dict(part.strip().partition(" ")[::2] for part in answer["Content-Security-Policy"].split(";"))
    assert policy["default-src"] == policy["base-uri"] == policy["frame-ancestors"] == "'none'"
    assert policy["script-src"] == "'self' 'unsafe-eval'"
    assert policy["style-src"] == policy["form-action"] == policy["connect-src"] == policy["img-src"] == "'self'"
    assert re.findall(r"<script(?![^>]* src=)(?![^>]*json)[^>]*>|<style|<[^>]* on[a-z]+=|javascript:", page) == []


def test_cookies_go_over_https_alone_where_the_site_does(tmp_path: Path) -> None:
    names = ("SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SESSION_COOKIE_HTTPONLY", "SECURE_HSTS_SECONDS", "DEBUG")
    code = f"import json; from django.conf import settings as s; print(json.dumps([getattr(s, name) for name in {names}]))"
    for site, expected in (
        ("https://wire.example", [True, True, True, 31_536_000, False]),
        ("http://localhost", [False, False, True, 0, False]),
    ):
        env = {
            "PATH": os.environ["PATH"],
            "WIRE_DATA_DIR": str(tmp_path),
            "WIRE_SITE_URL": site,
            "DJANGO_SETTINGS_MODULE": "config.settings",
        }
        ran = subprocess.run([sys.executable, "-c", code], env=env, cwd=MANAGE.parent, capture_output=True, text=True, check=True)
        assert json.loads(ran.stdout) == expected


def test_nothing_of_the_desk_opens_without_a_login() -> None:
    publish(made := entry())
    for path in (
        "",
        f"wire/story/{story_of(made).pk}/change/",
        "auth/user/",
        "sources/publication/export.csv/",
        "wire/lexiconterm/import/",
    ):
        answer = Client().get(f"/admin/{path}")
        assert (answer.status_code, answer["Location"].partition("?")) == (
            302,
            (DOOR, "?", urlencode({"next": f"/admin/{path}"}, safe="/")),
        )
