"""Events and storylines: `cluster` and `storylines` decide which stories belong together, `event_store` and `storyline_store` write."""
