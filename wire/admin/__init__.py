"""The editors' desk.

`stories`, `feeds`, the `roster` and its `replacement`, the `lexicon`, the `record` of what was published and done, the `people`.
`dashboard` is its first page, `login` its door.
"""

from wire.admin import feeds, lexicon, people, record, replacement, roster, stories

__all__ = ["feeds", "lexicon", "people", "record", "replacement", "roster", "stories"]
