"""What full-text search reads. The database only finds which stories hold the words; `wire.search` ranks them."""

from collections.abc import Sequence

from django.db import connection, models
from django.db.models.expressions import RawSQL

from wire.models.story import Story
from wire.search import Term


class SearchDocument(models.Model):
    """What one published story is found by (`wire.search.tokens`), separated by single spaces; the headline's first."""

    story = models.OneToOneField(Story, on_delete=models.CASCADE, primary_key=True, related_name="search_document")
    tokens = models.TextField()
    headline_length = models.PositiveSmallIntegerField(help_text="How many of the tokens are the headline's.")

    def __str__(self) -> str:
        return self.tokens[:60]


def stories_holding(terms: Sequence[Term], *, every: bool) -> RawSQL:
    """A subquery of the primary keys of stories that hold every one of `terms`, or any of them.

    Tokens are lower-case ASCII letters and digits (`wire.search.tokens`), so nothing in them is query syntax. Both
    databases look the same stored tokens up in an index of theirs (migration 0002), so both give the same answer.
    """
    if connection.vendor == "sqlite":
        match = (" AND " if every else " OR ").join(_either(term, '"{}"', '"{}"*', " OR ") for term in terms)
        return RawSQL("SELECT rowid FROM wire_searchindex WHERE wire_searchindex MATCH %s", [match])
    match = (" & " if every else " | ").join(_either(term, "'{}'", "'{}':*", " | ") for term in terms)
    return RawSQL(
        "SELECT story_id FROM wire_searchdocument WHERE array_to_tsvector(string_to_array(tokens, ' ')) @@ %s::tsquery",
        [match],
    )


def _either(term: Term, exact: str, beginning: str, either: str) -> str:
    told = [*map(exact.format, term.exact), *map(beginning.format, term.prefixes)]
    return f"({either.join(told)})"
