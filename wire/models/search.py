"""Tables of search: documents, whose words the database only finds and `wire.text.tokens` ranks, postings, and embeddings."""

import datetime as dt
import json
import math
import zlib
from collections.abc import Iterable, Sequence
from typing import Any, Final

from django.db import models

from config.database.routing import connection
from wire.models.story import Story
from wire.text.search_query import Term

TIE: Final = 20  # bits of a position that tell stories of one second apart
_DIGITS: Final = {digit: value for value, digit in enumerate("0123456789abcdefghjkmnpqrstvwxyz")}

# Postgres has no index that is both of words and in the order of time. So each document also holds in which stretch of time it
# lies, of six lengths (1.5 days to four years), and the newest stories are asked for in ever longer stretches.
_STRETCHES: Final = (37, 39, 41, 43, 45, 47)  # bits of a position that a stretch leaves out
_GROWTH: Final = 4
_MANY: Final = 1000  # about what most ask for
# Nor does it find the beginnings of words without collecting all of them, so those of three to six letters are tokens too.
_BEGINNINGS: Final = {3, 4, 5, 6}
_BEGINS: Final = "〃"
_VECTOR: Final = (
    "array_to_tsvector(array_remove(string_to_array(tokens || ' ' || marks, ' '), '') || wire_beginnings(tokens) || ARRAY["
    + ", ".join(f"'6{letter}' || (place >> {bits})" for letter, bits in zip("abcdef", _STRETCHES, strict=True))
    + "])"
)
_LEAST: Final = -(2**62)
# A JSON list of keys as rows: the statement is the same for any number of them.
_LISTED: Final = {
    "sqlite": "SELECT value FROM json_each(%s)",
    "postgresql": "SELECT value::bigint FROM json_array_elements_text(%s::json)",
}


class SearchDocument(models.Model):
    """A published story as search finds it; a withdrawn one has none. Rows and index lie in the order of lists."""

    # Never counted up; but of the fields this kind alone makes SQLite keep the rows themselves in its order.
    place = models.BigAutoField(primary_key=True, help_text="Place in the order of time; lists show the greatest first.")
    story = models.OneToOneField(Story, on_delete=models.CASCADE, related_name="search_document")
    tokens = models.TextField(help_text="wire.text.tokens of headline and summary, separated by single spaces.")
    headline_length = models.PositiveSmallIntegerField(help_text="How many of the tokens belong to the headline.")
    marks = models.TextField(help_text="Its category, topics, publication and tier, and pairs of words, as tokens.")

    def __str__(self) -> str:
        return self.tokens[:60]


class Postings(models.Model):
    index = models.CharField(max_length=60)
    token = models.CharField(max_length=100)
    block = models.PositiveIntegerField()
    found = models.BinaryField(help_text="One little-endian 32-bit word each: the number in the block, then eight bits of weight.")

    class Meta:
        constraints = [models.UniqueConstraint(fields=["index", "token", "block"], name="postings_once")]

    def __str__(self) -> str:
        return f"{self.index}: {self.token} in block {self.block}"


class StoryVector(models.Model):
    """The vector of a story's headline and summary; `wire.search.vectors.fill` makes what is missing."""

    story = models.OneToOneField(Story, on_delete=models.CASCADE, primary_key=True, related_name="vector")
    model = models.CharField(max_length=60, help_text="The model that computed it; vectors of two models cannot be compared.")
    revision = models.PositiveIntegerField(default=1, help_text="The story's revision whose texts it was computed from.")
    vector = models.BinaryField(help_text="A unit vector of IEEE 754 binary16 numbers, little-endian.")

    def __str__(self) -> str:
        return f"{self.story_id} by {self.model}"


def get_first_position(moment: dt.datetime) -> int:
    """Return the least position of stories that were published at `moment` or later."""
    return math.ceil(moment.timestamp()) << TIE


def get_position(published_at: dt.datetime, chatbotnews_id: str) -> int:
    """Return seconds since 1970, then the beginning of the id, inverted: lists have the least id of a moment first."""
    tie = 0
    for digit in chatbotnews_id[4 : 4 + TIE // 5]:
        tie = tie << 5 | _DIGITS[digit]
    return int(published_at.timestamp()) << TIE | (1 << TIE) - 1 - tie


def encode_filters(
    category: str | None = None, topics: Sequence[str] = (), publication: int | None = None, tier: int | None = None
) -> list[str]:
    """Return filters as tokens of a document: two rare Chinese characters, as no token of a text is spelled."""
    filters = [("category", category), *(("topic", topic) for topic in topics), ("publication", publication), ("tier", tier)]
    numbers = (zlib.crc32(f"{kind} {value}".encode()) for kind, value in filters if value is not None)
    return [chr(0x3400 + number % 4096) + chr(0x3400 + number // 4096 % 4096) for number in numbers]


def find_newest(wanted: Sequence[Sequence[Term]], *, limit: int, low: int | None = None, high: int | None = None) -> list[int]:
    """Return positions of the newest `limit` stories that hold every term of any of these, or of all stories if nothing is wanted;
    low <= position < high; newest first.

    Both databases look the same stored tokens up in an index of theirs (migration 0007), so both give the same answer, and
    neither reads more of its index than a few times `limit` entries a term.
    """
    low = _LEAST if low is None else low
    if not any(wanted):
        rows = SearchDocument.objects.filter(place__gte=low, place__lt=-_LEAST if high is None else high)
        return list(rows.order_by("-place").values_list("place", flat=True)[:limit])
    # Tokens are ASCII letters and digits, or two Chinese characters, so nothing in them is query syntax.
    if connection.vendor == "sqlite":
        match = _write_match(wanted, '"{}"', '"{}"*', " AND ", " OR ")
        return _fetch_positions(
            "SELECT -rowid FROM wire_searchindex WHERE wire_searchindex MATCH %s AND rowid > %s AND rowid <= %s "
            "ORDER BY rowid LIMIT %s",
            [match, _LEAST if high is None else -high, -low, limit],
        )
    with_beginnings = [[_add_beginnings(term) for term in terms] for terms in wanted]
    return _find_newest_on_postgres(_write_match(with_beginnings, "'{}'", "'{}':*", " & ", " | "), low, high, limit)


def is_term_held(term: Term) -> bool:
    """Return whether any story holds a term, or a synonym of it."""
    return bool(find_newest([[Term((*term.exact, *term.synonyms), term.prefixes)]], limit=1))


def read_documents(positions: Sequence[int]) -> list[tuple[int, int, str, int, str]]:
    """Return position, story's key, tokens, headline_length and marks of each; hundreds a search, so in plain SQL."""
    sql = "SELECT place, story_id, tokens, headline_length, marks FROM wire_searchdocument WHERE place IN ({})"
    return _select_listed(sql, positions)


def read_events(positions: Sequence[int]) -> dict[int, str]:
    """Return the event of each story, by position."""
    joined = "wire_searchdocument JOIN wire_story ON wire_story.id = story_id"
    return dict(_select_listed(f"SELECT place, coalesce(event_id, chatbotnews_id) FROM {joined} WHERE place IN ({{}})", positions))  # noqa: S608  ours


def find_event_positions(events: Iterable[str]) -> dict[int, str]:
    """Return the positions of the stories of these events, and the event of each."""
    return dict(SearchDocument.objects.filter(story__event__in=set(events)).values_list("place", "story__event"))


def find_last_story() -> int:
    """Return the key of the story that came last of those that are searched; 0 without any."""
    return SearchDocument.objects.aggregate(last=models.Max("story_id"))["last"] or 0


def _select_listed(sql: str, keys: Sequence[int]) -> list[Any]:
    with connection.cursor() as cursor:
        cursor.execute(sql.format(_LISTED[connection.vendor]), [json.dumps(keys)])
        return list(cursor.fetchall())


def _find_newest_on_postgres(match: str, low: int, high: int | None, limit: int) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT min(place), max(place) FROM wire_searchdocument")
        first, last = cursor.fetchone()
    if last is None:
        return []
    low, high = max(low, first), last + 1 if high is None else min(high, last + 1)
    stretch = 0
    while True:
        is_whole, narrowed = stretch >= len(_STRETCHES), match
        if not is_whole:
            top = (high - 1) >> _STRETCHES[stretch]
            letter = "abcdef"[stretch]
            is_whole = (top - 1) << _STRETCHES[stretch] <= low
            narrowed = f"({match}) & ('6{letter}{top}' | '6{letter}{top - 1}')"
        found = _fetch_positions(
            f"WITH hit AS MATERIALIZED (SELECT place FROM wire_searchdocument WHERE {_VECTOR} @@ %s::tsquery) "  # noqa: S608  ours
            "SELECT place FROM hit WHERE place >= %s AND place < %s ORDER BY place DESC LIMIT %s",
            [narrowed, low, high, limit],
        )
        if is_whole or len(found) >= limit:
            return found
        stretch += max(1, int(math.log(_MANY / max(len(found), 1), _GROWTH)))


def _fetch_positions(sql: str, parameters: list[Any]) -> list[int]:
    with connection.cursor() as cursor:
        cursor.execute(sql, parameters)
        return [row[0] for row in cursor.fetchall()]


def _add_beginnings(term: Term) -> Term:
    short = [_BEGINS + prefix for prefix in term.prefixes if len(prefix) in _BEGINNINGS]
    return Term((*term.exact, *short), tuple(prefix for prefix in term.prefixes if len(prefix) not in _BEGINNINGS))


def _write_match(wanted: Sequence[Sequence[Term]], exact: str, beginning: str, every: str, either: str) -> str:
    sets = ([[*map(exact.format, term.exact), *map(beginning.format, term.prefixes)] for term in terms] for terms in wanted)
    return either.join(f"({every.join(f'({either.join(words)})' for words in terms)})" for terms in sets)
