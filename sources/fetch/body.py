"""A body of bounded size, inflated as it comes: a gigabyte of packed zeros costs no more than the cap."""

import zlib
from collections.abc import AsyncIterable, Awaitable, Callable, Iterator
from typing import Final

from sources.fetch.outcome import NotFetched

HEAVY: Final = 1 << 20  # bytes from which a body counts as heavy; there are few permits for such
_MAX_CHUNKS: Final = 100_000  # that a body comes in; each costs some 15 µs, however small it is
_MAX_MEMBERS: Final = 1000  # of one gzip file; each costs a fresh decompressor
_GZIP: Final = b"\x1f\x8b"


async def read_body(
    chunks: AsyncIterable[bytes],
    encoding: str,
    cap: int,
    *,
    cut: bool = False,
    on_heavy: Callable[[], Awaitable[None]] | None = None,
) -> bytes:
    """The content behind a Content-Encoding of gzip, deflate or none, at most `cap` bytes on the wire and inflated.

    A longer one is refused, or cut there if `cut`. `on_heavy` is awaited once, before it grows far beyond `HEAVY`.
    Raises: NotFetched too_large, too_large_inflated, bad_encoding, broken_answer.
    """
    decoder = _decoder(encoding)
    content = bytearray()  # not a list of pieces: a server may send millions of one byte each
    wire = count = 0
    async for chunk in chunks:
        wire += len(chunk)
        count += 1
        if count > _MAX_CHUNKS:
            raise NotFetched("broken_answer", "The answer comes in too many small parts; it was refused.")
        if wire > cap and not cut:
            raise too_large(cap)
        for piece in decoder.feed(chunk, cap - len(content) + 1):
            content += piece
            if len(content) > cap and not cut:
                message = f"The feed inflates to more than {_megabytes(cap)}; ask the publisher for a shorter one."
                raise NotFetched("too_large_inflated", message)
            if on_heavy and len(content) > HEAVY:
                await on_heavy()
                on_heavy = None
        if cut and max(wire, len(content)) > cap:
            return bytes(content[:cap])
    decoder.finish()
    return bytes(content)


def too_large(cap: int) -> NotFetched:
    """More than `cap` bytes on the wire, or announced."""
    return NotFetched("too_large", f"The feed is larger than {_megabytes(cap)}; ask the publisher for a shorter one.")


def _megabytes(size: int) -> str:
    return f"{size / (1 << 20):.3g} MB"


class _Plain:
    def feed(self, data: bytes, most: int) -> Iterator[bytes]:
        """The data inflated, in pieces of `most` bytes together."""
        yield data[:most]

    def finish(self) -> None:
        """Raises: NotFetched if the end is missing."""


class _Inflate(_Plain):
    """gzip of one or several members (RFC 1952 §2.2), deflate in the zlib format or raw, as some servers wrongly send it."""

    def __init__(self, gzip: bool) -> None:
        self._gzip = gzip
        self._members = 0
        self._inflater: zlib._Decompress | None = None
        self._held = b""  # too short yet to tell what it begins

    def feed(self, data: bytes, most: int) -> Iterator[bytes]:
        data = self._held + data
        self._held = b""
        while data and most > 0:
            inflater = self._inflater = self._inflater or self._begin(data)
            if inflater is None:
                return
            try:
                piece = inflater.decompress(data, most)
            except zlib.error as error:
                raise NotFetched("broken_answer", "The packed content of the answer is damaged; try again later.") from error
            if piece:
                yield piece
            most -= len(piece)
            if inflater.eof:
                data, self._inflater = inflater.unused_data, None
            else:
                data = inflater.unconsumed_tail

    def finish(self) -> None:
        if self._inflater is not None or (self._held and not self._members):
            raise NotFetched("broken_answer", "The answer breaks off before its end; try again later.")

    def _begin(self, data: bytes) -> "zlib._Decompress | None":
        """For the stream that begins here, if one does; what else follows one is padding, which gzip passes over too."""
        if len(data) < 2:
            self._held = data
            return None
        if self._members and not (self._gzip and data.startswith(_GZIP)):
            return None
        self._members += 1
        if self._members > _MAX_MEMBERS:
            raise NotFetched("broken_answer", "The packed content consists of too many parts; it was refused.")
        zlib_header = data[0] & 0x0F == 8 and int.from_bytes(data[:2], "big") % 31 == 0  # RFC 1950 §2.2
        return zlib.decompressobj(31 if self._gzip else 15 if zlib_header else -15)


def _decoder(encoding: str) -> _Plain:
    match encoding.strip().lower():
        case "" | "identity":
            return _Plain()
        case "gzip" | "x-gzip":  # RFC 9110 §8.4.1.3
            return _Inflate(gzip=True)
        case "deflate":
            return _Inflate(gzip=False)
        case other:
            raise NotFetched("bad_encoding", f"The answer is packed as {other[:40]!r}, though only gzip and deflate were offered.")
