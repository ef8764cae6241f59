"""Quantities of an English text, however they are written: "$250m", "250 million dollars", "seventy-nine minutes". Pure."""

import re
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Final

from wire.text.lexicons import load_lexicon

_LEXICON: Final = load_lexicon("quantities")
_SMALL: Final[dict[str, int]] = _LEXICON["small"]
_TENS: Final[dict[str, int]] = _LEXICON["tens"]
_SCALES: Final[dict[str, int]] = _LEXICON["scales"]
_LETTERS: Final[dict[str, int]] = _LEXICON["letters"]
_UNITS: Final = {stem: unit for unit, stems in _LEXICON["units"].items() for stem in stems.split()}
_SPELLED: Final = "|".join((*_SMALL, *_TENS, *_SCALES))
_LARGE: Final = "|".join(_SCALES)
_QUANTITY: Final = re.compile(
    rf"""(?P<sign>[$€£¥₹]?)
    (?:
        (?P<digits>(?<![\w.])(?<![a-z][-‐‑–])\d[\d,]*(?:\.\d+)?)
        (?:[ ]?(?P<letter>mn|bn|tn)\b | (?P<short>[kmbt])\b | [ -]?(?P<scale>{_LARGE})\b)?
        | \b(?:a[ -](?=dozen|{_LARGE}))? (?P<spelled>(?:{_SPELLED}) (?:(?:[ -]|[ ]and[ ]) (?:{_SPELLED}))*)\b
    )
    [ -]?(?P<unit>%|per[ ]?cent|(?:dollar|euro|pound|rupee|second|minute|hour|day|week|month|year)s?\b
    |(?:mega|giga)watts?\b|[MG]W\b|yen\b|yuan\b)?""",
    re.X | re.I,
)
_IS_OMNI: Final = re.compile(r"(?<=\d)o\b")  # 4o
_NEXT: Final = re.compile(r"[ -]?([^\W\d_]*)")


@dataclass(frozen=True, slots=True)
class Quantity:
    """`unit` is a share's, a currency or a time, else empty; then `of` is the word that follows: of 40,000 books, "books"."""

    value: Decimal
    unit: str = ""
    of: str = ""
    said: str = field(default="", compare=False)  # as it is written

    def may_equal(self, other: "Quantity") -> bool:
        """Return whether both may be one: of the same value and unit. A unit may be left out, but $12 are no 12 wheels."""
        is_one = self.unit == other.unit or (not self.unit and not self.of) or (not other.unit and not other.of)
        return self.value == other.value and is_one

    def has_same_unit(self, other: "Quantity") -> bool:
        """Return whether both count the same: a share, a currency, a time, or the same word."""
        return self.unit == other.unit and bool(self.unit or (self.of and self.of == other.of))


@lru_cache(maxsize=4096)
def find_quantities(text: str) -> tuple[tuple[Quantity, ...], str]:
    """Return the quantities of a text in order, and the text without them. A lone "one" is a word; so are "4o" and
    the number of "GPT-5"."""
    found: list[Quantity] = []

    def collect(match: re.Match[str]) -> str:
        if (match["spelled"] or "").lower() in ("one", "zero") or _IS_OMNI.match(text, match.end()):
            return match[0]
        if match["spelled"]:
            value = Decimal(_parse_number_words(match["spelled"].lower()))
        else:
            times = _LETTERS.get((match["letter"] or match["short"] or "").lower(), 0) or _SCALES.get(
                (match["scale"] or "").lower(), 1
            )
            value = Decimal(match["digits"].replace(",", "")) * times
        spelled = (match["unit"] or "").lower()
        unit = match["sign"] or _UNITS.get("percent" if spelled.startswith("per") else spelled.removesuffix("s"), "")
        following = _NEXT.match(text, match.end())
        found.append(Quantity(value, unit, following[1] if following and not unit else "", match[0].strip(" -")))
        return " "

    rest = _QUANTITY.sub(collect, text)
    return tuple(found), rest


def _parse_number_words(words: str) -> int:
    total = group = 0
    for word in re.findall(r"[a-z]+", words):
        if word in ("hundred", "dozen"):
            group = max(group, 1) * (100 if word == "hundred" else 12)
        elif word in _SCALES:  # closes what stands before it: five hundred and three thousand
            total, group = total + max(group, 1) * _SCALES[word], 0
        else:
            group += _SMALL.get(word, 0) + _TENS.get(word, 0)
    return total + group
