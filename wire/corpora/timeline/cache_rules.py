"""Pages of timeline corpora are all cached, since they depend on what is released alone."""

from typing import Final

from wire.corpora.common.cache_rules import match_pages

FILTERS: Final = (
    *("query", "motif", "phenomenon_type", "source_type", "stance", "evidence_grade", "date_start", "date_end", "cursor"),
)
parameters_of = match_pages(
    (r"/timeline/",),
    (r"/timeline/[^/]+/(events)?", *FILTERS, "layer"),
    (r"/timeline/[^/]+/(threads|catalog|motifs)", "query", "cursor"),
    (r"/timeline/[^/]+/(releases|report/[^/]+)",),
    (r"/mcp/timeline/[^/]+/server-card|/sitemap-timeline\.xml",),
)
