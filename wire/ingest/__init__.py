"""From an entry to a stored story; editors' corrections. May import sources, wire.models, wire.text and wire.publishing."""
