"""Pages of fact-checks are all cached, since they are made of tables alone."""

from wire.corpora.common.cache_rules import match_pages

parameters_of = match_pages(
    ("/factchecks", "query", "cursor", "category", "rating_label", "language"),
    (r"/factcheck/.+|/sitemap-factchecks\.xml",),
)
