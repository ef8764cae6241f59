"""Bodies of bounded size, unpacked up to the same bound: a gigabyte of packed zeros costs no more than the cap."""

import re
import zlib
from collections.abc import AsyncIterable
from typing import Final

import httpcore2

from sources.fetch.results import NotFetched

# How a feed or page begins, and nothing packed does: gzip, deflate and brotli do not begin with `<`.
_PLAIN: Final = re.compile(rb"(?:\xef\xbb\xbf)?\s{0,99}(?:<[?!a-zA-Z]|\{\s{0,99}\")")


async def read_body(
    chunks: AsyncIterable[bytes], encoding: str, cap: int, *, cut: bool = False, may_break_off: bool = False
) -> bytes:
    """Return the content behind a Content-Encoding of gzip, deflate or none, at most `cap` bytes on the wire and inflated.

    A longer one is refused, or cut there if `cut`. With `may_break_off`, what came of plain content before the connection broke is
    returned. Content that is plain is, whatever the header says ("UTF-8", "aws-chunked"). Raises: NotFetched; httpcore2's errors.
    """
    wire = bytearray()
    try:
        async for chunk in chunks:
            wire += chunk
            if len(wire) > cap:
                if not cut:
                    raise build_too_large_error(cap)
                break
    except (httpcore2.NetworkError, httpcore2.ProtocolError):
        if not (may_break_off and _PLAIN.match(wire)):
            raise
    if _PLAIN.match(wire):
        return bytes(wire[:cap])
    tokens = [token.strip().lower().removeprefix("x-") for token in encoding.split(",")]  # x-gzip: RFC 9110 §8.4.1.3
    match [token for token in tokens if token not in {"", "identity"}]:
        case []:
            return bytes(wire[:cap])
        case [("gzip" | "deflate") as coding]:
            return _inflate(bytes(wire), coding == "gzip", cap, cut=cut)
    raise NotFetched("bad_encoding", f"The response is compressed as {encoding[:40]!r}, though only gzip and deflate were offered.")


def build_too_large_error(cap: int) -> NotFetched:
    return NotFetched("too_large", f"The feed is larger than {cap / (1 << 20):.3g} MB; ask the publisher for a shorter one.")


def _inflate(data: bytes, gzip: bool, cap: int, *, cut: bool) -> bytes:
    """Return the content of gzip of some members (RFC 1952 §2.2), or of deflate, in the zlib format or, as some send it, raw."""
    zlib_header = len(data) > 1 and data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0  # RFC 1950 §2.2
    content = bytearray()
    for number in range(100):  # members of one file; what follows each is copied
        if not data or (number and not (gzip and data.startswith(b"\x1f\x8b"))):  # padding, which gzip passes over too
            return bytes(content)
        inflater = zlib.decompressobj(31 if gzip else 15 if zlib_header else -15)
        try:
            content += inflater.decompress(data, cap + 1 - len(content))
        except zlib.error as error:
            raise NotFetched("broken_answer", "The compressed response is damaged; try again later.") from error
        if cut and (len(content) > cap or not inflater.eof):
            return bytes(content[:cap])
        if len(content) > cap:
            message = f"The feed inflates to more than {cap / (1 << 20):.3g} MB; ask the publisher for a shorter one."
            raise NotFetched("too_large_inflated", message)
        if not inflater.eof:
            raise NotFetched("broken_answer", "The response ends too early; try again later.")
        data = inflater.unused_data
    raise NotFetched("broken_answer", "The compressed response has too many parts; it was refused.")
