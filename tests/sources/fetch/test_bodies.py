"""Bodies of any kind and size: read whole, or refused by name, at a flat cost."""

import gzip
import random
import tracemalloc
import zlib
from itertools import repeat

import pytest

from tests.feedserver import FEED, FeedServer
from tests.sources.fetch.fetching import codes, every, failed, fetched

MB = 1 << 20
NOISE = random.Random(7).randbytes(300_000)


def _raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


def _gigabyte_of_zeros(wbits: int) -> bytes:
    """1 MB of zeros, packed and flushed so that it can be repeated 1,024 times; its checksum is never reached."""
    packer = zlib.compressobj(9, zlib.DEFLATED, wbits)
    head = packer.flush(zlib.Z_FULL_FLUSH) + packer.compress(bytes(MB)) + packer.flush(zlib.Z_FULL_FLUSH)
    return head + (packer.compress(bytes(MB)) + packer.flush(zlib.Z_FULL_FLUSH)) * 1023


PACKED = [
    ("gzip", gzip.compress(FEED), FEED),
    ("GZIP", gzip.compress(FEED), FEED),
    ("x-gzip", gzip.compress(FEED), FEED),
    ("gzip", gzip.compress(NOISE), NOISE),
    ("gzip", gzip.compress(FEED[:10]) + gzip.compress(FEED[10:]), FEED),
    ("gzip", gzip.compress(b"") + gzip.compress(FEED), FEED),
    ("gzip", gzip.compress(FEED) + b"\0" * 512, FEED),
    ("gzip", gzip.compress(FEED) + b"\x1f", FEED),
    ("gzip", b"", b""),
    ("deflate", zlib.compress(FEED), FEED),
    ("deflate", _raw_deflate(FEED), FEED),
    ("deflate", _raw_deflate(NOISE), NOISE),
    ("identity", FEED, FEED),
    ("", FEED, FEED),
]


@pytest.mark.parametrize("drip", [False, True])
def test_a_packed_body_is_inflated(server: FeedServer, drip: bool) -> None:
    for n, (encoding, body, _) in enumerate(PACKED):
        pieces = [body[n : n + 1] for n in range(min(len(body), 40))] + [body[40:]] if drip else [body]
        server.route(f"/{n}", body=pieces, headers={"Content-Encoding": encoding})
    for n, (encoding, _, content) in enumerate(PACKED):
        assert fetched(server.url(f"/{n}")).body == content, (n, encoding)


def test_an_encoding_that_was_not_offered_is_refused(server: FeedServer) -> None:
    for encoding in ("br", "zstd", "compress", "gzip, gzip", "gzip, br", "aes128gcm", "x" * 5000):
        server.route("/feed.xml", body=gzip.compress(gzip.compress(FEED)), headers={"Content-Encoding": encoding})
        outcome = failed(server.url("/feed.xml"))
        assert outcome.code == "bad_encoding", encoding
        assert len(outcome.message) < 200


def test_a_packed_body_that_breaks_off_or_is_damaged_is_a_failure(server: FeedServer) -> None:
    damaged = [
        *(
            (gzip.compress(NOISE)[:-4]),
            gzip.compress(NOISE)[:1000],
            gzip.compress(FEED)[:5],
            b"\x1f",
            gzip.compress(b"") * 5000,
        ),
        *(gzip.compress(FEED) + gzip.compress(FEED)[:20], gzip.compress(FEED)[:-8] + b"\0" * 8),
    ]
    deflated = [zlib.compress(NOISE)[:-1], _raw_deflate(NOISE)[:500], b"\x78\x9c" + b"\xff" * 50]
    for n, body in enumerate([*damaged, *deflated]):
        encoding = "gzip" if n < len(damaged) else "deflate"
        server.route(f"/{n}", body=body, headers={"Content-Encoding": encoding})
    numbers = [str(n) for n in range(len(damaged) + len(deflated))]
    assert codes({n: server.url(f"/{n}") for n in numbers}) == every(numbers, "broken_answer")


@pytest.mark.parametrize("encoding", ["UTF-8", "aws-chunked", "gzip", "deflate", "br", "gzip, identity", "none"])
@pytest.mark.parametrize("body", [FEED, b"\xef\xbb\xbf" + FEED, b'{"version": "https://jsonfeed.org/version/1.1"}'])
def test_plain_content_is_taken_whatever_coding_its_header_names(server: FeedServer, encoding: str, body: bytes) -> None:
    server.route("/feed.xml", body=body, headers={"Content-Encoding": encoding})
    assert fetched(server.url("/feed.xml")).body == body


def test_gzip_beside_tokens_that_mean_nothing_is_unpacked(server: FeedServer) -> None:
    server.route("/feed.xml", body=gzip.compress(FEED), headers={"Content-Encoding": "identity, gzip"})
    assert fetched(server.url("/feed.xml")).body == FEED


def test_a_plain_feed_that_breaks_off_gives_what_came_and_a_page_or_a_packed_feed_does_not(server: FeedServer) -> None:
    server.route("/feed.xml", body=FEED * 100, cut=1000)
    assert fetched(server.url("/feed.xml")).body == (FEED * 100)[:1000]
    assert failed(server.url("/feed.xml"), is_page=True).code == "broken_answer"
    server.route("/packed.xml", body=gzip.compress(NOISE), headers={"Content-Encoding": "gzip"}, cut=1000)
    assert failed(server.url("/packed.xml")).code == "broken_answer"


@pytest.mark.parametrize("range_", [f"bytes 1-{len(FEED)}/{len(FEED)}", ""])
def test_a_part_of_a_feed_is_not_taken(server: FeedServer, range_: str) -> None:
    server.route("/feed.xml", status=206, body=FEED, headers={"Content-Range": range_} if range_ else {})
    assert codes({"feed": server.url("/feed.xml")}) == {"feed": "http_206"}


@pytest.mark.slow
@pytest.mark.parametrize(("encoding", "wbits"), [("gzip", 31), ("deflate", 15), ("deflate", -15)])
def test_a_gigabyte_of_packed_zeros_costs_no_more_than_the_cap(server: FeedServer, encoding: str, wbits: int) -> None:
    bomb = _gigabyte_of_zeros(wbits)
    assert len(bomb) < 2 * MB
    server.route("/feed.xml", body=bomb, headers={"Content-Encoding": encoding})
    failed(server.url("/nothing"))  # imports are not part of the cost
    tracemalloc.start()
    try:
        outcome = failed(server.url("/feed.xml"))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert outcome.code == "too_large_inflated"
    assert peak < 16 * MB  # the packed body, the cap, and a copy


def test_a_body_of_exactly_the_cap_is_read_and_one_byte_more_is_refused(server: FeedServer) -> None:
    for name, size in (("exact", 100_000), ("more", 100_001)):
        server.route(f"/{name}", body=b"x" * size)
        server.route(f"/{name}.gz", body=b"x" * size, packed=True)
    server.route("/endless", body=repeat(b"x" * 65_536))
    server.route("/noise.gz", body=[gzip.compress(NOISE)], headers={"Content-Encoding": "gzip"})
    server.route("/padded.gz", body=[gzip.compress(FEED), b"\0" * 200_000], headers={"Content-Encoding": "gzip"})
    expected = {"exact": "", "exact.gz": "", "more": "too_large", "more.gz": "too_large_inflated"}
    expected |= {"endless": "too_large", "padded.gz": "too_large"}
    assert codes({name: server.url(f"/{name}") for name in expected}, max_body=100_000) == expected
    assert failed(server.url("/noise.gz"), max_body=100_000).code in {"too_large", "too_large_inflated"}


def test_a_length_above_the_cap_is_refused_before_a_byte_is_read(server: FeedServer) -> None:
    server.route("/feed.xml", body=b"x", headers={"Content-Length": "999999999999"}, drip=0.5)
    outcome = failed(server.url("/feed.xml"), deadline=0.4)
    assert outcome.code == "too_large"
