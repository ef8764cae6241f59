"""Names of the roster typed with one wrong key. Every doubt is a refusal, as in `names`."""

import re
from collections.abc import Sequence
from typing import Final

from rapidfuzz.distance import Postfix, Prefix

from sources.lexicons import load

_LEXICON: Final = load("names")["typos"]
OTHER_WORDS: Final = re.compile("|".join(_LEXICON["other_words"].split()))
LOOK_ALIKES: Final = frozenset(_LEXICON["look_alikes"].split())
KEYS: Final = {key: (x, y) for y, keys in enumerate(("qwertyuiop", "asdfghjkl", "zxcvbnm")) for x, key in enumerate(keys)}


def is_slip(words: Sequence[str], parts: Sequence[str]) -> bool:
    """Return whether `words` are `parts` with one wrong keystroke, and could hardly be anything else.

    The shorter the name, the fewer slips are believed: at five letters a swapped or doubled one, at six also a dropped
    one, from seven on also a wrong or an added one, if its word has six; from nine on also in a later word of four or five, if
    the key lies beside the right one. A word keeps its first letter (Gloomberg) and gets no other at its end (Ventures), and
    initials (MIT, AI, AWS) keep theirs: those make other names.
    """
    said, meant = "".join(words), "".join(parts)
    start = Prefix.similarity(said, meant)
    tail = Postfix.similarity(said[start:], meant[start:])
    typed, wanted = said[start : len(said) - tail], meant[start : len(meant) - tail]
    swapped, added = len(typed) == 2 and typed == wanted[::-1], not wanted
    doubled = added and typed == said[start - 1 : start]
    while doubled and start > 1 and said[start - 2] == typed:  # the first of them: Metaa AI
        start -= 1
    if not (typed + wanted).isalpha() or not (swapped or max(len(typed), len(wanted)) == 1):
        return False
    if added and _locate(words, start)[0] == start:  # before a word or by itself: eFortune, Fortune X
        return False
    begin, part = _locate(parts, start - added)
    if OTHER_WORDS.fullmatch(said[begin : begin + len(part) + len(typed) - len(wanted)]):
        return False
    initials = {part for part in parts if len(part) <= 3}
    joined = len(words) != len(parts)
    if not joined and not initials.issubset(words):
        return False
    if swapped or doubled:
        return len(meant) >= 5
    if start == begin or (joined and not initials.isdisjoint({part, _locate(parts, start)[1]})):
        return False
    if not typed:
        return len(meant) >= 6
    if len(meant) < 7 or typed + wanted in LOOK_ALIKES or (added and start >= begin + len(part)):
        return False
    if len(part) >= 6:
        return True
    beside = said[start - 1] + said[start + 1 : start + 2] if added else wanted
    return begin > 0 and len(part) >= 4 and len(meant) >= 9 and any(_are_neighbours(typed, key) for key in beside)


def _are_neighbours(one: str, other: str) -> bool:
    return one in KEYS and other in KEYS and all(abs(a - b) <= 1 for a, b in zip(KEYS[one], KEYS[other], strict=True))


def _locate(parts: Sequence[str], position: int) -> tuple[int, str]:
    """Return where the part that holds `position` of the joined parts begins, and the part; past the end, the last one."""
    begin = 0
    for part in parts[:-1]:
        if position < begin + len(part):
            return begin, part
        begin += len(part)
    return begin, parts[-1]
