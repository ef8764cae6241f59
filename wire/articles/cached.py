"""Which pages of publisher content are cached: those that depend on its tables alone, not on what agents asked."""

import re
from functools import lru_cache
from typing import Final

_PAGES: Final = [
    (re.compile(r"/articles|/sitemap-articles\.xml"), frozenset[str]()),
    (re.compile("/articles/[^/]+"), frozenset(("query", "cursor"))),
    (re.compile(r"/articles/[^/]+/(llms\.txt|ai\.txt|license\.xml)"), frozenset[str]()),
]
_LIVE: Final = re.compile(r"/api/articles/[^/]+/article\.json")


@lru_cache(maxsize=1_000)
def parameters_of(path: str) -> frozenset[str] | None:
    """The names of the parameters that a page takes; None for one that is not cached, and for pages of others."""
    return next((names for pattern, names in _PAGES if pattern.fullmatch(path)), None)


def may_read_live(path: str) -> bool:
    """Whether an answer may have to wait for a publisher's own server. It must not hold up those who only read the database."""
    return _LIVE.fullmatch(path) is not None
