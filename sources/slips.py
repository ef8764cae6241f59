"""Whether a name of the roster was typed with one wrong key. Every doubt is a refusal, as in `names`."""

import re
from collections.abc import Sequence
from typing import Final

from rapidfuzz.distance import Postfix, Prefix

# What one wrong key makes of a roster word but is a word itself: another outlet (The Wire, Fortuna), a product, plain
# English (Google New). Found by putting the words of 40,000 headlines and 40,000 other texts through the rules below.
OTHER_WORDS: Final = re.compile(
    r"log|bog|new|n[ew]s|met|mta|meat|metta|bat|bet|beta|etch|tch|teh|ties|time|wire|wird|wierd|googly|crutch|fortuna|"
    r"ventur[ai]|leaning|macrosoft|resister|renters|routers|was"
)
# Letters that pass for one another at a glance or by ear: putting one for the other is intent, not a finger's slip.
LOOK_ALIKES: Final = frozenset({"il", "li", "ij", "ji", "gq", "qg", "uv", "vu", "ce", "ec", "sz", "zs"})


def is_slip(words: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether `words` are `parts` with one wrong keystroke, and could hardly be anything else.

    The shorter the name, the fewer slips are believed: at five letters a swapped or doubled one, at six also a dropped
    one, from seven on also a wrong or an added one, if its word has six. A word keeps its first letter (Gloomberg) and
    gets no other at its end (Ventures), and initials (MIT, AI, AWS) keep theirs: those make other names.
    """
    said, meant = "".join(words), "".join(parts)
    start = Prefix.similarity(said, meant)
    tail = Postfix.similarity(said[start:], meant[start:])
    typed, wanted = said[start : len(said) - tail], meant[start : len(meant) - tail]
    swapped, added = len(typed) == 2 and typed == wanted[::-1], not wanted
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
    if swapped or (added and typed == said[start - 1 : start]):
        return len(meant) >= 5
    if start == begin or (joined and not initials.isdisjoint({part, _locate(parts, start)[1]})):
        return False
    if not typed:
        return len(meant) >= 6
    if len(meant) < 7 or len(part) < 6:
        return False
    return start < begin + len(part) if added else typed + wanted not in LOOK_ALIKES


def _locate(parts: Sequence[str], position: int) -> tuple[int, str]:
    """The part that holds `position` of the parts put together (the last one past the end), after where it begins."""
    begin = 0
    for part in parts[:-1]:
        if position < begin + len(part):
            return begin, part
        begin += len(part)
    return begin, parts[-1]
