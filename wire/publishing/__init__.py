"""From stored stories to a published, signed day: events, consensus, the editor's take, publishing, signing.

May import wire.models, wire.text and wire.schemas.story.
"""
