"""One answer of an address that the operator gave by hand, such as another wire's: no feed, no robots.txt, no second try."""

import urllib.request
from typing import Final
from urllib.parse import urlsplit

LARGEST: Final = 1 << 20  # bytes of an answer
PATIENCE: Final = 30  # seconds


def get_once(url: str, *, user_agent: str) -> bytes:
    """Raises: OSError for what cannot be had; ValueError for what is no web address, or too large."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise ValueError(f"{url} is no web address")
    request = urllib.request.Request(url, headers={"User-Agent": user_agent})  # noqa: S310  the two schemes above
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
        body: bytes = answer.read(LARGEST + 1)
    if len(body) > LARGEST:
        raise ValueError(f"{url} answers with more than {LARGEST:,} bytes")
    return body
