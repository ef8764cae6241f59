"""Events and storylines: `cluster` and `storylines` decide what belongs together, `event_store` and `storyline_store` write."""
