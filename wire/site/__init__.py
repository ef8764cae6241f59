"""The site: pages, feeds, and small files for browsers and crawlers, from the answers of `wire.queries`. May import wire.queries
and what queries return; metrics alone counts rows of wire.models.
"""
