"""The desk's door: ten failed logins of a client in five minutes, or a hundred under a name, then a pause."""

import http.client
import ipaddress
import os
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import cache
from pathlib import Path
from typing import Final
from urllib.parse import urlencode

import pytest
from django.db import connection
from django.test import Client
from pytest_django import Settings

from config.ratelimit.limiter import Limiter
from tests.clients.server import environment, free_port, running, services
from tests.config.ratelimit.test_limiter import Clock
from tests.wire.desk import PASSWORD, person, words
from tests.wire.installation import set_up
from wire.admin import login
from wire.management.commands import serve

pytestmark = pytest.mark.django_db

DOOR: Final = "/admin/login/"


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """Nobody failed before, time passes when a test says so, and twenty tries of a name stand for a hundred."""
    monkeypatch.setattr(login, "OF_A_NAME", "20/5m")
    clock = Clock()

    @cache
    def count(rate: str) -> login.Counter:
        limiter = Limiter(rate, clock)
        return limiter.count_request, limiter.uncount_request

    monkeypatch.setattr(login, "_build_counter", count)
    return clock


def knock(name: str = "ada", password: str = "", address: str = "203.0.113.7") -> int:
    return Client(REMOTE_ADDR=address).post(DOOR, {"username": name, "password": password or "wrong"}).status_code


def test_the_eleventh_try_from_an_address_is_not_made() -> None:
    person("ada")
    assert [knock(f"guess-{n}") for n in range(11)] == [200] * 10 + [429]
    assert knock("ada", PASSWORD) == 429
    assert knock("ada", PASSWORD, "203.0.113.8") == 302


def test_many_passwords_of_one_name_are_not_tried_from_one_address() -> None:
    person("ada")
    assert [knock() for _ in range(11)] == [200] * 10 + [429]


def test_nobody_locks_an_editor_out_by_name() -> None:
    person("ada")
    for _ in range(25):
        knock("ada", address="203.0.113.7")
    assert knock("ada", PASSWORD, "198.51.100.1") == 302


@pytest.mark.slow
def test_a_name_that_many_guess_is_not_tried_wherever_a_guess_comes_from() -> None:
    person("ada")
    assert [knock(address=f"203.0.113.{n}") for n in range(21)] == [200] * 20 + [429]
    assert knock("ada", PASSWORD, "198.51.100.1") == 429
    assert knock(" ADA", PASSWORD, "198.51.100.1") == 429
    assert knock("bob", "wrong", "198.51.100.1") == 200


@pytest.mark.slow
def test_a_browser_that_logged_in_before_is_let_in_while_strangers_fail_under_its_name() -> None:
    for name in ("ada", "bob"):
        person(name)
    editor, other = (Client(REMOTE_ADDR=address) for address in ("198.51.100.1", "198.51.100.2"))
    assert editor.post(DOOR, {"username": "ada", "password": PASSWORD}).status_code == 302
    assert other.post(DOOR, {"username": "bob", "password": PASSWORD}).status_code == 302
    for n in range(20):
        knock("ada", address=f"203.0.113.{n}")
    assert knock("ada", PASSWORD, "198.51.100.1") == 429, "the address alone is not known"
    assert other.post(DOOR, {"username": "ada", "password": PASSWORD}).status_code == 429, "nor is who logs in under another name"
    assert editor.post(DOOR, {"username": "ada", "password": PASSWORD}).status_code == 302


def test_what_a_browser_is_known_by_is_for_the_door_alone_and_for_no_script() -> None:
    person("ada")
    given = Client().post(DOOR, {"username": "ada", "password": PASSWORD}).cookies[login.KNOWN_BROWSER]
    assert (given["path"], given["httponly"], given["samesite"]) == (DOOR, True, "Strict")
    assert login.KNOWN_BROWSER not in Client().post(DOOR, {"username": "ada", "password": "wrong"}).cookies


def test_one_ipv6_network_is_one_client() -> None:
    assert [knock(f"guess-{n}", address=f"2001:db8::{n:x}") for n in range(11)][-1] == 429
    assert knock("other", address="2001:db8:0:1::1") == 200


@pytest.mark.slow
def test_behind_a_trusted_proxy_each_client_has_tries_of_its_own(settings: Settings) -> None:
    settings.WIRE_TRUSTED_PROXIES = (ipaddress.ip_network("10.0.0.9"),)
    behind = [Client(REMOTE_ADDR="10.0.0.9", headers={"X-Forwarded-For": f"203.0.113.{n}"}) for n in (1, 2)]
    tries = [behind[0].post(DOOR, {"username": f"guess-{n}", "password": "wrong"}).status_code for n in range(11)]
    assert tries[-1] == 429
    assert behind[1].post(DOOR, {"username": "other", "password": "wrong"}).status_code == 200


@pytest.mark.slow
def test_logins_that_succeed_neither_count_nor_forgive_those_that_fail() -> None:
    person("ada")
    assert [knock("ada", PASSWORD) for _ in range(12)] == [302] * 12
    assert [knock(password=password) for password in ("wrong", PASSWORD) * 10] == [200, 302] * 9 + [200, 429]


def test_the_page_says_when_to_try_again(clock: Clock) -> None:
    for n in range(10):
        knock(f"guess-{n}")
    answer = Client(REMOTE_ADDR="203.0.113.7").post(DOOR, {"username": "x", "password": "y"})
    assert (answer.status_code, 0 < int(answer["Retry-After"]) <= 300) == (429, True)
    assert f"in {answer['Retry-After']} seconds" in words(answer)
    assert "Your login was not tried" in words(answer)
    clock.now += int(answer["Retry-After"])
    assert knock("x") == 200


def test_the_form_itself_is_always_shown() -> None:
    for n in range(11):
        knock(f"guess-{n}")
    assert Client(REMOTE_ADDR="203.0.113.7").get(DOOR).status_code == 200


@pytest.mark.django_db(transaction=True)
@pytest.mark.slow
def test_guesses_at_once_get_no_more_room(monkeypatch: pytest.MonkeyPatch) -> None:
    init = Limiter.__init__

    def slow(limiter: Limiter, rate: str, clock: Clock) -> None:
        time.sleep(0.2)  # all twelve come before the first count is made
        init(limiter, rate, clock)

    monkeypatch.setattr(Limiter, "__init__", slow)

    def guess(number: int) -> int:
        try:
            return knock(f"guess-{number}")
        finally:
            connection.close()

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(guess, range(24)))
    assert (answers.count(200), answers.count(429)) == (10, 14)


@pytest.mark.services
@pytest.mark.skipif("TEST_REDIS_URL" not in os.environ, reason="TEST_REDIS_URL is not set")
def test_two_processes_with_one_redis_count_together_and_remember_it_when_started_anew(tmp_path: Path) -> None:
    """Each at a port of its own, so that the test chooses which one it asks."""
    wire = tmp_path / "wire"
    set_up(wire)

    @contextmanager
    def door() -> Iterator[str]:
        port = free_port()
        arguments = ["-m", "uvicorn", *serve.UVICORN, "--port", str(port)]
        env = environment(wire, port) | services(wire) | {"REDIS_URL": os.environ["TEST_REDIS_URL"]}
        with running(arguments, env, tmp_path / f"{port}.log", ready="/healthz") as site:
            yield site

    with door() as second:
        with door() as first:
            answers = [knock_at((first, second)[number % 2], f"guess-{number}") for number in range(12)]
        with door() as anew:
            answers += [knock_at(anew, "guess-12")]
    assert [status for status, _ in answers] == [200] * 10 + [429] * 3
    assert all(0 < int(wait) <= 300 for _, wait in answers[10:])


def knock_at(site: str, name: str) -> tuple[int, str]:
    """Status and Retry-After of a login that fails."""
    with closing(http.client.HTTPConnection(site.removeprefix("http://"), timeout=20)) as browser:
        browser.request("GET", DOOR)
        form = browser.getresponse()
        [token] = re.findall(r'name="csrfmiddlewaretoken" value="(\w+)"', form.read().decode())
        headers = {"Cookie": form.headers["Set-Cookie"].partition(";")[0], "Content-Type": "application/x-www-form-urlencoded"}
        fields = {"csrfmiddlewaretoken": token, "username": name, "password": "wrong"}
        browser.request("POST", DOOR, urlencode(fields), headers)
        answer = browser.getresponse()
        return answer.status, answer.headers["Retry-After"]
