"""Texts as they can be compared whatever an editor, a mail program or a typesetter did to them. Pure.

Typography is what such hands change: quotation marks, dashes, spaces, line breaks, ligatures, capitals, full stops. Words, numbers
and signs that carry meaning ($, %, a minus) are what they must not change.
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

_SMALL_WORDS: Final = """
the of and to is are was with for on that it by from at as its has have not will can
"""
_THEIRS: Final = """
der das und ist nicht ein eine einen einem den dem des mit für auf im zu sich wird werden sind kann uns
le la les une des du et est dans pour sur avec qui que el los las una y del con para por se
il lo gli della di che nel het een van voor op
"""
_ENGLISH: Final = frozenset(_SMALL_WORDS.split())
_EUROPEAN: Final = frozenset(_THEIRS.split())
KEPT: Final = 2_000  # characters of a text whose words are remembered
_SINGLE: Final = dict.fromkeys(map(ord, "‘’‚‛′´`ʼ＇"), "'")
_DOUBLE: Final = dict.fromkeys(map(ord, "“”„‟″«»‹›「」『』＂"), '"')
_DASHES: Final = dict.fromkeys(map(ord, "‐‑‒–—―−﹘﹣－"), "-")
_INVISIBLE: Final = dict.fromkeys((*map(ord, "\u00ad\u200b\u200c\u200d\u2060\ufeff"), *range(0x202A, 0x202F)), None)
_SPACES: Final = dict.fromkeys(map(ord, "\u00a0\u2002\u2003\u2007\u2009\u200a\u202f\u3000"), " ")
_TYPOGRAPHY: Final = _SINGLE | _DOUBLE | _DASHES | _INVISIBLE | _SPACES
_ELLIPSIS: Final = re.compile(r"\[?\(?(?:…|\.\s?\.\s?\.)\)?\]?")
# A number with its separators, an amount's or a share's sign, a minus or a "less than" before a number, a word; apostrophes are
# dropped before.
_WORD: Final = re.compile(r"(?<![\w.])-(?=\d)|(?<![\w\"'/=-])[<>≤≥](?= ?[$€£]?\d)|\d[\d.,]*\d|[^\W_]+|[%$€£¥₹+]")
_GROUPED: Final = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")


def straight(text: str) -> str:
    """The text with straight quotation marks, plain dashes and spaces, and without characters that nobody sees."""
    return unicodedata.normalize("NFC", text).translate(_TYPOGRAPHY)


def words_of(text: str) -> tuple[str, ...]:
    """What a text says, word by word, typography aside."""
    return _words_of(text) if len(text) <= KEPT else _words_of.__wrapped__(text)


@lru_cache(maxsize=4096)
def _words_of(text: str) -> tuple[str, ...]:
    folded = unicodedata.normalize("NFKC", straight(text)).casefold().replace("'", "")
    return tuple(_WORD.findall(_GROUPED.sub("", folded)))


def pieces(text: str) -> list[tuple[str, ...]]:
    """The words of a text that an ellipsis divides, piece by piece."""
    return [found for piece in _ELLIPSIS.split(text) if (found := words_of(piece))]


def is_cut(text: str) -> bool:
    """Whether a text says that something was left out at its end."""
    return bool(re.search(r"(?:…|\.\s?\.\s?\.)[\])\"'”’.]*\s*$", text))


def is_cut_within(text: str) -> bool:
    """Whether a text says that something was left out, anywhere in it."""
    return bool(_ELLIPSIS.search(text))


def find(wanted: Sequence[str], inside: Sequence[str], begin: int = 0) -> int:
    """Where these words stand in others, one after the other; -1 for nowhere."""
    first, length = wanted[0] if wanted else None, len(wanted)
    for at in range(begin, len(inside) - length + 1):
        if inside[at] == first and tuple(inside[at : at + length]) == tuple(wanted):
            return at
    return -1


def stands_in(quoted: str, text: str) -> bool:
    """Whether what is quoted stands in a text word for word: its pieces in their order, if an ellipsis divides it."""
    inside, at = words_of(text), 0
    parts = pieces(quoted)
    for number, piece in enumerate(parts):
        wanted = piece[:-1] if number == len(parts) - 1 and len(piece) > 1 and _ends_in_word(quoted) else piece
        at = find(wanted, inside, at)
        if at < 0:
            return False
        if wanted is not piece and not (at + len(wanted) < len(inside) and inside[at + len(wanted)].startswith(piece[-1])):
            return False
        at += len(wanted)
    return bool(parts)


def _ends_in_word(text: str) -> bool:
    """Whether an ellipsis stands right behind a letter, so that the word before it may have been cut, too."""
    return bool(re.search(r"\w(?:…|\.\.\.)[\])\"'”’.]*\s*$", text))


def is_foreign(text: str) -> bool:
    """Whether a text is plainly not English: most of its letters are of another script, or it has the small words of another
    European language and none of the English ones.
    """
    letters = [letter for letter in text if letter.isalpha()]
    if sum(letter > "\u024f" for letter in letters) > len(letters) / 2:
        return True
    said = words_of(text)
    return not _ENGLISH.intersection(said) and bool(_EUROPEAN.intersection(said))
