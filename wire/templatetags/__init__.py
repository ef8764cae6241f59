"""Template filters of the site and the desk. May import wire.schemas.story and wire.text."""
