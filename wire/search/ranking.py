"""A page of search results, best or newest first. The database finds the newest matches, Python ranks them."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from wire.answers import StoriesAnswer
from wire.bounds import Sort
from wire.models import Story
from wire.models.compiled import Compiled, listed
from wire.models.search import TIE, documents, newest_places
from wire.schemas import SearchOut, estimated_tokens
from wire.search.cursor import decode, encode, invalid
from wire.search.meaning import likeness
from wire.search.total import COUNTED
from wire.snapshots.story_json import COLUMNS, shown
from wire.stories.question import ALL, MOST, SOME, Query, Term, Text

POOL: Final = 500  # up to so many matches are ranked together
WINDOW_SIZE: Final = 200  # of more the newest so many, then the next
ENOUGH: Final = {ALL: 5, MOST: 20, SOME: 0}  # stories; where fewer hold all words, those that hold most follow, then some
MATCHED: Final = {ALL: "all words", MOST: "most words", SOME: "some words"}
COMPARED: Final = 200  # best by words of those that need not hold all, whose meaning is compared with the question's

WORDS_WEIGHT: Final = 2.0  # of the score by words (0-1) …
MEANING_WEIGHT: Final = 20.0  # … beside the likeness of meaning, whose values lie close together
YEAR: Final = 365 * 86_400
FRESH: Final = 0.05  # added to a score for each year that a story is newer …
FRESH_ALONE: Final = 3.0  # … and where a single word or name is asked for, which most stories hold equally well

# What a cursor of a search can say: go on in the ranking of all; in a window; begin the window behind a place. Each begins
# with the mark of its question (`_mark`).
RANKED, WINDOW, BEHIND = "all", "window", "behind"
KINDS: Final = {RANKED: 3, WINDOW: 5, BEHIND: 2}
IN_TIME: Final = "time"  # go on behind a place, newest first


@dataclass(frozen=True, slots=True)
class Scope:
    """Where to look: stories with one of each of `marks` (`wire.models.search.marks`), low <= place < high."""

    marks: tuple[tuple[str, ...], ...] = ()
    low: int | None = None
    high: int | None = None

    def newest(self, question: Query, limit: int) -> list[int]:
        """Places of the newest stories that may hold what is asked for, newest first."""
        marks = [Term(one_of) for one_of in self.marks]
        wanted = [[*marks, *terms] for terms in question.looked_up]
        return newest_places(wanted, limit=limit, low=self.low, high=self.high)

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


class Found(NamedTuple):
    """A story that may be shown, and what it is ranked by."""

    pk: int
    text: Text


def ranked_page(scope: Scope, forms: Sequence[Query], asked: str, limit: int, cursor: str | None) -> StoriesAnswer[SearchOut]:
    """One page of the stories in `scope` that hold what is asked for, in the strictest of its forms that finds enough.

    `asked` is the question as it was put, whose meaning counts where not all words occur. A window is named by its first and last
    story, so stories that arrive between two pages shift nothing. Its last page may be short although another window follows.
    Raises: InvalidArgument for a strange cursor.
    """
    given = None if cursor is None else decode(cursor, KINDS)
    for form in forms:
        mark = _mark(scope, form, Sort.RELEVANCE)
        if given is not None and given[1][0] != mark:
            continue
        kind, values = (None, []) if given is None else (given[0], given[1][1:])
        if form.least == ALL:
            page = _strictly(scope, form, mark, limit, kind, values)
        else:
            page = _loosely(scope, forms[: forms.index(form) + 1], mark, asked, limit, values)
        if given is not None or page.head.total >= min(ENOUGH[form.least], COUNTED) or form is forms[-1]:
            return page
    raise invalid()


def _strictly(
    scope: Scope, question: Query, mark: str, limit: int, kind: str | None, values: list[Any]
) -> StoriesAnswer[SearchOut]:
    """All words occur. So many stories may hold them that windows of the newest are ranked."""
    question, places = _found(scope, question)
    is_exact = len(places) <= COUNTED
    texts: dict[int, Found] = {}
    if not question.is_certain:
        texts = _holding(places, question)
        places = [place for place in places if place in texts]
    kind = kind or (RANKED if is_exact and len(places) <= POOL else BEHIND)
    ranked = _candidates(scope, question, places, kind, values)
    texts |= _holding([place for place in ranked if place not in texts], question)
    after = _hit(values) if kind != BEHIND and values else None
    hits = [_ranked(place, texts[place], question) for place in ranked if place in texts]
    left = sorted(hit for hit in hits if after is None or hit[:2] > after[:2])
    page = left[:limit]
    following = _next(scope, question, mark, kind, ranked, page, more=len(left) > limit)
    ranking = "relevance" if kind == RANKED else "newest"
    shown = [texts[-hit.minus_place] for hit in page]
    return _answer(question, shown, following, len(places), is_exact=is_exact, ranking=ranking)


def _loosely(
    scope: Scope, forms: Sequence[Query], mark: str, asked: str, limit: int, values: list[Any]
) -> StoriesAnswer[SearchOut]:
    """Not all words occur. Of the newest thousand of each form that hold enough of them, the best by words are compared by meaning;
    the others are no answer.
    """
    question, places = forms[-1], set[int]()
    for form in forms:
        places.update(scope.newest(form, COUNTED))
    texts = _holding(sorted(places), question)
    by_words = sorted(_ranked(place, found, question) for place, found in texts.items())
    best = by_words[:COMPARED]
    meant = likeness(asked if len(question.terms) > 1 else "", [hit.pk for hit in best])
    hits = sorted(hit._replace(minus_score=round(hit.minus_score - MEANING_WEIGHT * meant[hit.pk], 6)) for hit in best)
    after = _hit(values) if values else None
    left = [hit for hit in hits if after is None or hit[:2] > after[:2]]
    page = left[:limit]
    following = encode(RANKED, mark, *page[-1].named) if len(left) > limit else None
    shown = [texts[-hit.minus_place] for hit in page]
    return _answer(question, shown, following, len(hits), is_exact=len(by_words) <= COMPARED)


def newest_page(scope: Scope, forms: Sequence[Query], limit: int, cursor: str | None) -> StoriesAnswer[SearchOut]:
    """One page of the stories in `scope` that hold what is asked for, newest first, in the strictest of its forms that finds any.

    Where only the texts tell what matches, each page looks through the next thousand that may, so it may be short although
    another one follows. Raises: InvalidArgument for a strange cursor.
    """
    given = None if cursor is None else decode(cursor, {IN_TIME: 2})[1]
    for form in forms:
        mark = _mark(scope, form, Sort.NEWEST)
        if given is not None and given[0] != mark:
            continue
        page = _newest(scope, form, mark, limit, None if given is None else _place(given[1]))
        if given is not None or page.head.total or form is forms[-1]:
            return page
    raise invalid()


def _newest(scope: Scope, question: Query, mark: str, limit: int, after: int | None) -> StoriesAnswer[SearchOut]:
    question, found = _found(scope, question)
    matching = _matching(found, question)
    looked_at, left = found, matching
    if after is not None:
        looked_at = scope.behind(after).newest(question, COUNTED + 1)
        left = _matching(looked_at, question)
    page = left[:limit]
    following = None
    if len(left) > limit:
        following = encode(IN_TIME, mark, page[-1])
    elif len(looked_at) > COUNTED and scope.behind(looked_at[-1]).newest(question, 1):
        following = encode(IN_TIME, mark, looked_at[-1])
    texts = _holding(page, question)
    shown = [texts[place] for place in page if place in texts]
    return _answer(question, shown, following, len(matching), is_exact=len(found) <= COUNTED, ranking="newest")


def _answer(
    question: Query, found: Sequence[Found], following: str | None, total: int, *, is_exact: bool, ranking: str = "relevance"
) -> StoriesAnswer[SearchOut]:
    stories = _stories([one.pk for one in found])
    head = SearchOut.model_construct(
        stories=[],
        next_cursor=following,
        total=min(total, COUNTED),
        total_is_exact=is_exact,
        est_tokens=estimated_tokens(stories),
        ranking=ranking,
        matched=MATCHED[question.least] if total and question.terms else None,
        not_found=question.missing_from([one.text for one in found]) if found and question.least < ALL else [],
    )
    return StoriesAnswer(head, stories)


def _matching(places: list[int], question: Query) -> list[int]:
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


def _found(scope: Scope, question: Query) -> tuple[Query, list[int]]:
    """Places of what is asked for, newest first, one more than are counted; and what was asked for in truth: a last word that a
    thousand stories hold as it stands is not the beginning of another.
    """
    found = scope.newest(question, COUNTED + 1)
    if len(found) > COUNTED and question != question.finished:
        finished = scope.newest(question.finished, COUNTED + 1)
        if len(finished) > COUNTED:
            return question.finished, finished
    return question, found


def _mark(scope: Scope, question: Query, sort: Sort) -> str:
    """Eight hex digits that tell what was asked, filters and order included, from all else: behind a place in one ranking, the
    matches of another would be left out without a word. Made of what is looked up, so that spellings of one filter are the same.
    """
    terms = [(term.exact, term.prefixes, term.synonyms) for term in question.terms]
    parts = (terms, question.phrases, question.least, scope.marks, scope.low, scope.high, str(sort))
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]


def _candidates(scope: Scope, question: Query, found: list[int], kind: str, values: Sequence[Any]) -> list[int]:
    """Places of what is ranked together, newest first."""
    if kind == RANKED:
        return found
    if kind == BEHIND:
        return scope.behind(_place(values[0])).newest(question, _window()) if values else found[: _window()]
    return scope.between(_place(values[0]), _place(values[1])).newest(question, COUNTED)


def _window() -> int:
    return min(POOL, WINDOW_SIZE)


def _holding(places: Sequence[int], question: Query) -> dict[int, Found]:
    """What those of these stories are ranked by that hold what is asked for; an index may also find others (`Query.is_certain`)."""
    found = {}
    for place, pk, told, length, marks in documents(places) if places else ():
        words = told.split(" ")
        text = Text(words[:length], words[length:], marks.split(" "))
        if question.is_certain or text.holds(question):
            found[place] = Found(pk, text)
    return found


def _ranked(place: int, found: Found, question: Query) -> Hit:
    """Relevance, and freshness: each year adds the same, so that the order of two stories never changes as they grow old."""
    fresh = FRESH_ALONE if len(question.terms) == 1 else FRESH
    score = WORDS_WEIGHT * found.text.score(question) + fresh * (place >> TIE) / YEAR
    return Hit(-round(score, 6), -place, found.pk)


def _next(
    scope: Scope, question: Query, mark: str, kind: str, places: Sequence[int], page: Sequence[Hit], *, more: bool
) -> str | None:
    if kind == RANKED:
        return encode(RANKED, mark, *page[-1].named) if more else None
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
