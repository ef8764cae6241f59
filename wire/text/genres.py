"""Genres of reports: which of them are news, and which are live pages, round-ups, programmes, opinion, advice or reviews."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final

from wire.text.filters import is_roundup
from wire.text.lexicons import compile_patterns, load


class Genre(StrEnum):
    """The genre of a report. `howto` includes explainers, `podcast` video programmes, `review` buying advice and promotions."""

    NEWS = "news"
    LIVE = "live"
    ROUNDUP = "roundup"
    PODCAST = "podcast"
    NEWSLETTER = "newsletter"
    OPINION = "opinion"
    HOWTO = "howto"
    REVIEW = "review"


# Round-ups that are better known by their form.
_SERIAL: Final = frozenset({Genre.LIVE, Genre.PODCAST, Genre.NEWSLETTER})
_LEXICON: Final = load("genres")


def _compile(rules: Mapping[str, Sequence[str]]) -> Mapping[Genre, re.Pattern[str]]:
    return {Genre(genre): compile_patterns(patterns, _LEXICON["parts"], re.I) for genre, patterns in rules.items()}


_HEADLINES: Final = _compile(_LEXICON["headlines"])
_SUMMARIES: Final = _compile(_LEXICON["summaries"])
_SECTIONS: Final = _compile(_LEXICON["sections"])


@lru_cache(maxsize=16_384)
def find_genre(headline: str, url: str = "", summary: str = "") -> Genre:
    """Return the genre of a report: by its headline, then the first words of its summary, then the sections in its address.

    Precision before recall: a report that no rule knows is news.
    """
    genre = next((genre for genre, pattern in _HEADLINES.items() if pattern.fullmatch(headline)), None)
    if genre not in _SERIAL and is_roundup(headline):
        return Genre.ROUNDUP
    genre = genre or next((genre for genre, pattern in _SUMMARIES.items() if pattern.match(summary)), None)
    if genre:
        return genre
    sections = re.split("[?#]", url, maxsplit=1)[0].rstrip("/").split("/")[3:-1]
    if sections[:1] in (["video"], ["videos"]):  # deeper in a path it may be a subject
        return Genre.PODCAST
    by_section = (genre for genre, pattern in _SECTIONS.items() for section in sections if pattern.fullmatch(section))
    return next(by_section, Genre.NEWS)
