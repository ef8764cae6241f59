"""The editors' desk: `stories`, `feeds`, the `roster`, and the `record` of what was published."""

from wire.admin import feeds, record, roster, stories

__all__ = ["feeds", "record", "roster", "stories"]
