"""Full-text search. May import wire.models, wire.text, and of publishing and schemas what stories' JSON needs."""
