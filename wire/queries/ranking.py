"""A page of search results. The database finds the matches, Python ranks them."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

from rapidfuzz import fuzz, process

from wire import search
from wire.models.story import StoryQuerySet
from wire.queries.cursor import Place, decode, decode_place, encode, encode_place, invalid
from wire.queries.render import story_out
from wire.schemas import SearchOut, estimated_tokens

POOL: Final = 500  # up to so many matches are ranked together; beyond, the newest so many, then the next

VOCABULARY: Final = 2000  # newest headlines whose words a misspelt one may have meant
NEAR: Final = 75.0  # likeness 0-100 of a misspelt word and the one that it may have meant

# What a cursor of a search can say: go on in the ranking of all; in a window; begin the window behind a place. Each begins
# with the mark of its question.
ALL, WINDOW, BEHIND = "all", "window", "behind"
KINDS: Final = {ALL: 3, WINDOW: 5, BEHIND: 2}


@dataclass(frozen=True, slots=True)
class Hit:
    score: float
    place: Place
    pk: int

    @property
    def rank(self) -> tuple[float, float, str]:
        """Best first, newer first among equals."""
        return (-self.score, -self.place[0].timestamp(), self.place[1])


def ranked_page(rows: StoryQuerySet, question: search.Query, limit: int, cursor: str | None) -> SearchOut:
    """One page of `rows`, all of which hold the question's words. Raises: InvalidArgument for a strange cursor.

    A window is named by its first and last story, so stories that arrive between two pages shift nothing. Its last page
    may be short although another window follows.
    """
    total = rows.count()
    kind = ALL if question.phrases or total <= POOL else BEHIND
    values: list[Any] = []
    if cursor is not None:
        kind, (mark, *values) = decode(cursor, KINDS)
        if mark != question.mark:
            raise invalid()
    hits = _hits(_candidates(rows, kind, values), question)
    if kind == ALL and question.phrases:
        total = len(hits)
    after = _hit(values).rank if kind != BEHIND and values else None
    left = sorted((hit for hit in hits if after is None or hit.rank > after), key=lambda hit: hit.rank)
    page = left[:limit]
    stories = {story.pk: story for story in rows.with_text().filter(pk__in=[hit.pk for hit in page])}
    shown = [story_out(stories[hit.pk]) for hit in page if hit.pk in stories]
    return SearchOut(
        stories=shown,
        next_cursor=_next(rows, question.mark, kind, hits, page, more=len(left) > limit),
        total=total,
        est_tokens=estimated_tokens(shown),
        ranking="relevance" if kind == ALL else "newest",
    )


def suggestion(query: str, rows: StoryQuerySet) -> str | None:
    """A question near to one that finds nothing in `rows`, and that finds something: misspelt words put right by headlines of the
    newest stories, words that no story holds left out, one word fewer, one word alone. None when there is no such question.
    """

    def finds(words: Sequence[str]) -> bool:
        question = search.parse(" ".join(words))
        return bool(question.terms) and rows.holding(question.terms).exists()

    asked = [word for word in search.chains(query)[: search.MAX_QUERY_TOKENS] if word not in search.STOP_WORDS]
    headlines = rows.newest_first().values_list("current__headline", flat=True)[:VOCABULARY]
    known = list(dict.fromkeys(word for headline in headlines for word in search.chains(headline) if word not in search.STOP_WORDS))
    right = [word if finds([word]) else process.extractOne(word, known, scorer=fuzz.ratio, score_cutoff=NEAR) for word in asked]
    words = [word if isinstance(word, str) else str(word[0]) for word in right if word]
    fewer = combinations(words, len(words) - 1) if len(words) > 2 else ()
    return next((" ".join(few) for few in [words, *fewer, *([word] for word in words)] if finds(few)), None)


def _candidates(rows: StoryQuerySet, kind: str, values: Sequence[Any]) -> StoryQuerySet:
    if kind == ALL:
        return rows
    if kind == BEHIND:
        return (rows.after(*decode_place(values[0])) if values else rows).newest_first()[:POOL]
    first, last = decode_place(values[0]), decode_place(values[1])
    return rows.from_place(*first).up_to(*last)


def _hits(rows: StoryQuerySet, question: search.Query) -> list[Hit]:
    columns = ("pk", "published_at", "chatbotnews_id", "search_document__tokens", "search_document__headline_length")
    hits = []
    for pk, published_at, story_id, text, headline_length in rows.values_list(*columns).iterator(2000):
        tokens = text.split(" ")
        told = tokens[:headline_length], tokens[headline_length:]
        if not question.phrases or search.holds(*told, question):
            hits.append(Hit(search.score(*told, question), (published_at, story_id), pk))
    return hits


def _next(rows: StoryQuerySet, mark: str, kind: str, hits: Sequence[Hit], page: Sequence[Hit], *, more: bool) -> str | None:
    if kind == ALL:
        return encode(ALL, mark, page[-1].score, encode_place(page[-1].place)) if more else None
    if not hits:
        return None
    by_time = sorted(hits, key=lambda hit: (-hit.place[0].timestamp(), hit.place[1]))
    first, last = by_time[0].place, by_time[-1].place
    if more:
        return encode(WINDOW, mark, encode_place(first), encode_place(last), page[-1].score, encode_place(page[-1].place))
    return encode(BEHIND, mark, encode_place(last)) if rows.after(*last).exists() else None


def _hit(values: Sequence[Any]) -> Hit:
    """Where the page before ended. Raises: InvalidArgument."""
    score, place = values[-2:]
    if not isinstance(score, int | float) or isinstance(score, bool):
        raise invalid()
    return Hit(float(score), decode_place(place), 0)
