"""From a question as it is typed to a page of stories: its period, its spelling, its forms."""

import datetime as dt
import re
from contextlib import suppress
from dataclasses import replace
from typing import Final

from config.errors import InvalidArgument
from wire.models.search import first_place, marks
from wire.schemas.params import Sort
from wire.schemas.story import PeriodOut, SearchOut
from wire.schemas.story_list import StoriesAnswer
from wire.search.ranking import Scope, newest_page, ranked_page
from wire.search.spelling import corrections
from wire.text.date_range import find_period
from wire.text.query import EVERYTHING, SOME, forms
from wire.text.tokens import token, words
from wire.text.vocabulary import Topic

_QUOTED: Final = re.compile(r'"[^"]*"')
_WORD: Final = re.compile(r"[^\W_]+")

# A word that is a company's name also finds what is about the company without naming it.
COMPANIES: Final = {
    token(topic): marks(topics=[topic]) for topic in Topic if topic not in (Topic.AGENTS, Topic.FUNDING, Topic.REGULATION)
}


def search(
    query: str, scope: Scope, today: dt.date, limit: int, cursor: str | None = None, sort: Sort = Sort.RELEVANCE
) -> StoriesAnswer[SearchOut]:
    """Return a page of the stories in `scope` that answer a query: best first, also such as hold only some words; or newest first.

    Words for a period ("last week", seen from the UTC day `today`) narrow the scope, unless it has bounds of its own or nothing of
    that period is found. Raises: InvalidArgument when there is neither a word nor a period, or for a strange cursor.
    """
    period = find_period(query, today)
    spelled = period.rest if period else query
    right = corrections(_QUOTED.sub(" ", spelled))
    if right:
        spelled = _WORD.sub(lambda word: right.get(word[0].casefold(), word[0]), spelled)
    if not words(spelled) and period is None:
        raise InvalidArgument("query has no words.", "Give one or more words, or a phrase in double quotes.")
    page = None
    if period and scope.low is None and scope.high is None:
        days = (period.since, period.until)
        low, high = (None if day is None else first_place(dt.datetime.combine(day, dt.time(), dt.UTC)) for day in days)
        with suppress(InvalidArgument):  # the cursor may be of the whole scope
            page = _find_page(spelled, replace(scope, low=low, high=high), limit, cursor, sort)
    is_narrowed = page is not None and bool(page.head.total)
    if page is None or not is_narrowed:
        page = _find_page(spelled, scope, limit, cursor, sort)
    page.head.suggestion = spelled if right else None
    if period:
        page.head.period = PeriodOut(said=period.said, since=period.since, until=period.until, applied=is_narrowed)
    return page


def _find_page(query: str, scope: Scope, limit: int, cursor: str | None, sort: Sort) -> StoriesAnswer[SearchOut]:
    asked = forms(query, COMPANIES)
    if not asked:
        return newest_page(scope, [EVERYTHING], limit, cursor)
    if sort == Sort.NEWEST:
        return newest_page(scope, [form for form in asked if form.least > SOME], limit, cursor)
    return ranked_page(scope, asked, query, limit, cursor)
