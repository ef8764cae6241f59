"""A page of search results, best or newest first. The database finds the newest matches, Python ranks them."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Any, Final, NamedTuple

from rapidfuzz import fuzz, process

from wire.answers import StoriesAnswer
from wire.bounds import Sort
from wire.models import Snapshot, Story
from wire.models.compiled import Compiled, listed
from wire.models.search import documents, newest_places
from wire.schemas import SearchOut, estimated_tokens
from wire.search.cursor import decode, encode, invalid
from wire.search.total import COUNTED
from wire.snapshots.story_json import COLUMNS, shown
from wire.stories import tokens

POOL: Final = 500  # up to so many matches are ranked together
WINDOW_SIZE: Final = 200  # of more the newest so many, then the next

VOCABULARY: Final = 2000  # newest headlines whose words a misspelt one may have meant
NEAR: Final = 75.0  # likeness 0-100 of a misspelt word and the one that it may have meant

# What a cursor of a search can say: go on in the ranking of all; in a window; begin the window behind a place. Each begins
# with the mark of its question (`_mark`).
ALL, WINDOW, BEHIND = "all", "window", "behind"
KINDS: Final = {ALL: 3, WINDOW: 5, BEHIND: 2}
IN_TIME: Final = "time"  # go on behind a place, newest first


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look: stories with all of `marks` (`wire.models.search.marks`), low <= place < high."""

    marks: tuple[str, ...] = ()
    low: int | None = None
    high: int | None = None

    def newest(self, question: tokens.Query, limit: int) -> list[int]:
        """Places of the newest stories that hold what is asked for, newest first."""
        terms = [*(tokens.Term((mark,)) for mark in self.marks), *question.looked_up]
        return newest_places(terms, limit=limit, low=self.low, high=self.high)

    def behind(self, place: int) -> "Scope":
        return replace(self, high=place)

    def between(self, first: int, last: int) -> "Scope":
        """From one place down to another, both included."""
        return replace(self, high=first + 1, low=last)


class Hit(NamedTuple):
    """In the order of a page: best first, newer first among equals."""

    minus_score: float
    minus_place: int
    pk: int = 0

    @property
    def named(self) -> tuple[float, int]:
        """Score and place, as cursors have them."""
        return -self.minus_score, -self.minus_place


class Text(NamedTuple):
    """What a story is ranked by."""

    pk: int
    tokens: str
    headline_length: int


def ranked_page(scope: Scope, question: tokens.Query, limit: int, cursor: str | None) -> StoriesAnswer[SearchOut]:
    """One page of the stories in `scope` that hold what is asked for. Raises: InvalidArgument for a strange cursor.

    A window is named by its first and last story, so stories that arrive between two pages shift nothing. Its last page
    may be short although another window follows.
    """
    mark = _mark(scope, question, Sort.RELEVANCE)
    question, found = _found(scope, question)
    is_exact = len(found) <= COUNTED
    texts: dict[int, Text] = {}
    if not question.is_certain:
        texts = _holding(found, question)
        found = [place for place in found if place in texts]
    kind, values = (ALL if is_exact and len(found) <= POOL else BEHIND), list[Any]()
    if cursor is not None:
        kind, (of, *values) = decode(cursor, KINDS)
        if of != mark:
            raise invalid()
    places = _candidates(scope, question, found, kind, values)
    texts |= _holding([place for place in places if place not in texts], question)
    after = _hit(values) if kind != BEHIND and values else None
    hits = [_ranked(place, texts[place], question) for place in places if place in texts]
    left = sorted(hit for hit in hits if after is None or hit[:2] > after[:2])
    page = left[:limit]
    stories = _stories([hit.pk for hit in page])
    head = SearchOut.model_construct(
        stories=[],
        next_cursor=_next(scope, question, mark, kind, places, page, more=len(left) > limit),
        total=min(len(found), COUNTED),
        total_is_exact=is_exact,
        est_tokens=estimated_tokens(stories),
        ranking="relevance" if kind == ALL else "newest",
    )
    return StoriesAnswer(head, stories)


def newest_page(scope: Scope, question: tokens.Query, limit: int, cursor: str | None) -> StoriesAnswer[SearchOut]:
    """One page of the stories in `scope` that hold what is asked for, all of them if that is nothing, newest first.

    Where only the texts tell what matches, each page looks through the next thousand that may, so it may be short although
    another one follows. Raises: InvalidArgument for a strange cursor.
    """
    mark = _mark(scope, question, Sort.NEWEST)
    question, found = _found(scope, question)
    matching = _matching(found, question)
    looked_at, left = found, matching
    if cursor is not None:
        of, place = decode(cursor, {IN_TIME: 2})[1]
        if of != mark:
            raise invalid()
        looked_at = scope.behind(_place(place)).newest(question, COUNTED + 1)
        left = _matching(looked_at, question)
    page = left[:limit]
    following = None
    if len(left) > limit:
        following = encode(IN_TIME, mark, page[-1])
    elif len(looked_at) > COUNTED and scope.behind(looked_at[-1]).newest(question, 1):
        following = encode(IN_TIME, mark, looked_at[-1])
    keys = {place: key for place, key, *_ in documents(page)} if page else {}
    stories = _stories([keys[place] for place in page if place in keys])
    head = SearchOut.model_construct(
        stories=[],
        next_cursor=following,
        total=min(len(matching), COUNTED),
        total_is_exact=len(found) <= COUNTED,
        est_tokens=estimated_tokens(stories),
        ranking="newest",
    )
    return StoriesAnswer(head, stories)


def _matching(places: list[int], question: tokens.Query) -> list[int]:
    """Those of these places whose stories hold what is asked for, in the same order."""
    if question.is_certain:
        return places
    texts = _holding(places, question)
    return [place for place in places if place in texts]


def _stories(keys: Sequence[int]) -> list[bytes]:
    """Their JSON, in this order; without what was withdrawn meanwhile."""
    rows = {row[0]: row for row in _BY_KEY.rows(json.dumps(keys))}
    return shown(rows[key] for key in keys if key in rows)


_BY_KEY: Final = Compiled(lambda keys: Story.objects.live().filter(pk__in=listed(keys)).values_list(*COLUMNS))


def _found(scope: Scope, question: tokens.Query) -> tuple[tokens.Query, list[int]]:
    """Places of what is asked for, newest first, one more than are counted; and what was asked for in truth: a last word that a
    thousand stories hold as it stands is not the beginning of another.
    """
    found = scope.newest(question, COUNTED + 1)
    if len(found) > COUNTED and question != question.finished:
        finished = scope.newest(question.finished, COUNTED + 1)
        if len(finished) > COUNTED:
            return question.finished, finished
    return question, found


def suggestion(query: str, scope: Scope) -> str | None:
    """A question near to one that finds nothing in `scope`, and that finds something: misspelt words put right by headlines of the
    newest stories, words that no story holds left out, one word fewer, one word alone. None when there is no such question.
    """

    def finds(words: Sequence[str]) -> bool:
        question = tokens.parse(" ".join(words))
        return bool(question.terms) and bool(scope.newest(question, 1))

    given = [word for word in tokens.chains(query)[: tokens.MAX_QUERY_TOKENS] if word not in tokens.STOP_WORDS]
    known = _vocabulary(Snapshot.objects.order_by("-sequence").values_list("wire_sha256", flat=True).first())
    right = [word if finds([word]) else process.extractOne(word, known, scorer=fuzz.ratio, score_cutoff=NEAR) for word in given]
    words = [word if isinstance(word, str) else str(word[0]) for word in right if word]
    fewer = combinations(words, len(words) - 1) if len(words) > 2 else ()
    return next((" ".join(few) for few in [words, *fewer, *([word] for word in words)] if finds(few)), None)


@lru_cache(maxsize=1)
def _vocabulary(_wire_sha256: str | None) -> list[str]:
    """Words of the newest headlines, newest first. Kept for one state of the wire, which its newest snapshot's hash names."""
    headlines = Story.objects.live().newest_first().values_list("current__headline", flat=True)[:VOCABULARY]
    return list(dict.fromkeys(word for headline in headlines for word in tokens.chains(headline) if word not in tokens.STOP_WORDS))


def _mark(scope: Scope, question: tokens.Query, sort: Sort) -> str:
    """Eight hex digits that tell what was asked, filters and order included, from all else: behind a place in one ranking, the
    matches of another would be left out without a word. Made of what is looked up, so that spellings of one filter are the same.
    """
    parts = (question.terms, question.phrases, scope.marks, scope.low, scope.high, str(sort))
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]


def _candidates(scope: Scope, question: tokens.Query, found: list[int], kind: str, values: Sequence[Any]) -> list[int]:
    """Places of what is ranked together, newest first."""
    if kind == ALL:
        return found
    if kind == BEHIND:
        return scope.behind(_place(values[0])).newest(question, _window()) if values else found[: _window()]
    return scope.between(_place(values[0]), _place(values[1])).newest(question, COUNTED)


def _window() -> int:
    return min(POOL, WINDOW_SIZE)


def _holding(places: Sequence[int], question: tokens.Query) -> dict[int, Text]:
    """The texts of those of these stories that hold what is asked for; an index may also find others (`Query.is_certain`)."""
    texts = {place: Text(pk, tokens, length) for place, pk, tokens, length in (documents(places) if places else ())}
    if question.is_certain:
        return texts
    return {place: text for place, text in texts.items() if tokens.holds(text.tokens, text.headline_length, question)}


def _ranked(place: int, text: Text, question: tokens.Query) -> Hit:
    words = text.tokens.split(" ")
    headline, summary = words[: text.headline_length], words[text.headline_length :]
    return Hit(-tokens.score(headline, summary, question), -place, text.pk)


def _next(
    scope: Scope, question: tokens.Query, mark: str, kind: str, places: Sequence[int], page: Sequence[Hit], *, more: bool
) -> str | None:
    if kind == ALL:
        return encode(ALL, mark, *page[-1].named) if more else None
    if not places:
        return None
    if more:
        return encode(WINDOW, mark, places[0], places[-1], *page[-1].named)
    return encode(BEHIND, mark, places[-1]) if scope.behind(places[-1]).newest(question, 1) else None


def _hit(values: Sequence[Any]) -> Hit:
    """Where the page before ended. Raises: InvalidArgument."""
    score, place = values[-2:]
    if not isinstance(score, int | float) or isinstance(score, bool):
        raise invalid()
    return Hit(-float(score), -_place(place))


def _place(value: Any) -> int:
    """Raises: InvalidArgument."""
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 2**62:
        raise invalid()
    return value
