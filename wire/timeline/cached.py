"""Which pages of timeline corpora are cached: all of them, for they depend on what is released alone."""

import re
from functools import lru_cache
from typing import Final

FILTERS: Final = (
    "query",
    "motif",
    "phenomenon_type",
    "source_type",
    "stance",
    "evidence_grade",
    "date_start",
    "date_end",
    "cursor",
)
_PAGES: Final = [
    (re.compile(r"/timeline/"), frozenset[str]()),
    (re.compile(r"/timeline/[^/]+/(events)?"), frozenset((*FILTERS, "layer"))),
    (re.compile(r"/timeline/[^/]+/(threads|catalog|motifs)"), frozenset(("query", "cursor"))),
    (re.compile(r"/timeline/[^/]+/(releases|report/[^/]+)"), frozenset[str]()),
    (re.compile(r"/mcp/timeline/[^/]+/server-card|/sitemap-timeline\.xml"), frozenset[str]()),
]


@lru_cache(maxsize=1_000)
def parameters_of(path: str) -> frozenset[str] | None:
    """The names of the parameters that a page takes; None for one that is not cached, and for pages of others."""
    return next((names for pattern, names in _PAGES if pattern.fullmatch(path)), None)
