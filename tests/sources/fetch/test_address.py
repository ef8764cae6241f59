"""No address that is not public is ever asked, however it is spelled and whoever leads there."""

from collections.abc import Sequence
from ipaddress import ip_address, ip_network

import pytest

from sources.fetch import Fetched
from sources.fetch.address import may_dial
from tests.feedserver import FeedServer
from tests.sources.fetch.fetching import failed, fetch, fetched, robots_known

ONLY_2 = (ip_network("127.0.0.2/32"),)

INSIDE = {
    "loopback": "127.0.0.1",
    "loopback elsewhere": "127.8.8.8",
    "loopback, short": "127.1",
    "loopback, shorter by one": "127.0.1",
    "loopback, hexadecimal": "0x7f000001",
    "loopback, octal": "017700000001",
    "loopback, one number": "2130706433",
    "loopback, mixed": "0x7f.0.0.01",
    "loopback, octal parts": "0177.0.0.01",
    "loopback, full width": "１２７.０.０.１",
    "loopback, full stops of Japan": "127。0。0。1",
    "loopback, with a dot": "127.0.0.1.",
    "loopback by name": "localhost",
    "loopback by name in capitals": "LocalHost",
    "zero": "0",
    "unspecified": "0.0.0.0",  # noqa: S104  nothing is bound to it
    "this network": "0.1.2.3",
    "private 10": "10.0.0.1",
    "private 10, hexadecimal": "0x0a000001",
    "private 172": "172.16.0.1",
    "private 172, last": "172.31.255.255",
    "private 192": "192.168.1.1",
    "carriers' NAT": "100.64.0.1",
    "link-local": "169.254.1.1",
    "metadata": "169.254.169.254",
    "metadata, one number": "2852039166",
    "metadata, hexadecimal": "0xa9fea9fe",
    "metadata of Alibaba": "100.100.100.200",
    "metadata of Oracle": "192.0.0.192",
    "documentation 1": "192.0.2.1",
    "documentation 2": "198.51.100.1",
    "documentation 3": "203.0.113.1",
    "benchmarks": "198.18.0.1",
    "6to4 relay": "192.88.99.1",
    "multicast": "224.0.0.1",
    "multicast for all": "239.255.255.250",
    "reserved": "240.0.0.1",
    "broadcast": "255.255.255.255",
    "loopback 6": "[::1]",
    "loopback 6, long": "[0:0:0:0:0:0:0:1]",
    "unspecified 6": "[::]",
    "mapped loopback": "[::ffff:127.0.0.1]",
    "mapped loopback, hexadecimal": "[::ffff:7f00:1]",
    "mapped, though allowed otherwise": "[::ffff:127.0.0.2]",
    "mapped metadata": "[::ffff:169.254.169.254]",
    "mapped public": "[::ffff:8.8.8.8]",
    "compatible metadata": "[::169.254.169.254]",
    "translated": "[::ffff:0:127.0.0.1]",
    "NAT64 metadata": "[64:ff9b::a9fe:a9fe]",
    "NAT64 loopback": "[64:ff9b::127.0.0.1]",
    "NAT64, local": "[64:ff9b:1::a9fe:a9fe]",
    "6to4 metadata": "[2002:a9fe:a9fe::]",
    "Teredo": "[2001:0:a9fe:a9fe::1]",
    "link-local 6": "[fe80::1]",
    "site-local": "[fec0::1]",
    "unique local": "[fc00::1]",
    "metadata of Amazon 6": "[fd00:ec2::254]",
    "multicast 6": "[ff02::1]",
    "documentation 6": "[2001:db8::1]",
    "documentation 6, newer": "[3fff::1]",
    "discard": "[100::1]",
    "ORCHID": "[2001:20::1]",
}
UNREADABLE = {
    "a zone": "[fe80::1%25lo]",
    "half an address": "[::1",
    "escaped dots": "127%2e0%2e0%2e1",
    "a user": "8.8.8.8@127.0.0.1",
    "a backslash": "8.8.8.8\\@127.0.0.1",
    "no host": "",
    "a space": "127.0.0.1 8.8.8.8",
}


@pytest.mark.parametrize("host", INSIDE.values(), ids=INSIDE.keys())
def test_an_address_that_is_not_public_is_refused(server: FeedServer, host: str) -> None:
    server.route("*")
    assert failed(server.url("/feed.xml", host), allow=ONLY_2).code == "private_address"
    assert server.requests == []


@pytest.mark.parametrize("host", INSIDE.values(), ids=INSIDE.keys())
def test_a_redirect_to_an_address_that_is_not_public_is_refused(server: FeedServer, host: str) -> None:
    server.route("/feed.xml", status=302, headers={"Location": server.url("/inside", host).encode().decode("latin-1")})
    server.route("/inside")
    assert failed(server.url("/feed.xml", "127.0.0.2"), allow=ONLY_2).code == "private_address"
    assert {request.host for request in server.requests} == {"127.0.0.2"}


def test_known_robots_rules_open_no_address(server: FeedServer) -> None:
    server.route("*")
    hosts = robots_known(f"127.0.0.1:{server.port}")
    assert failed(server.url("/feed.xml"), allow=ONLY_2, hosts=hosts).code == "private_address"
    assert server.requests == []


@pytest.mark.parametrize("host", UNREADABLE.values(), ids=UNREADABLE.keys())
def test_a_host_that_two_readers_could_read_differently_is_refused(server: FeedServer, host: str) -> None:
    server.route("/feed.xml", status=302, headers={"Location": f"http://{host}:{server.port}/inside"})
    assert failed(f"http://{host}:{server.port}/inside").code == "bad_url"
    assert failed(server.url("/feed.xml", "127.0.0.2"), allow=ONLY_2).code == "bad_redirect"
    assert server.seen("/inside") == []


@pytest.mark.parametrize(
    "url",
    [
        "ftp://127.0.0.1/feed.xml",
        "file:///etc/passwd",
        "gopher://127.0.0.1:70/",
        "javascript:alert(1)",
        "//127.0.0.1/feed.xml",
        "feed.xml",
        "",
        "http://me:secret@127.0.0.1/",
        "http://me@127.0.0.1/",
        "http://127.0.0.1:0/",
        "http://127.0.0.1:99999/",
        "http://127.0.0.1/\r\nHost: x",
        "http://127.0.0.1/\x00",
        "http://" + "a" * 64 + ".example/",
        "http://exa_mple..com/",
        "http://127.0.0.1/" + "a" * 5000,
        "http://127.0.0.1/\ud800",
    ],
    ids=ascii,
)
def test_an_address_that_is_none_of_the_web_is_refused(url: str) -> None:
    assert failed(url).code == "bad_url"


@pytest.mark.parametrize(
    "host", ["8.8.8.8", "1.1.1.1", "192.0.1.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808"]
)
def test_a_public_address_may_be_dialled(host: str) -> None:
    assert may_dial(ip_address(host))


def test_what_is_allowed_is_reached(server: FeedServer) -> None:
    server.route("/feed.xml")
    assert isinstance(fetch(server.url("/feed.xml", "127.0.0.2"), allow=ONLY_2), Fetched)


class Names:
    """A resolver that gives one answer after the other, and keeps the last."""

    def __init__(self, *answers: Sequence[str]) -> None:
        self._answers = list(answers)
        self.asked = 0

    def __call__(self, _host: str, _port: int) -> Sequence[str]:
        self.asked += 1
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


def test_a_name_that_answers_differently_the_second_time_leads_nowhere_else(server: FeedServer) -> None:
    """127.0.0.2 stands for a public address; whoever looked the name up again to dial it would reach 127.0.0.1."""
    server.route("/feed.xml")
    names = Names(["127.0.0.2"], ["127.0.0.1"])
    hosts = robots_known(f"rebind.example:{server.port}")
    assert fetched(server.url("/feed.xml", "rebind.example"), allow=ONLY_2, resolver=names, hosts=hosts).body
    assert [request.host for request in server.requests] == ["127.0.0.2"]
    assert names.asked == 1


def test_every_connection_is_checked_anew(server: FeedServer) -> None:
    server.route("/feed.xml")
    names = Names(["127.0.0.2"], ["127.0.0.1"])  # robots.txt, then the feed
    assert failed(server.url("/feed.xml", "rebind.example"), allow=ONLY_2, resolver=names).code == "private_address"
    assert [(request.host, request.path) for request in server.requests] == [("127.0.0.2", "/robots.txt")]


def test_one_private_address_among_public_ones_refuses_the_name(server: FeedServer) -> None:
    server.route("*")
    names = Names(["127.0.0.2", "10.0.0.1"])
    assert failed(server.url("/feed.xml", "mixed.example"), allow=ONLY_2, resolver=names).code == "private_address"
    assert server.requests == []


def test_the_server_is_told_the_name_not_the_address(server: FeedServer) -> None:
    server.route("/feed.xml")
    fetched(server.url("/feed.xml", "FEEDS.example."), resolver=Names(["127.0.0.3"]))
    assert server.seen("/feed.xml", "127.0.0.3")[0].headers["host"] == f"feeds.example:{server.port}"


def test_the_next_address_of_a_name_is_tried_when_one_refuses(server: FeedServer) -> None:
    server.route("/feed.xml")
    assert fetched(server.url("/feed.xml", "two.example"), resolver=Names(["127.1.1.1", "127.0.0.2"])).body


def test_an_unknown_name_is_a_dns_failure() -> None:
    def resolver(_host: str, _port: int) -> Sequence[str]:
        raise OSError("Name or service not known")

    assert failed("http://unknown.example/feed.xml", resolver=resolver).code == "dns"


def test_a_proxy_of_the_environment_is_not_used(server: FeedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, server.url("", "127.0.0.9"))
    server.route("/feed.xml")
    assert fetched(server.url("/feed.xml")).body
    assert {request.host for request in server.requests} == {"127.0.0.1"}
