"""Template filters of the site and the desk. May import wire.queries and what queries return."""
