"""Citation formats and their parsing back: pure functions, no Django."""
