"""From a question as it is typed to a page of stories: its period, its spelling, its forms."""

import datetime as dt
import gzip
import re
from collections import Counter
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final

from rapidfuzz import process
from rapidfuzz.distance import OSA

from config.errors import InvalidArgument
from wire.models import Snapshot, Story
from wire.models.search import encode_filters, get_first_position, is_term_held
from wire.schemas.params import Group, Sort
from wire.schemas.stories_answer import StoriesAnswer
from wire.schemas.story import PeriodOut, SearchOut
from wire.search.ranking import Scope, build_newest_page, build_ranked_page
from wire.text.choices import COMPANIES
from wire.text.date_range import find_period
from wire.text.question_language import find_languages, list_small_words
from wire.text.search_query import EVERYTHING, SOME, Term, list_query_forms
from wire.text.tokens import split_written_words, stem_word, words

_QUOTED: Final = re.compile(r'"[^"]*"')
_WORD: Final = re.compile(r"[^\W_]+")

# A word that is a company's name also finds what is about the company without naming it.
COMPANY_MARKS: Final = {stem_word(topic): encode_filters(topics=[topic]) for topic in COMPANIES}
NEWEST: Final = 5000  # stories whose words a misspelt one may have meant
SHORTEST: Final = 4  # letters of a word that may be put right
SHORT: Final = 5  # letters of a word to which many are near: only one that …
SELDOM: Final = 1000  # … one in so many stories uses is meant
LONG: Final = 9  # letters from which two slips may be, one else


def search_stories(
    query: str,
    scope: Scope,
    today: dt.date,
    limit: int,
    cursor: str | None = None,
    sort: Sort = Sort.RELEVANCE,
    group: Group = Group.EVENT,
) -> StoriesAnswer[SearchOut]:
    """Return a page of the stories in `scope` that answer a query: best first, also such as hold only some words, of each event
    the best (`group`); or newest first, all.

    Words for a period ("last week", seen from the UTC day `today`) narrow the scope, unless it has bounds of its own or nothing of
    that period is found. Raises: InvalidArgument when there is neither a word nor a period, or for a strange cursor.
    """
    period = find_period(query, today)
    spelled = period.rest if period else query
    right = suggest_spellings(_QUOTED.sub(" ", spelled))
    if right:
        spelled = _WORD.sub(lambda word: right.get(word[0].casefold(), word[0]), spelled)
    if not split_written_words(spelled) and period is None:
        raise InvalidArgument("query has no words.", "Give one or more words, or a phrase in double quotes.")
    page = None
    if period and scope.low is None and scope.high is None:
        days = (period.since, period.until)
        low, high = (None if day is None else get_first_position(dt.datetime.combine(day, dt.time(), dt.UTC)) for day in days)
        with suppress(InvalidArgument):  # the cursor may be of the whole scope
            page = _find_page(spelled, replace(scope, low=low, high=high), limit, cursor, sort, group)
    is_narrowed = page is not None and bool(page.head.total)
    if page is None or not is_narrowed:
        page = _find_page(spelled, scope, limit, cursor, sort, group)
    page.head.suggestion = spelled if right else None
    if period:
        page.head.period = PeriodOut(said=period.said, since=period.since, until=period.until, applied=is_narrowed)
        if not is_narrowed and scope.low is None and scope.high is None:
            _note_missing_period(page.head.period)
    return page


def _note_missing_period(period: PeriodOut) -> None:
    """Say that no story of a period matched, and how far the wire goes."""
    newest = Snapshot.objects.order_by("-wire_date").values_list("wire_date", flat=True).first()
    if newest is not None:
        until = period.until - dt.timedelta(days=1) if period.until else None
        days = " to ".join(f"{day:%-d %B %Y}" for day in dict.fromkeys((period.since, until)) if day)
        period.newest_day = newest
        period.note = (
            f"No story from “{period.said}” ({days}) matches. These are from other days; the newest published day is "
            f"{newest:%-d %B %Y}."
        )


def _find_page(query: str, scope: Scope, limit: int, cursor: str | None, sort: Sort, group: Group) -> StoriesAnswer[SearchOut]:
    asked = list_query_forms(query, COMPANY_MARKS)
    if not asked:
        return build_newest_page(scope, [EVERYTHING], limit, cursor)
    if sort == Sort.NEWEST:
        return build_newest_page(scope, [form for form in asked if form.least > SOME], limit, cursor)
    return build_ranked_page(scope, asked, query, limit, cursor, group)


def suggest_spellings(question: str) -> dict[str, str]:
    """Return, for each word that no story holds and no dictionary knows, the nearest that stories use, one slip away, the most
    frequent of several. A name is put right by names only: Sonos may be missing from the news, but it is no slip of "songs".
    """
    written = _WORD.findall(question)
    # A capital tells a name behind other words, one of which has none.
    names = {word.casefold() for word in written[1:] if word[0].isupper()} if any(map(str.islower, written)) else set()
    languages, right = find_languages(words(question)), {}
    if len(languages) > 1:  # no telling which dictionary knows its words
        return {}
    small = list_small_words(languages)
    spellings = {word: spelling.lower() for spelling in written for word in words(spelling)}
    for word, spelling in spellings.items():
        if len(word) >= SHORTEST and word.isascii() and word.isalpha() and word not in small:
            in_dictionary = any(f'"{form}":'.encode() in _load_dictionary(languages[0]) for form in (word, spelling))
            is_known = in_dictionary or is_term_held(Term((stem_word(word),)))
            if not is_known and (nearest := _find_nearest_word(word, is_name=word in names)):
                right[word] = nearest
    return right


def _find_nearest_word(word: str, *, is_name: bool) -> str | None:
    newest = Snapshot.objects.order_by("-sequence").values_list("wire_sha256", flat=True).first()
    frequencies, capitals, stories = _count_words(newest)
    if any(other.startswith(word) for other in frequencies):
        return None
    slips = 2 if len(word) >= LONG else 1
    alike = process.extract(word, frequencies.keys(), scorer=OSA.distance, score_cutoff=slips, limit=None)
    least = stories / SELDOM if len(word) <= SHORT else 0
    near = [
        (distance, -frequencies[other], other)
        for other, distance, _ in alike
        if other[0] == word[0] and frequencies[other] >= least and (not is_name or 2 * capitals[other] > frequencies[other])
    ]
    return min(near)[2] if near else None


@lru_cache(maxsize=1)  # for one state of the wire, which its newest snapshot's hash names
def _count_words(_wire_sha256: str | None) -> tuple[Counter[str], Counter[str], int]:
    """Return how often the newest stories use each word, how often with a capital, and how many stories these are."""
    newest = Story.objects.live().newest_first().values_list("current__headline", "current__summary_medium")[:NEWEST]
    written = Counter(word for texts in newest for text in texts for word in _WORD.findall(text) if word.isalpha())
    used, capitals = Counter[str](), Counter[str]()
    for spelling, count in written.items():
        for word in words(spelling):
            used[word] += count
            capitals[word] += count * spelling[0].isupper()
    return used, capitals, len(newest)


@cache
def _load_dictionary(language: str) -> bytes:
    """Return pyspellchecker's JSON object of a language's words, in small letters with their accents. A search through these
    bytes takes 2 ms; a set of the words would take up to half a second to load, and ten times the memory.
    """
    return gzip.decompress((files("spellchecker") / "resources" / f"{language}.json.gz").read_bytes())
