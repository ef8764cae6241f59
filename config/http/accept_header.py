"""Accept headers of a request: who wants a page, who wants data, and what is taken how gladly (RFC 9110, 12.5)."""

import re
from functools import lru_cache
from typing import Final

_WEIGHT: Final = re.compile(rb"q=(0(?:\.[0-9]{0,3})?|1(?:\.0{0,3})?)")
_DATA: Final = (b"application/json", b"text/event-stream")


@lru_cache(maxsize=100)
def prefers_html(accepted: bytes) -> bool:
    """Return whether HTML is wanted more than JSON and than a stream of events, as browsers want it."""
    weights = read_weights(accepted)

    def weigh(media_type: bytes) -> float:
        ranges = (media_type, media_type.partition(b"/")[0] + b"/*", b"*/*")
        return next((weights[name] for name in ranges if name in weights), 0)

    return weigh(b"text/html") > max(weigh(media_type) for media_type in _DATA)


def read_weights(accepted: bytes) -> dict[bytes, float]:
    weights = {}
    for part in accepted.lower().split(b","):
        name, *parameters = (word.strip() for word in part.split(b";"))
        found = _WEIGHT.fullmatch(next((word for word in parameters if word.startswith(b"q=")), b"q=1"))
        weights[name] = float(found[1]) if found else 0.0
    return weights
