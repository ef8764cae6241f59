"""Full-text search: candidates from the index, ranked in Python; cursors and totals of every list.

May import wire.models, wire.stories, the stored JSON of wire.snapshots, wire.schemas and wire.answers.
"""
