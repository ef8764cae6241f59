"""Cache rules of pages: those that depend on the wire alone are cached, not those of feeds, of usage or of the moment."""

import re
from functools import lru_cache
from typing import Final

_PAGES: Final = [
    (re.compile(pattern), frozenset(parameters))
    for pattern, *parameters in (
        ("/", "page", "category"),
        ("/day/[^/]+", "page", "category"),
        ("/new",),
        ("/week(/[^/]+)?",),
        ("/(story|event|storyline|editor-take)/[^/]+",),
        ("/(category|topic)/[^/]+", "cursor"),
        ("/search", "query", "category", "topic", "source", "tier", "since", "until", "sort", "group", "cursor"),
        ("/(topics|names)",),
        ("/about/[^/]+", "cursor"),
        ("/archive", "year"),
        (r"/export/[a-z]+", "date", "category", "topic", "query", "cursor"),
        (r"/archive/[^/]+\.(ndjson|manifest\.json)", "revision"),
        ("/corrections", "before"),
        ("/provenance(/[^/]+)?",),
        (r"/feeds/search\.(rss|atom|json)", "query", "category", "topic", "source", "tier", "since", "until"),
        (r"/feeds/[^/]+\.(rss|atom|json)",),
        (r"/og/(site|(story|event|day)/[^/]+)\.png",),
        (r"/sitemap(-pages|-stories-[0-9]+)?\.xml",),
        (r"/\.well-known/mcp\.json|/mcp/articles/[^/]+/server-card",),
        ("/docs/.*",),
        (
            r"/(about|methodology|privacy|terms|mcp-spec(?:\.md)?|for-agents\.html|llms\.txt|llms-full\.txt|\.well-known/wire-(?:keys\.json|checkpoint))",
        ),
    )
]


@lru_cache(maxsize=1_000)
def get_cached_parameters(path: str) -> frozenset[str] | None:
    """Return the names of the parameters that a page takes; None for a page that is not cached."""
    return next((names for pattern, names in _PAGES if pattern.fullmatch(path)), None)
