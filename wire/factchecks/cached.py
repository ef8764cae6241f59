"""Which pages of fact-checks are cached: all of them, since they are made of tables alone."""

import re
from functools import lru_cache
from typing import Final

_PAGES: Final = [
    (re.compile("/factchecks"), frozenset(("query", "cursor", "category", "rating_label", "language"))),
    (re.compile(r"/factcheck/.+|/sitemap-factchecks\.xml"), frozenset[str]()),
]


@lru_cache(maxsize=1_000)
def parameters_of(path: str) -> frozenset[str] | None:
    """The names of the parameters that a page takes; None for pages of others."""
    return next((names for pattern, names in _PAGES if pattern.fullmatch(path)), None)
