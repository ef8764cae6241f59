"""The desk's door: ten failed logins in five minutes, then a pause."""

import ipaddress
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.core.cache import cache
from django.test import Client
from django_ratelimit import core
from pytest_django import Settings

from tests.wire.desk import PASSWORD, person, words

pytestmark = pytest.mark.django_db

DOOR = "/admin/login/"


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Nobody failed before, and one window holds the whole test."""
    monkeypatch.setattr(core.time, "time", lambda: 1_800_000_001.0)
    cache.clear()
    yield
    cache.clear()


def knock(name: str = "ada", password: str = "", address: str = "203.0.113.7") -> int:
    return Client(REMOTE_ADDR=address).post(DOOR, {"username": name, "password": password or "wrong"}).status_code


def test_the_eleventh_try_from_an_address_is_not_made() -> None:
    person("ada")
    assert [knock(f"guess-{n}") for n in range(11)] == [200] * 10 + [429]
    assert knock("ada", PASSWORD) == 429
    assert knock("ada", PASSWORD, "203.0.113.8") == 302


def test_the_eleventh_try_of_a_name_is_not_made_wherever_it_comes_from() -> None:
    person("ada")
    assert [knock(address=f"203.0.113.{n}") for n in range(11)] == [200] * 10 + [429]
    assert knock("ada", PASSWORD, "198.51.100.1") == 429
    assert knock(" ADA", PASSWORD, "198.51.100.1") == 429


def test_one_ipv6_network_is_one_client() -> None:
    assert [knock(f"guess-{n}", address=f"2001:db8::{n:x}") for n in range(11)][-1] == 429
    assert knock("other", address="2001:db8:0:1::1") == 200


def test_behind_a_trusted_proxy_each_client_has_tries_of_its_own(settings: Settings) -> None:
    settings.WIRE_TRUSTED_PROXIES = (ipaddress.ip_network("10.0.0.9"),)
    behind = [Client(REMOTE_ADDR="10.0.0.9", headers={"X-Forwarded-For": f"203.0.113.{n}"}) for n in (1, 2)]
    tries = [behind[0].post(DOOR, {"username": f"guess-{n}", "password": "wrong"}).status_code for n in range(11)]
    assert tries[-1] == 429
    assert behind[1].post(DOOR, {"username": "other", "password": "wrong"}).status_code == 200


def test_logins_that_succeed_do_not_count() -> None:
    person("ada")
    assert [knock("ada", PASSWORD) for _ in range(12)] == [302] * 12


def test_the_page_says_when_to_try_again(monkeypatch: pytest.MonkeyPatch) -> None:
    for n in range(10):
        knock(f"guess-{n}")
    answer = Client(REMOTE_ADDR="203.0.113.7").post(DOOR, {"username": "x", "password": "y"})
    assert (answer.status_code, 0 < int(answer["Retry-After"]) <= 300) == (429, True)
    assert f"in {answer['Retry-After']} seconds" in words(answer)
    assert "Nothing was tried" in words(answer)
    monkeypatch.setattr(core.time, "time", lambda: 1_800_000_302.0)
    assert knock("x") == 200


def test_the_form_itself_is_always_shown() -> None:
    for n in range(11):
        knock(f"guess-{n}")
    assert Client(REMOTE_ADDR="203.0.113.7").get(DOOR).status_code == 200


@pytest.mark.django_db(transaction=True)
def test_guesses_at_once_get_no_more_room() -> None:
    from django.db import connection

    def guess(number: int) -> int:
        try:
            return knock(f"guess-{number}")
        finally:
            connection.close()

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(guess, range(24)))
    assert (answers.count(200), answers.count(429)) == (10, 14)
