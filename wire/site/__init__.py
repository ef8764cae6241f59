"""The door for people: pages, feeds, and what browsers and crawlers ask a site for. Everything shown comes from `wire.queries`.

`pages`: news · `reference`: what explains the wire · `machine`: feeds, sitemaps and small files · `metadata`: JSON-LD ·
`errors`: what is not there, and health.
"""
