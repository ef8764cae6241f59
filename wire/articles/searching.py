"""A publisher's articles by keywords: each counts 3 in the title and 1 in the description; ties newest first, then by address.

That is the ranking that publisher servers document; nothing else counts. Keywords are stems, each once. Of more than MAX_TIED
articles of one score and one millisecond, or without a date, the one that was indexed first comes first: their addresses would
all have to be read.
"""

from collections import Counter
from typing import Final, NamedTuple

import numpy as np

from wire import postings
from wire.articles.models import Article, Publisher
from wire.postings import Numbers
from wire.stories.tokens import token, words

IN_TITLE: Final = 3
IN_DESCRIPTION: Final = 1
MAX_KEYWORDS: Final = 32
LONGEST: Final = 60  # characters of a token
MAX_TIED: Final = 1_000
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
    if after is not None:  # those of the same rank stay: which of them follow is told by their addresses
        numbers = numbers[ranks[numbers] <= after.rank]
    most = limit + (0 if after is None else int(np.count_nonzero(ranks[numbers] == after.rank)))
    if len(numbers) > most:  # only the best are sorted, and those that share the last one's rank
        least = np.partition(ranks[numbers], -most)[-most]
        numbers = numbers[ranks[numbers] >= least]
    ordered = numbers[np.lexsort((numbers, -ranks[numbers]))]
    hits = _by_address(publisher, [Hit(int(ranks[number]), int(number)) for number in ordered])
    return (hits if after is None else _behind(after, hits))[:limit]


def _by_address(publisher: Publisher, hits: list[Hit]) -> list[Hit]:
    """Those that share a rank are ordered by their addresses, unless they are too many."""
    times = Counter(hit.rank for hit in hits)
    tied = [hit.number for hit in hits if 1 < times[hit.rank] <= MAX_TIED]
    if not tied:
        return hits
    rows = Article.objects.filter(publisher=publisher, number__in=tied).values_list("number", "url")
    address = dict(rows.iterator())
    return sorted(hits, key=lambda hit: (-hit.rank, address.get(hit.number, ""), hit.number))


def _behind(after: Hit, hits: list[Hit]) -> list[Hit]:
    """What follows the last hit of the page before; if that is no hit any more, what is indexed behind it or ranks lower."""
    if after in hits:
        return hits[hits.index(after) + 1 :]
    return [hit for hit in hits if hit.rank < after.rank or hit.number > after.number]


def _ranks(publisher: Publisher, query: str) -> Numbers:
    """Of each article, by number; 0 for one that holds none of the keywords."""
    index = index_of(publisher)
    held = postings.weights(index, keywords(query)).values()
    moments = postings.values(index)  # read last: an article that is listed meanwhile has its moment
    scores = np.zeros(len(moments), dtype=np.int64)
    for numbers, weights in held:
        scores[numbers] += weights
    return np.where(scores > 0, scores << _MOMENT | moments, 0)
