"""A roster whose publishers have been taken over by somebody who hates us. The honest ones are read all the same."""

import resource
import zlib
from collections.abc import Iterator
from functools import partial

import pytest

from sources.choices import FeedType
from sources.models import Feed, FeedHealth, Publication
from tests.feedserver import FeedServer, Reply, Request
from tests.wire.ingesting import item, rss, run
from wire.models import Story

FEED = b"<rss><channel><title>&x;</title></channel></rss>"
BOMB = b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "ha"><!ENTITY x "&a;&a;&a;&a;&a;&a;">]>' + FEED
FILE = b'<?xml version="1.0"?><!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>' + FEED


def zeros() -> Iterator[bytes]:
    """A gigabyte of zeros, gzipped: a megabyte on the wire. Packed once and repeated, or a busy server would be too slow."""
    packer = zlib.compressobj(9, wbits=31)
    for repeats in (1, 63):
        packed = packer.compress(bytes(1 << 24)) + packer.flush(zlib.Z_FULL_FLUSH)
        for _ in range(repeats):
            yield packed


def without_end() -> Iterator[bytes]:
    """More than anybody should read."""
    yield b"<rss version='2.0'><channel><title>"
    for _ in range(64):
        yield b"x" * (1 << 20)


HOSTILE: dict[str, tuple[Reply, str]] = {
    "an XML bomb": (Reply(body=BOMB), "invalid_feed"),
    "an external entity": (Reply(body=FILE), "invalid_feed"),
    "a gigabyte of gzipped zeros": (Reply(body=zeros(), headers={"Content-Encoding": "gzip"}), "too_large_inflated"),
    "a body without end": (Reply(body=without_end()), "too_large"),
    "a body that breaks off": (Reply(body=rss(item(1)), cut=80), "broken_answer"),
    "a web page": (Reply(body=b"<!doctype html><html><body>Hello</body></html>", content_type="text/html"), "invalid_feed"),
    "nothing": (Reply(body=b""), "invalid_feed"),
    "noise": (Reply(body=bytes(range(256)) * 40), "invalid_feed"),
    "a circle of redirects": (Reply(status=302, headers={"Location": "/feed.xml"}), "redirect_loop"),
    "a way into the machine": (Reply(status=302, headers={"Location": "http://169.254.169.254/latest/"}), "private_address"),
    "a drip": (Reply(body=rss(item(1)), drip=0.2), "too_slow"),
    "too many requests": (Reply(status=429), "http_429"),
    "gone": (Reply(status=410), "gone"),
    "unavailable": (Reply(status=503), "http_503"),
    "a dropped connection": (Reply(drop=True), "broken_answer"),
    "no HTTP": (Reply(raw=b"SSH-2.0-OpenSSH_9.9\r\n"), "broken_answer"),
    "more items than there are": (Reply(body=rss(*(f"<item><title>{n}</title></item>" for n in range(60_000)))), "invalid_feed"),
}


@pytest.mark.slow
@pytest.mark.django_db
def test_hostile_feeds_end_in_named_failures_and_cost_the_honest_ones_nothing(server: FeedServer) -> None:
    Feed.objects.all().delete()
    publications = iter(Publication.objects.active().order_by("seat"))
    expected: dict[int, str] = {}
    for number, (reply, code) in enumerate(HOSTILE.values(), start=2):
        server.route("/feed.xml", partial(_same, reply), host=f"127.0.0.{number}")
        expected[_feed(next(publications), server.url("/feed.xml", f"127.0.0.{number}")).pk] = code
    honest = [rss(*(item(1000 * host + n) for n in range(20))) for host in range(3)]
    for host, body in enumerate(honest, start=26):
        server.route("/feed.xml", body=body, host=f"127.0.0.{host}")
        expected[_feed(next(publications), server.url("/feed.xml", f"127.0.0.{host}")).pk] = ""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = run(*Feed.objects.all())
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024
    found = {report.feed.pk: report.code for report in done.reports}
    names = dict(zip(expected, [*HOSTILE, "honest 1", "honest 2", "honest 3"], strict=True))
    assert {names[pk]: code for pk, code in found.items()} == {names[pk]: code for pk, code in expected.items()}
    assert Story.objects.live().count() == 60
    assert grown < 150, f"{grown} MB"
    for health in FeedHealth.objects.exclude(failure_code=""):
        assert health.failure.endswith(".")
    assert [feed.active for feed in Feed.objects.filter(pk__in=[pk for pk, code in expected.items() if code == "gone"])] == [False]


def _same(reply: Reply, _request: Request) -> Reply:
    return reply


def _feed(publication: Publication, url: str) -> Feed:
    return Feed.objects.create(publication=publication, feed_type=FeedType.RSS, url=url, ai_only=True)
