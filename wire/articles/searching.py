"""A publisher's articles by keywords: each counts 3 in the title and 1 in the description; ties newest first.

That is the ranking that publisher servers document; nothing else counts. Keywords are stems, each once. Of articles of the same
millisecond, or without a date, the one that was indexed first comes first.
"""

from typing import Final, NamedTuple

import numpy as np

from wire import postings
from wire.articles.models import Publisher
from wire.postings import Numbers
from wire.stories.tokens import token, words

IN_TITLE: Final = 3
IN_DESCRIPTION: Final = 1
MAX_KEYWORDS: Final = 32
LONGEST: Final = 60  # characters of a token
_MOMENT: Final = 44  # bits of a rank that hold the article's place in time; the score is above them


class Hit(NamedTuple):
    """An article that was found: score and time in one number, which falls from hit to hit, and the article's number."""

    rank: int
    number: int


def index_of(publisher: Publisher) -> str:
    return f"articles {publisher.pk}"


def tokens_of(title: str, description: str) -> dict[str, int]:
    """What an article is found by, with what each keyword counts."""
    titled, described = ({token(word)[:LONGEST] for word in words(text)} for text in (title, description))
    return {one: IN_TITLE * (one in titled) + IN_DESCRIPTION * (one in described) for one in titled | described}


def keywords(query: str) -> list[str]:
    return list(dict.fromkeys(token(word)[:LONGEST] for word in words(query)))[:MAX_KEYWORDS]


def found(publisher: Publisher, query: str, limit: int, after: Hit | None = None) -> list[Hit]:
    """Up to `limit` hits, best first; those behind `after`, if it is given."""
    ranks = _ranks(publisher, query)
    numbers = np.flatnonzero(ranks)
    if after is not None:
        behind = (ranks[numbers] < after.rank) | ((ranks[numbers] == after.rank) & (numbers > after.number))
        numbers = numbers[behind]
    if len(numbers) > limit:  # only the best are sorted, and those that share the last one's rank
        least = np.partition(ranks[numbers], -limit)[-limit]
        numbers = numbers[ranks[numbers] >= least]
    ordered = numbers[np.lexsort((numbers, -ranks[numbers]))][:limit]
    return [Hit(int(ranks[number]), int(number)) for number in ordered]


def _ranks(publisher: Publisher, query: str) -> Numbers:
    """Of each article, by number; 0 for one that holds none of the keywords."""
    index = index_of(publisher)
    held = postings.weights(index, keywords(query)).values()
    moments = postings.values(index)  # read last: an article that is listed meanwhile has its moment
    scores = np.zeros(len(moments), dtype=np.int64)
    for numbers, weights in held:
        scores[numbers] += weights
    return np.where(scores > 0, scores << _MOMENT | moments, 0)
