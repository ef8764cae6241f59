"""Texts as they can be compared whatever an editor, a mail program or a typesetter did to them. Pure.

Typography is what such hands change: quotation marks, dashes, spaces, line breaks, ligatures, capitals, full stops. Words, numbers
and signs that carry meaning ($, %, a minus) are what they must not change.
"""

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from citations.citation_lexicon import get_words
from config.unicode import normalize

_TYPOGRAPHY: Final = {
    **dict.fromkeys(map(ord, "‘’‚‛′´`ʼ＇"), "'"),
    **dict.fromkeys(map(ord, "“”„‟″«»‹›「」『』＂"), '"'),
    **dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-"),
    **dict.fromkeys(map(ord, "\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000"), " "),
    **dict.fromkeys((*map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"), *range(0x202A, 0x202F)), None),  # invisible
}
ELLIPSIS: Final = re.compile(r"\[?\(?(?:…|\.\s?\.\s?\.)\)?\]?")
ELLIPSIS_AT_END: Final = re.compile(r"(?:…|\.\s?\.\s?\.)[\])\"'”’.]*\s*$")
# A number with its separators, an amount's or a share's sign, a minus or a "less than" before a number, a word; apostrophes are
# dropped before.
_WORD: Final = re.compile(r"(?<![\w.])-(?=\d)|(?<![\w\"'/=-])[<>≤≥](?= ?[$€£]?\d)|\d[\d.,]*\d|[^\W_]+|[%$€£¥₹+]")
_GROUPED: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def straighten_punctuation(text: str) -> str:
    """Return the text with straight quotation marks, plain dashes and spaces, and without invisible characters."""
    return normalize("NFC", text).translate(_TYPOGRAPHY)


def fold_words(text: str) -> tuple[str, ...]:
    return _fold_words_cached(text) if len(text) <= 2_000 else _fold_words_cached.__wrapped__(text)  # characters


@lru_cache(maxsize=4096)
def _fold_words_cached(text: str) -> tuple[str, ...]:
    folded = normalize("NFKC", straighten_punctuation(text)).casefold().replace("'", "")
    return tuple(_WORD.findall(_GROUPED.sub("", folded)))


def split_at_ellipses(text: str) -> list[tuple[str, ...]]:
    return [words for piece in ELLIPSIS.split(text) if (words := fold_words(piece))]


def find_phrase(wanted: Sequence[str], inside: Sequence[str], begin: int = 0) -> int:
    """Return where these words stand in others, one after the other; -1 for nowhere."""
    first, length = wanted[0] if wanted else None, len(wanted)
    for at in range(begin, len(inside) - length + 1):
        if inside[at] == first and tuple(inside[at : at + length]) == tuple(wanted):
            return at
    return -1


def is_quoted_from(quoted: str, text: str) -> bool:
    """Return true if `quoted` stands in a text word for word: its pieces in their order, if ellipses divide it."""
    inside, at, pieces = fold_words(text), 0, split_at_ellipses(quoted)
    # An ellipsis right behind a letter may have cut that word, too.
    cut_word = pieces[-1][-1] if pieces and len(pieces[-1]) > 1 and re.search(r"\w(?:…|\.\.\.)[\])\"'”’.]*\s*$", quoted) else ""
    if cut_word:
        pieces[-1] = pieces[-1][:-1]
    for piece in pieces:
        if (at := find_phrase(piece, inside, at)) < 0:
            return False
        at += len(piece)
    return bool(pieces) and (not cut_word or (at < len(inside) and inside[at].startswith(cut_word)))


def is_not_english(text: str) -> bool:
    """Return true if a text is plainly not English, by most of its letters, or by small words of another European language."""
    letters = [letter for letter in text if letter.isalpha()]
    if sum(letter > "\u024f" for letter in letters) > len(letters) / 2:
        return True
    words = fold_words(text)
    return not get_words("english").intersection(words) and bool(get_words("european").intersection(words))
