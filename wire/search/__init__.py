"""Full-text search: candidates from the index, ranked in Python; cursors and totals of every list.

May import wire.models, wire.text, the stored JSON of wire.publishing, wire.schemas.story and wire.schemas.story_list.
"""
