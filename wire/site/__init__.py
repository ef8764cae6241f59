"""The site: pages, feeds, and what browsers and crawlers ask for. Everything shown comes from `wire.queries`.

May import wire.queries and what queries return; metrics alone counts rows of wire.models.

`pages`: news · `search`: the search page · `reference`: what explains the wire · `machine`: feeds, sitemaps and small files ·
`metadata`: JSON-LD · `cards`: pictures for shared links · `errors`: what is not there, and health.
"""
