"""The Accept header of a request: who wants a page, and who wants data (RFC 9110, 12.5.1)."""

import re
from functools import lru_cache
from typing import Final

_WEIGHT: Final = re.compile(rb"q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)")
_DATA: Final = (b"application/json", b"text/event-stream")


@lru_cache(maxsize=100)
def prefers_html(accepted: bytes) -> bool:
    """Return whether HTML is wanted more than JSON and than a stream of events, as browsers want it."""
    weights = dict(_read_range(part) for part in accepted.lower().split(b","))

    def weigh(media_type: bytes) -> float:
        ranges = (media_type, media_type.partition(b"/")[0] + b"/*", b"*/*")
        return next((weights[name] for name in ranges if name in weights), 0)

    return weigh(b"text/html") > max(weigh(media_type) for media_type in _DATA)


def _read_range(part: bytes) -> tuple[bytes, float]:
    """Return a media range and its weight; 0 for a weight that is not one."""
    name, *parameters = (word.strip() for word in part.split(b";"))
    weight = next((word for word in parameters if word.startswith(b"q=")), b"q=1")
    found = _WEIGHT.fullmatch(weight)
    return name, float(found[1]) if found else 0
