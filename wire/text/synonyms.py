"""Words of questions: those that ask rather than tell, and those that stand for others in news."""

from collections.abc import Mapping
from functools import cache
from typing import Final

from wire.text.lexicons import load
from wire.text.tokens import STOP_WORDS, token

FILLERS: Final = STOP_WORDS | frozenset(load("questions")["fillers"].split())


@cache
def _read_groups() -> Mapping[str, frozenset[str]]:
    groups: dict[str, frozenset[str]] = {}
    for line in load("questions")["synonyms"]:
        stems = frozenset(map(token, line.split()))
        for stem in stems:
            groups[stem] = groups.get(stem, frozenset()) | stems
    return groups


def synonyms(stem: str) -> tuple[str, ...]:
    """List the stems of other words that newsrooms use for a word, in alphabetical order."""
    return tuple(sorted(_read_groups().get(stem, frozenset()) - {stem}))
