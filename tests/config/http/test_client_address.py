"""Who a request is counted for: the peer, or the client that a trusted proxy names."""

import ipaddress
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pytest_django import Settings

from config.http import client_address

PROXY = "10.0.0.1"
TRUSTED = tuple(ipaddress.ip_network(network) for network in ("10.0.0.0/8", "2001:db8:ffff::/48"))


@pytest.fixture(autouse=True)
def nobody_is_known(settings: Settings) -> Iterator[None]:
    settings.WIRE_TRUSTED_PROXIES = TRUSTED
    client_address._compute_client_key.cache_clear()
    yield
    client_address._compute_client_key.cache_clear()


def key(peer: str | None, *forwarded: str) -> str:
    headers = [(b"host", b"localhost"), *((b"x-forwarded-for", value.encode("latin-1")) for value in forwarded)]
    return client_address.get_client_key({"client": (peer, 50_000) if peer else None, "headers": headers})


@pytest.mark.parametrize(
    ("peer", "forwarded", "expected"),
    [
        (PROXY, "203.0.113.9", "203.0.113.9"),
        (PROXY, "198.51.100.1, 203.0.113.9", "203.0.113.9"),  # the client may write what it likes: the proxy appends
        (PROXY, "198.51.100.1, 203.0.113.9, 10.2.3.4,10.2.3.5", "203.0.113.9"),
        (PROXY, "10.2.3.4", "10.2.3.4"),
        ("::ffff:10.0.0.1", "203.0.113.9", "203.0.113.9"),
        (PROXY, "203.0.113.9, ::ffff:10.9.9.9", "203.0.113.9"),
        (PROXY, "203.0.113.9:50123", "203.0.113.9"),
        (PROXY, "[2001:db8::7]:443", "2001:db8::"),
        (PROXY, "[2001:db8::7]", "2001:db8::"),
        ("2001:db8:ffff::1", "2001:db8:1:2:3:4:5:6", "2001:db8:1:2::"),
    ],
)
def test_behind_trusted_proxies_the_client_is_the_nearest_address_that_is_not_trusted(
    peer: str, forwarded: str, expected: str
) -> None:
    assert key(peer, forwarded) == expected


@pytest.mark.parametrize(
    ("forwarded", "expected"),
    [
        ("", PROXY),
        (",", PROXY),
        ("203.0.113.9,", PROXY),
        ("203.0.113.9, junk", PROXY),
        ("203.0.113.9, junk, 10.2.3.4", "10.2.3.4"),
        ("203.0.113.9, 10.2.3.4:x:y", PROXY),
        ("[]:80", PROXY),
        ("0x7f000001", PROXY),
        ("203.0.113.9\x00", PROXY),
        ("²03.0.113.9", PROXY),
        ("1" * 100_000, PROXY),
        ("1.1.1.1," * 10_000 + "203.0.113.9", "203.0.113.9"),
    ],
)
def test_what_cannot_be_read_ends_at_the_last_good_address(forwarded: str, expected: str) -> None:
    assert key(PROXY, forwarded) == expected


def test_headers_that_come_twice_are_one_list() -> None:
    assert key(PROXY, "198.51.100.1", "203.0.113.9") == "203.0.113.9"
    assert key(PROXY, "203.0.113.9", "10.2.3.4") == "203.0.113.9"


@pytest.mark.parametrize("peer", ["192.0.2.7", "::ffff:192.0.2.7", "11.0.0.1"])
def test_a_client_that_is_no_trusted_proxy_cannot_call_itself_something_else(peer: str) -> None:
    assert {key(peer, f"203.0.113.{n}") for n in range(100)} == {key(peer)}
    assert key(None, "203.0.113.9") == key("not an address") == "unknown"


def test_without_trusted_proxies_the_header_is_not_looked_at(settings: Settings) -> None:
    settings.WIRE_TRUSTED_PROXIES = ()
    assert key(PROXY, "203.0.113.9") == PROXY


@given(st.lists(st.text(st.characters(max_codepoint=255), max_size=40), max_size=4))
def test_no_header_makes_it_fail_or_reach_beyond_an_address(forwarded: list[str]) -> None:
    assert key("192.0.2.7", *forwarded) == "192.0.2.7"
    assert ipaddress.ip_address(key(PROXY, *forwarded))
