"""Bodies of any kind and size: read whole, or refused by name, at a flat cost."""

import gzip
import random
import tracemalloc
import zlib
from itertools import repeat

import pytest

from tests.feedserver import FEED, FeedServer
from tests.sources.fetch.fetching import failed, fetched

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


@pytest.mark.parametrize(("encoding", "body", "content"), PACKED, ids=range(len(PACKED)))
@pytest.mark.parametrize("drip", [False, True])
def test_a_packed_body_is_inflated(server: FeedServer, encoding: str, body: bytes, content: bytes, drip: bool) -> None:
    pieces = [body[n : n + 1] for n in range(min(len(body), 40))] + [body[40:]] if drip else [body]
    server.route("/feed.xml", body=pieces, headers={"Content-Encoding": encoding})
    assert fetched(server.url("/feed.xml")).body == content


@pytest.mark.parametrize("encoding", ["br", "zstd", "compress", "gzip, gzip", "gzip, br", "aes128gcm", "x" * 5000])
def test_an_encoding_that_was_not_offered_is_refused(server: FeedServer, encoding: str) -> None:
    server.route("/feed.xml", body=gzip.compress(gzip.compress(FEED)), headers={"Content-Encoding": encoding})
    outcome = failed(server.url("/feed.xml"))
    assert outcome.code == "bad_encoding"
    assert len(outcome.message) < 200


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(NOISE)[:-4]),
        ("gzip", gzip.compress(NOISE)[:1000]),
        ("gzip", gzip.compress(FEED)[:5]),
        ("gzip", b"\x1f"),
        ("gzip", gzip.compress(FEED) + gzip.compress(FEED)[:20]),
        ("deflate", zlib.compress(NOISE)[:-1]),
        ("deflate", _raw_deflate(NOISE)[:500]),
        ("gzip", FEED),
        ("gzip", gzip.compress(FEED)[:-8] + b"\0" * 8),
        ("deflate", b"\x78\x9c" + b"\xff" * 50),
        ("gzip", gzip.compress(b"") * 5000),
    ],
    ids=range(11),
)
def test_a_packed_body_that_breaks_off_or_is_damaged_is_a_failure(server: FeedServer, encoding: str, body: bytes) -> None:
    server.route("/feed.xml", body=body, headers={"Content-Encoding": encoding})
    assert failed(server.url("/feed.xml")).code == "broken_answer"


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
    assert peak < 12 * MB


def test_a_body_of_exactly_the_cap_is_read(server: FeedServer) -> None:
    server.route("/feed.xml", body=b"x" * 100_000)
    server.route("/feed.gz", body=b"x" * 100_000, packed=True)
    assert len(fetched(server.url("/feed.xml"), max_body=100_000).body) == 100_000
    assert len(fetched(server.url("/feed.gz"), max_body=100_000).body) == 100_000


@pytest.mark.parametrize(("packed", "code"), [(False, "too_large"), (True, "too_large_inflated")])
def test_one_byte_more_than_the_cap_is_refused(server: FeedServer, packed: bool, code: str) -> None:
    server.route("/feed.xml", body=b"x" * 100_001, packed=packed)
    assert failed(server.url("/feed.xml"), max_body=100_000).code == code


def test_a_length_above_the_cap_is_refused_before_a_byte_is_read(server: FeedServer) -> None:
    server.route("/feed.xml", body=b"x", headers={"Content-Length": "999999999999"}, drip=0.5)
    outcome = failed(server.url("/feed.xml"), deadline=0.4)
    assert outcome.code == "too_large"


def test_a_body_without_length_and_end_is_cut_off_at_the_cap(server: FeedServer) -> None:
    server.route("/feed.xml", body=repeat(b"x" * 65_536))
    assert failed(server.url("/feed.xml"), max_body=MB).code == "too_large"


def test_a_body_in_crumbs_is_refused(server: FeedServer) -> None:
    crumbs = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"2\r\nab\r\n" * 120_000 + b"0\r\n\r\n"
    server.route("/feed.xml", raw=crumbs)
    assert failed(server.url("/feed.xml"), deadline=30.0).code == "broken_answer"


def test_a_packed_body_above_the_cap_on_the_wire_is_refused(server: FeedServer) -> None:
    server.route("/feed.xml", body=[gzip.compress(NOISE)], headers={"Content-Encoding": "gzip"})
    assert failed(server.url("/feed.xml"), max_body=200_000).code in {"too_large", "too_large_inflated"}


def test_padding_behind_a_packed_body_counts_as_sent(server: FeedServer) -> None:
    server.route("/feed.xml", body=[gzip.compress(FEED), b"\0" * 200_000], headers={"Content-Encoding": "gzip"})
    assert failed(server.url("/feed.xml"), max_body=100_000).code == "too_large"
