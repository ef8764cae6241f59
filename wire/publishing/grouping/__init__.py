"""Events and storylines: `cluster` and `storylines` decide which stories belong together, `events` and `storyline_store` write."""
