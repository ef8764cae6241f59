"""Full-text search: candidates from the index, ranked in Python; cursors and totals of every list. May import wire.models,
wire.text, and of publishing and schemas what stories' JSON needs.
"""
