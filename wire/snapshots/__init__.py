"""From stored stories to a published, signed day: events, consensus, the editor's take, publishing, signing.

May import wire.models, wire.stories and wire.schemas.
"""
