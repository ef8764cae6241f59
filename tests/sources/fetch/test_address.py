"""No address that is not public is ever asked, however it is spelled and whoever leads there."""

from collections.abc import Sequence
from ipaddress import ip_address, ip_network
from urllib.parse import quote

import pytest

from sources.fetch.url import may_dial
from tests.feedserver import FeedServer
from tests.sources.fetch.fetching import codes, every, failed, fetched, robots_known

ONLY_2 = (ip_network("127.0.0.2/32"),)

INSIDE = [
    # loopback, in every spelling that some reader takes for it
    *("127.0.0.1", "127.8.8.8", "127.1", "127.0.1", "0x7f000001", "017700000001", "2130706433", "0x7f.0.0.01", "0177.0.0.01"),
    *(
        "１２７.０.０.１",
        "127。0。0。1",
        "127.0.0.1.",
        "localhost",
        "LocalHost",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[::ffff:127.0.0.1]",
    ),
    *("[::ffff:7f00:1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]"),
    "[::ffff:127.0.0.2]",  # mapped, though allowed otherwise
    # unspecified, private, shared and link-local
    *("0", "0.0.0.0", "0.1.2.3", "10.0.0.1", "0x0a000001", "172.16.0.1", "172.31.255.255", "192.168.1.1", "100.64.0.1"),  # noqa: S104
    *("169.254.1.1", "[::]", "[fe80::1]", "[fec0::1]", "[fc00::1]"),
    # the metadata of clouds: AWS, Alibaba, Oracle, and AWS as mapped, compatible, NAT64, 6to4 and Teredo
    *("169.254.169.254", "2852039166", "0xa9fea9fe", "100.100.100.200", "192.0.0.192", "[fd00:ec2::254]"),
    *("[::ffff:169.254.169.254]", "[::169.254.169.254]", "[64:ff9b::a9fe:a9fe]", "[64:ff9b:1::a9fe:a9fe]", "[2002:a9fe:a9fe::]"),
    *("[2001:0:a9fe:a9fe::1]", "[::ffff:8.8.8.8]"),
    # documentation, benchmarks, relays, multicast, reserved, broadcast, discard, ORCHID
    *("192.0.2.1", "198.51.100.1", "203.0.113.1", "198.18.0.1", "192.88.99.1", "224.0.0.1", "239.255.255.250", "240.0.0.1"),
    *("255.255.255.255", "[ff02::1]", "[2001:db8::1]", "[3fff::1]", "[100::1]", "[2001:20::1]"),
]
UNREADABLE = ["[fe80::1%25lo]", "[::1", "127%2e0%2e0%2e1", "8.8.8.8@127.0.0.1", "8.8.8.8\\@127.0.0.1", "", "127.0.0.1 8.8.8.8"]


def test_an_address_that_is_not_public_is_refused_whatever_its_robots_txt_said(server: FeedServer) -> None:
    server.route("*")
    urls = {host: server.url("/feed.xml", host) for host in INSIDE}
    hosts = robots_known(f"127.0.0.1:{server.port}")
    assert codes(urls, allow=ONLY_2, hosts=hosts) == every(INSIDE, "private_address")
    assert server.requests == []
    assert fetched(server.url("/feed.xml", "127.0.0.2"), allow=ONLY_2).body


def test_a_redirect_to_an_address_that_is_not_public_is_refused(server: FeedServer) -> None:
    for host in INSIDE:
        inside = server.url("/inside", host).encode().decode("latin-1")
        server.route(f"/{quote(host)}", status=302, headers={"Location": inside})
    server.route("/inside")
    urls = {host: server.url(f"/{quote(host)}", "127.0.0.2") for host in INSIDE}
    assert codes(urls, allow=ONLY_2, deadline=60.0) == every(INSIDE, "private_address")
    assert {request.host for request in server.requests} == {"127.0.0.2"}


def test_a_host_that_two_readers_could_read_differently_is_refused(server: FeedServer) -> None:
    inside = {host: f"http://{host}:{server.port}/inside" for host in UNREADABLE}
    assert codes(inside) == every(UNREADABLE, "bad_url")
    for host, url in inside.items():
        server.route(f"/{quote(host)}", status=302, headers={"Location": url})
    urls = {host: server.url(f"/{quote(host)}", "127.0.0.2") for host in UNREADABLE}
    assert codes(urls, allow=ONLY_2) == every(UNREADABLE, "bad_redirect")
    assert server.seen("/inside") == []


def test_an_address_that_is_none_of_the_web_is_refused() -> None:
    urls = [
        *(
            "ftp://127.0.0.1/feed.xml",
            "file:///etc/passwd",
            "gopher://127.0.0.1:70/",
            "javascript:alert(1)",
            "//127.0.0.1/feed.xml",
        ),
        *("feed.xml", "", "http://me:secret@127.0.0.1/", "http://me@127.0.0.1/", "http://127.0.0.1:0/", "http://127.0.0.1:99999/"),
        *("http://127.0.0.1/\r\nHost: x", "http://127.0.0.1/\x00", "http://" + "a" * 64 + ".example/", "http://exa_mple..com/"),
        *("http://127.0.0.1/" + "a" * 5000, "http://127.0.0.1/\ud800"),
    ]
    assert codes({ascii(url): url for url in urls}) == every(map(ascii, urls), "bad_url")


def test_a_public_address_may_be_dialled() -> None:
    for host in ("8.8.8.8", "1.1.1.1", "192.0.1.1", "172.32.0.1", "2606:4700::1111", "2a00:1450::1", "64:ff9b::808:808"):
        assert may_dial(ip_address(host)), host


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


@pytest.mark.parametrize(("answers", "code"), [(["127.0.0.2", "10.0.0.1"], "private_address"), ([], "dns")])
def test_one_private_address_among_public_ones_refuses_the_name_and_an_unknown_one_fails(
    server: FeedServer, answers: list[str], code: str
) -> None:
    server.route("*")

    def resolver(_host: str, _port: int) -> Sequence[str]:
        if not answers:
            raise OSError("Name or service not known")
        return answers

    assert failed(server.url("/feed.xml", "mixed.example"), allow=ONLY_2, resolver=resolver).code == code
    assert server.requests == []


def test_the_server_is_told_the_name_not_the_address(server: FeedServer) -> None:
    server.route("/feed.xml")
    fetched(server.url("/feed.xml", "FEEDS.example."), resolver=Names(["127.0.0.3"]))
    assert server.seen("/feed.xml", "127.0.0.3")[0].headers["host"] == f"feeds.example:{server.port}"


def test_the_next_address_of_a_name_is_tried_when_one_refuses(server: FeedServer) -> None:
    server.route("/feed.xml")
    assert fetched(server.url("/feed.xml", "two.example"), resolver=Names(["127.1.1.1", "127.0.0.2"])).body


def test_a_proxy_of_the_environment_is_not_used(server: FeedServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, server.url("", "127.0.0.9"))
    server.route("/feed.xml")
    assert fetched(server.url("/feed.xml")).body
    assert {request.host for request in server.requests} == {"127.0.0.1"}
