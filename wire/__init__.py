"""Stories, events and snapshots, and what is asked about them. May import sources, citations and config, as all its rooms may.

Rooms import downwards: `corpora` · `site`, `admin`, `api`, `ops` · `queries` · `search`, `ingest` · `publishing` · `models` ·
`schemas` · `text`; which of these each may import stands in its own `__init__`.
"""
