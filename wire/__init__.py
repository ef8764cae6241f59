"""Stories, events and snapshots, and what is asked about them. May import sources, citations and config, as all its rooms may.

Rooms import downwards: `site`, `admin`, `rest` · `queries`, `archive` · `search`, `intake` · `snapshots` · `models` · `stories`;
which of these each may import stands in its own `__init__`.
"""
