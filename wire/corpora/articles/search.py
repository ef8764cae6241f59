"""A publisher's articles by keywords: each counts 3 in the title and 1 in the description; ties newest first, then by address.

Keywords are stems, each once; of scripts without spaces each two and each three characters side by side. Of more than MAX_TIED
articles of one score and moment the one that was indexed first comes first: their addresses would all have to be read.
"""

from collections import Counter
from typing import Final, NamedTuple

import numpy as np

from wire.corpora.articles.models import Article, Publisher
from wire.search import postings_index as postings
from wire.text.tokens import list_run_tokens, list_run_triples, split_words, stem_word

LONGEST: Final = 60  # characters of a token
MAX_TIED: Final = 1_000
_MOMENT: Final = 44  # bits of a rank that hold the article's place in time; the score is above them


class SearchHit(NamedTuple):
    """An article's number, with its score and time in one number, which falls from hit to hit."""

    rank: int
    number: int


def build_index_name(publisher: Publisher) -> str:
    return f"articles {publisher.pk}"


def weigh_tokens(title: str, description: str) -> dict[str, int]:
    titled, described = ({*_stem_words(text), *list_run_tokens(text)} for text in (title, description))
    return {one: 3 * (one in titled) + (one in described) for one in titled | described}


def extract_keywords(query: str) -> list[str]:
    return list(dict.fromkeys([*_stem_words(query), *list_run_triples(query)]))[:32]


def _stem_words(text: str) -> list[str]:
    return [stem_word(word)[:LONGEST] for word in split_words(text)]


def find_hits(publisher: Publisher, query: str, limit: int, after: SearchHit | None = None) -> list[SearchHit]:
    """Return up to `limit` hits, best first; those behind `after`, if it is given."""
    weighted = postings.get_weights(build_index_name(publisher), extract_keywords(query)).values()
    moments = postings.get_values(build_index_name(publisher))  # read last: an article that is listed meanwhile has its moment
    scores = np.zeros(len(moments), dtype=np.int64)
    for numbers, weights in weighted:
        scores[numbers] += weights
    ranks = np.where(scores > 0, scores << _MOMENT | moments, 0)
    numbers, most = np.flatnonzero(ranks), limit
    if after is not None:  # those of the same rank stay: their addresses decide which of them follow
        numbers = numbers[ranks[numbers] <= after.rank]
        most += int(np.count_nonzero(ranks[numbers] == after.rank))
    if len(numbers) > most:  # only the best are sorted, and those that share the last one's rank
        least = np.partition(ranks[numbers], -most)[-most]
        numbers = numbers[ranks[numbers] >= least]
    ordered = numbers[np.lexsort((numbers, -ranks[numbers]))]
    hits = _sort_ties(publisher, [SearchHit(int(ranks[number]), int(number)) for number in ordered])
    if after in hits:
        hits = hits[hits.index(after) + 1 :]
    elif after is not None:  # no hit any more: go on with what was indexed behind it or ranks lower
        hits = [hit for hit in hits if hit.rank < after.rank or hit.number > after.number]
    return hits[:limit]


def _sort_ties(publisher: Publisher, hits: list[SearchHit]) -> list[SearchHit]:
    """Order hits of one rank by their addresses, unless they are too many."""
    times = Counter(hit.rank for hit in hits)
    tied = [hit.number for hit in hits if 1 < times[hit.rank] <= MAX_TIED]
    if not tied:
        return hits
    address = dict(Article.objects.filter(publisher=publisher, number__in=tied).values_list("number", "url").iterator())
    return sorted(hits, key=lambda hit: (-hit.rank, address.get(hit.number, ""), hit.number))
