"""Template filters of the site and the desk. May import wire.schemas and wire.stories."""
