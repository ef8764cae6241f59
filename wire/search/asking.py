"""From a question as it is typed to a page of stories: its period, its spelling, its forms."""

import datetime as dt
import re
from dataclasses import replace
from typing import Final

from config.errors import InvalidArgument
from wire.answers import StoriesAnswer
from wire.bounds import Sort
from wire.models.search import first_place, marks
from wire.schemas import PeriodOut, SearchOut
from wire.search.ranking import Scope, newest_page, ranked_page
from wire.search.spelling import corrections
from wire.stories.period import Period, period_of
from wire.stories.question import EVERYTHING, SOME, forms
from wire.stories.tokens import token, words
from wire.stories.vocabulary import Topic

_QUOTED: Final = re.compile(r'"[^"]*"')
_WORD: Final = re.compile(r"[^\W_]+")

# A word that is a company's name also finds what is about the company without naming it.
COMPANIES: Final = {
    token(topic): marks(topics=[topic]) for topic in Topic if topic not in (Topic.AGENTS, Topic.FUNDING, Topic.REGULATION)
}


def search(
    query: str, scope: Scope, today: dt.date, limit: int, cursor: str | None = None, sort: Sort = Sort.RELEVANCE
) -> StoriesAnswer[SearchOut]:
    """One page of the stories in `scope` that answer a query: best first, also such as hold only some words; or newest first.

    Words for a period ("last week", seen from the UTC day `today`) narrow the scope, unless it has bounds of its own or nothing of
    that period is found. Raises: InvalidArgument when there is neither a word nor a period, or for a strange cursor.
    """
    period = period_of(query, today)
    asked = period.rest if period else query
    right = corrections(_QUOTED.sub(" ", asked))
    spelled = _WORD.sub(lambda word: right.get(word[0].casefold(), word[0]), asked) if right else asked
    if not words(spelled) and period is None:
        raise InvalidArgument("query has no words.", "Give one or more words, or a phrase in double quotes.")
    scopes = [scope] if period is None or _is_bounded(scope) else [_within(scope, period), scope]
    for number, narrowed in enumerate(scopes):
        is_last = number == len(scopes) - 1
        try:
            page = _page(spelled, narrowed, limit, cursor, sort)
        except InvalidArgument:
            if is_last:
                raise
            continue
        if page.head.total or is_last:
            break
    page.head.suggestion = spelled if right else None
    if period:
        page.head.period = PeriodOut(said=period.said, since=period.since, until=period.until, applied=len(scopes) - number == 2)
    return page


def _page(query: str, scope: Scope, limit: int, cursor: str | None, sort: Sort) -> StoriesAnswer[SearchOut]:
    asked = forms(query, COMPANIES)
    if not asked:
        return newest_page(scope, [EVERYTHING], limit, cursor)
    if sort == Sort.NEWEST:
        return newest_page(scope, [form for form in asked if form.least > SOME], limit, cursor)
    return ranked_page(scope, asked, query, limit, cursor)


def _is_bounded(scope: Scope) -> bool:
    return scope.low is not None or scope.high is not None


def _within(scope: Scope, period: Period) -> Scope:
    days = (period.since, period.until)
    low, high = (None if day is None else first_place(dt.datetime.combine(day, dt.time(), dt.UTC)) for day in days)
    return replace(scope, low=low, high=high)
