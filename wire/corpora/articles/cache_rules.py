"""Pages of publisher content that are cached: those that depend on its tables alone, not on what agents asked."""

import re
from typing import Final

from wire.corpora.common.cache_rules import match_pages

_LIVE: Final = re.compile(r"/api/articles/[^/]+/article\.json")

parameters_of = match_pages(
    (r"/articles|/sitemap-articles\.xml|/articles/[^/]+/(llms\.txt|ai\.txt|license\.xml)",),
    ("/articles/[^/]+", "query", "cursor"),
)


def may_read_live(path: str) -> bool:
    """Return whether an answer may have to wait for a publisher's own server, which must not hold up readers of the database."""
    return _LIVE.fullmatch(path) is not None
