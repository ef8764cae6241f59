"""A page of search results, best or newest first. The database finds the newest matches, Python ranks them."""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, TypeVar

from wire.models import Story
from wire.models.search import TIE, find_event_positions, find_last_story, find_newest, is_term_held, read_documents, read_events
from wire.publishing.story_json import COLUMNS, read_stories_json
from wire.schemas.params import Group, Sort
from wire.schemas.stories_answer import StoriesAnswer, set_field
from wire.schemas.story import SearchOut
from wire.search.cursor import COUNTED, build_cursor_error, decode_cursor, encode_cursor
from wire.search.nearest import find_nearest_stories
from wire.text.search_query import ALL, MOST, SOME, Query, Term, Text

POOL: Final = 500  # up to so many matches are ranked together
WINDOW_SIZE: Final = 200  # of more matches the newest so many are ranked, then the next
ENOUGH: Final = {ALL: 5, MOST: 20, SOME: 0}  # stories; where fewer hold all words, those that hold most follow, then some
MATCHED: Final = {ALL: "all words", MOST: "most words", SOME: "some words"}
COMPARED: Final = 200  # best by words of those that need not hold all, whose meaning is compared with the question's

WORDS_WEIGHT: Final = 2.0  # of the score by words (0-1) …
MEANING_WEIGHT: Final = 20.0  # … beside the likeness of meaning, whose values lie close together
NEAREST: Final = 100  # stories nearest in meaning that may be found without a word of the question
PROMINENT: Final = 4.0  # deviations by which the nearest story has to stand out to answer a question of which it holds few words
FUSION: Final = 5  # of reciprocal ranks: a small one, since the first few of either list are what is read
YEAR: Final = 365 * 86_400
FRESH: Final = 0.05  # added to a score for each year that a story is newer …
FRESH_ALONE: Final = 3.0  # … and where a single word or name is asked for, which most stories hold equally well

# What a cursor of a search can say: go on in the ranking of all; in a window; begin the window behind a position. Each begins
# with the mark of its question; behind it, where stories are grouped by event, ":" and the key of the last story that had
# come when the first page was shown: one that comes later must not take its event from a page that is still to be shown.
RANKED, WINDOW, BEHIND = "all", "window", "behind"
KINDS: Final = {RANKED: 3, WINDOW: 5, BEHIND: 2}
IN_TIME: Final = "time"  # go on behind a position, newest first

Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class Scope:
    """Stories to search: those with one of each of `marks` (`wire.models.search.encode_filters`), low <= position < high."""

    marks: tuple[tuple[str, ...], ...] = ()
    low: int | None = None
    high: int | None = None

    def newest(self, question: Query, limit: int) -> list[int]:
        """Return positions of the newest stories that may match, newest first."""
        marks = [Term(one_of) for one_of in self.marks]
        wanted = [[*marks, *terms] for terms in question.lookup_sets]
        return find_newest(wanted, limit=limit, low=self.low, high=self.high)

    def holds(self, position: int) -> bool:
        return (self.low is None or self.low <= position) and (self.high is None or position < self.high)

    def behind(self, position: int) -> "Scope":
        return replace(self, high=position)


class SearchHit(NamedTuple):
    """A story of a page, whose order is from the greatest on: best first, newer first among equals."""

    score: float
    position: int
    pk: int


class StoryText(NamedTuple):
    pk: int
    text: Text


@dataclass(frozen=True, slots=True)
class Paging:
    """Which page is asked for: `values` are those of its cursor, `last` is the last story that may be in a list by event."""

    limit: int
    mark: str
    kind: str | None = None
    values: Sequence[Any] = ()
    last: int | None = None

    def encode(self, kind: str, *values: Any) -> str:
        return encode_cursor(kind, self.mark if self.last is None else f"{self.mark}:{self.last}", *values)

    def may_show(self, found: StoryText) -> bool:
        return self.last is None or found.pk <= self.last


def build_ranked_page(
    scope: Scope, forms: Sequence[Query], asked: str, limit: int, cursor: str | None, group: Group
) -> StoriesAnswer[SearchOut]:
    """Return a page of the stories in `scope` that match the strictest form of a question that finds enough.

    `asked` is the question as it was put, whose meaning counts where not all words occur. A window is named by its first and last
    story, so stories that arrive between two pages shift nothing. Its last page may be short although another window follows.
    By event, the best story of each event is shown and the others are counted; of windows, in that of the event's newest match.
    Raises: InvalidArgument for a strange cursor.
    """
    kind, (given, *values) = (None, [""]) if cursor is None else decode_cursor(cursor, KINDS)
    given_mark, _, given_last = str(given).partition(":")
    last = None
    if group == Group.EVENT:
        is_number = given_last.isascii() and given_last.isdigit() and len(given_last) < 19
        last = find_last_story() if cursor is None else _validate_position(int(given_last) if is_number else None)
    waiting, read = list[Query](), dict[int, StoryText]()  # forms not looked up yet, and the newest thousand of the others
    for form in forms:
        waiting.append(form)
        mark = _fingerprint_search(scope, form, Sort.RELEVANCE, group)
        if cursor is not None and given_mark != mark:
            continue
        paging = Paging(limit, mark, kind, values, last)
        is_last = cursor is not None or form is forms[-1]
        if form.least == ALL:
            page = _match_all(scope, form, paging, least=0 if is_last else ENOUGH[ALL])
            if page and cursor is None and is_last and not page.head.total:  # a single word that no story holds
                return _match_any(scope, form, {}, paging, asked)
            if page:
                return page
        else:
            positions = {position for one in waiting for position in scope.newest(one, COUNTED)}
            waiting.clear()
            read |= _read_texts([*(positions - read.keys())])
            texts = {position: one for position, one in read.items() if one.text.holds(form)}
            if is_last and not texts:  # words that no story holds silence no question
                held = replace(form, terms=tuple(term for term in form.terms if term.is_required or is_term_held(term)))
                texts = _read_matching(scope.newest(held, COUNTED), held) if held.terms else {}
            if is_last or len(texts) >= ENOUGH[form.least]:
                return _match_any(scope, form, texts, paging, asked)
    raise build_cursor_error()


def _match_all(scope: Scope, question: Query, paging: Paging, least: int) -> StoriesAnswer[SearchOut] | None:
    """Answer with stories that hold all words, so many that windows of the newest may be ranked; None if fewer than `least` do."""
    question, positions = _find_positions(scope, question)
    is_exact = len(positions) <= COUNTED
    texts: dict[int, StoryText] = {}
    if not question.is_certain:
        texts = _read_matching(positions, question)
        positions = list(texts)
    if len(positions) < least:
        return None
    kind = paging.kind or (RANKED if is_exact and len(positions) <= POOL else BEHIND)
    values, size = paging.values, min(POOL, WINDOW_SIZE)
    if kind == RANKED:
        ranked = positions
    elif kind == WINDOW:
        window = replace(scope, low=_validate_position(values[1]), high=_validate_position(values[0]) + 1)
        ranked = window.newest(question, COUNTED)
    else:
        ranked = scope.behind(_validate_position(values[0])).newest(question, size) if values else positions[:size]
    texts |= _read_matching([position for position in ranked if position not in texts], question)
    hits = [_score_story(at, texts[at], question) for at in ranked if at in texts and paging.may_show(texts[at])]
    total, more = len(positions), None
    if paging.last is not None:
        events = read_events([*positions, *ranked])
        others = {} if kind == RANKED else _find_others(scope, question, paging, {at: events.get(at, "") for at in ranked})
        total = len({events.get(position, position) for position in positions})
        hits, more = _group_by_event(hits, events, others)
    page, has_more = _cut_page(hits, paging.limit, values if kind != BEHIND else ())
    following = None
    if has_more and kind == RANKED:
        following = paging.encode(RANKED, *page[-1][:2])
    elif has_more:
        following = paging.encode(WINDOW, ranked[0], ranked[-1], *page[-1][:2])
    elif kind != RANKED and ranked and scope.behind(ranked[-1]).newest(question, 1):
        following = paging.encode(BEHIND, ranked[-1])
    shown = [texts[hit.position] for hit in page]
    ranking = "relevance" if kind == RANKED else "newest"
    return _answer(question, shown, following, total, is_exact=is_exact, ranking=ranking, more=more)


def _group_by_event(
    hits: Sequence[SearchHit], events: Mapping[int, str], others: Mapping[int, str]
) -> tuple[list[SearchHit], dict[int, int]]:
    """Return the best hit of each event, and how many more match, by story. `others` are matches outside of this window: an event
    with a newer one among them was shown before.
    """
    best: dict[str, SearchHit] = {}
    counts = Counter(others.values())
    for hit in sorted(hits, reverse=True):
        event = events.get(hit.position, str(hit.pk))  # one that was withdrawn meanwhile has none
        best.setdefault(event, hit)
        counts[event] += 1
    newest = max((hit.position for hit in hits), default=0)
    before = {event for position, event in others.items() if position > newest}
    return [hit for event, hit in best.items() if event not in before], {hit.pk: counts[event] - 1 for event, hit in best.items()}


def _find_others(scope: Scope, question: Query, paging: Paging, window: Mapping[int, str]) -> dict[int, str]:
    """Return, by position, the event of each match outside of a window (events by position) whose event has a story in it."""
    events = find_event_positions(window.values())
    outside = [position for position in events if position not in window and scope.holds(position)]
    found = _filter_marks(_read_matching(outside, question), scope)
    return {position: events[position] for position, one in found.items() if one.text.holds(question) and paging.may_show(one)}


def _match_any(scope: Scope, question: Query, texts: dict[int, StoryText], paging: Paging, asked: str) -> StoriesAnswer[SearchOut]:
    """Answer with stories that need not hold all words, the best of them weighed by meaning too, and with those nearest in meaning,
    fused by their ranks.
    """
    texts = {position: one for position, one in texts.items() if paging.may_show(one)}
    hits, is_exact = [_score_story(position, found, question) for position, found in texts.items()], len(texts) <= COMPARED
    by_words = sorted(hits, reverse=True)[:COMPARED]
    ranked, near = [[hit.position for hit in by_words]], None
    may_mean = not any(term.is_required for term in question.terms)  # who quotes wants the words
    if may_mean and (near := find_nearest_stories(asked, NEAREST, scope.low, scope.high, ranked[0])):
        usual = sum(near.cosines.values()) / (len(near.cosines) or 1)
        weighed = [(hit.score + MEANING_WEIGHT * near.cosines.get(hit.position, usual), hit) for hit in by_words]
        read = _filter_marks(_read_texts([position for position in near.positions if position not in texts]), scope)
        texts |= {position: one for position, one in read.items() if paging.may_show(one)}
        ranked = [[hit.position for _, hit in sorted(weighed, reverse=True)], [at for at in near.positions if at in texts]]
    fused = fuse_ranks(ranked)
    hits = [SearchHit(round(score, 6), position, texts[position].pk) for position, score in fused.items()]
    more = None
    if paging.last is not None:
        hits, more = _group_by_event(hits, read_events(list(fused)), {})
    page, has_more = _cut_page(hits, paging.limit, paging.values)
    following = paging.encode(RANKED, *page[-1][:2]) if has_more and question.least < ALL else None
    shown = [texts[hit.position] for hit in page]
    answer = _answer(question, shown, following, len(hits), is_exact=is_exact, more=more)
    if near is None:
        answer.head.degraded = ["vectors"] if may_mean else []
    elif answer.head.matched and (question.least == SOME or not by_words):
        answer.head.matched = "by meaning" if near.prominence >= PROMINENT else "weak"
    return answer


def fuse_ranks(ranked: Iterable[Sequence[Item]]) -> dict[Item, float]:
    """Return the score of each item of lists, by its ranks in them (reciprocal rank fusion, Cormack et al. 2009)."""
    fused: dict[Item, float] = defaultdict(float)
    for items in ranked:
        for rank, item in enumerate(items, start=1):
            fused[item] += 1 / (FUSION + rank)
    return fused


def _filter_marks(found: Mapping[int, StoryText], scope: Scope) -> dict[int, StoryText]:
    """Return those of these stories that pass the filters of a scope."""
    return {position: one for position, one in found.items() if all(set(marks) & set(one.text.marks) for marks in scope.marks)}


def build_newest_page(scope: Scope, forms: Sequence[Query], limit: int, cursor: str | None) -> StoriesAnswer[SearchOut]:
    """Return a page of the stories in `scope` that match, newest first; it may be short. Raises: InvalidArgument for a cursor."""
    given = None if cursor is None else decode_cursor(cursor, {IN_TIME: 2})[1]
    for form in forms:
        mark = _fingerprint_search(scope, form, Sort.NEWEST)
        if given is not None and given[0] != mark:
            continue
        page = _list_matches_by_time(scope, form, mark, limit, None if given is None else _validate_position(given[1]))
        if given is not None or page.head.total or form is forms[-1]:
            return page
    raise build_cursor_error()


def _list_matches_by_time(scope: Scope, question: Query, mark: str, limit: int, after: int | None) -> StoriesAnswer[SearchOut]:
    question, found = _find_positions(scope, question)
    matching = found if question.is_certain else list(_read_matching(found, question))
    looked_at, left = found, matching
    if after is not None:
        looked_at = scope.behind(after).newest(question, COUNTED + 1)
        left = looked_at if question.is_certain else list(_read_matching(looked_at, question))
    page, following = left[:limit], None
    if len(left) > limit:
        following = encode_cursor(IN_TIME, mark, page[-1])
    elif len(looked_at) > COUNTED and scope.behind(looked_at[-1]).newest(question, 1):
        following = encode_cursor(IN_TIME, mark, looked_at[-1])
    shown = list(_read_matching(page, question).values())
    return _answer(question, shown, following, len(matching), is_exact=len(found) <= COUNTED, ranking="newest")


def _answer(
    question: Query,
    found: Sequence[StoryText],
    following: str | None,
    total: int,
    *,
    is_exact: bool,
    ranking: str = "relevance",
    more: Mapping[int, int] | None = None,
) -> StoriesAnswer[SearchOut]:
    live = Story.objects.live().filter(pk__in=[one.pk for one in found])  # some were withdrawn meanwhile
    rows = {row[0]: row for row in live.order_by().values_list(*COLUMNS)}
    shown = [(one.pk, json) for one in found if one.pk in rows for json in read_stories_json([rows[one.pk]])]
    stories = [json if more is None else set_field(json, "more_of_event", more[pk]) for pk, json in shown]
    head = SearchOut.model_construct(
        stories=[],
        next_cursor=following,
        total=min(total, COUNTED),
        total_is_exact=is_exact,
        est_tokens=0,
        ranking=ranking,
        group=Group.NONE if more is None else Group.EVENT,
        matched=MATCHED[question.least] if total and question.terms else None,
        not_found=question.missing_from([one.text for one in found]) if found else [],
    )
    return StoriesAnswer(head, stories)


def _find_positions(scope: Scope, question: Query) -> tuple[Query, list[int]]:
    """Return the question as answered, and its positions, newest first. A last word that a thousand stories hold is finished."""
    found = scope.newest(question, COUNTED + 1)
    if len(found) > COUNTED and question != question.finished:
        finished = scope.newest(question.finished, COUNTED + 1)
        if len(finished) > COUNTED:
            return question.finished, finished
    return question, found


def _fingerprint_search(scope: Scope, question: Query, sort: Sort, group: Group = Group.NONE) -> str:
    """Return eight hex digits that name a question with its filters, order and grouping, by what is looked up."""
    terms = [(term.exact, term.prefixes, term.synonyms) for term in question.terms]
    grouping = () if group == Group.NONE else (str(group),)
    parts = (terms, question.phrases, question.least, scope.marks, scope.low, scope.high, str(sort), *grouping)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:8]


def _read_matching(positions: Sequence[int], question: Query) -> dict[int, StoryText]:
    """Return, in the order of `positions`, the stories that match; an index may also find others (`Query.is_certain`)."""
    return {position: one for position, one in _read_texts(positions).items() if question.is_certain or one.text.holds(question)}


def _read_texts(positions: Sequence[int]) -> dict[int, StoryText]:
    found = {}
    for position, pk, tokens, length, marks in read_documents(positions) if positions else ():
        words = tokens.split(" ")
        found[position] = StoryText(pk, Text(words[:length], words[length:], marks.split(" ")))
    return {position: found[position] for position in positions if position in found}


def _score_story(position: int, found: StoryText, question: Query) -> SearchHit:
    """Score by relevance and freshness: each year adds the same, so two stories never change their order as they grow old."""
    fresh = FRESH_ALONE if len(question.terms) == 1 else FRESH
    score = WORDS_WEIGHT * found.text.score(question) + fresh * (position >> TIE) / YEAR
    return SearchHit(round(score, 6), position, found.pk)


def _cut_page(hits: Sequence[SearchHit], limit: int, values: Sequence[Any]) -> tuple[list[SearchHit], bool]:
    """Return the next hits behind a cursor's `values`, and whether more follow. Raises: InvalidArgument."""
    left = sorted(hits, reverse=True)
    if values:
        score, position = values[-2:]
        if not isinstance(score, int | float) or isinstance(score, bool):
            raise build_cursor_error()
        left = [hit for hit in left if hit[:2] < (float(score), _validate_position(position))]
    return left[:limit], len(left) > limit


def _validate_position(value: Any) -> int:
    """Raises: InvalidArgument."""
    if not isinstance(value, int) or isinstance(value, bool) or abs(value) >= 2**62:
        raise build_cursor_error()
    return value
