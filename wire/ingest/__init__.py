"""From an entry of a feed or archive to a stored story: normalise, match, classify, store; and editors' corrections.

May import sources, wire.models, wire.text and wire.publishing.
"""
