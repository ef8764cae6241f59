"""From stored stories to a published, signed day. May import wire.models, wire.text and wire.schemas.story."""
