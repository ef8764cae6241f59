"""Quantities of an English text, however they are written: "$250m", "250 million dollars", "seventy-nine minutes". Pure."""

import re
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from typing import Final

_SMALL_NAMES: Final = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
"""
_TENS_NAMES: Final = "twenty thirty forty fifty sixty seventy eighty ninety"
_SMALL: Final = {name: number for number, name in enumerate(_SMALL_NAMES.split())} | {"dozen": 12}
_TENS: Final = {name: 10 * tens for tens, name in enumerate(_TENS_NAMES.split(), 2)}
_SCALES: Final = {"hundred": 10**2, "thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_LETTERS: Final = {"k": 10**3, "m": 10**6, "mn": 10**6, "bn": 10**9, "b": 10**9, "tn": 10**12, "t": 10**12}
_UNITS: Final = {
    stem: unit
    for unit, stems in {
        "%": "% percent",
        "$": "$ dollar usd",
        "€": "€ euro eur",
        "£": "£ pound gbp",
        "¥": "¥ yen yuan",
        "₹": "₹ rupee",
        "second": "second",
        "minute": "minute",
        "hour": "hour",
        "day": "day",
        "week": "week",
        "month": "month",
        "year": "year",
    }.items()
    for stem in stems.split()
}
_SPELLED: Final = "|".join((*_SMALL, *_TENS, *_SCALES))
_LARGE: Final = "|".join(_SCALES)
_QUANTITY: Final = re.compile(
    rf"""(?P<sign>[$€£¥₹]?)
    (?:
        (?P<digits>(?<![\w.])(?<![a-z][-‐‑–])\d[\d,]*(?:\.\d+)?)
        (?:[ ]?(?P<letter>mn|bn|tn)\b | (?P<short>[kmbt])\b | [ -]?(?P<scale>{_LARGE})\b)?
        | \b(?:a[ -](?=dozen|{_LARGE}))? (?P<spelled>(?:{_SPELLED}) (?:(?:[ -]|[ ]and[ ]) (?:{_SPELLED}))*)\b
    )
    [ -]?(?P<unit>%|per[ ]?cent|(?:dollar|euro|pound|rupee|second|minute|hour|day|week|month|year)s?\b|yen\b|yuan\b)?""",
    re.X | re.I,
)
_NEXT: Final = re.compile(r"[ -]?([^\W\d_]*)")


@dataclass(frozen=True, slots=True)
class Quantity:
    """`unit` is a share's, a currency or a time, else empty; then `of` is the word that follows: of 40,000 books, "books"."""

    value: Decimal
    unit: str = ""
    of: str = ""
    said: str = field(default="", compare=False)
    """As it is written."""

    def agrees(self, other: "Quantity") -> bool:
        """Whether both may be one: of the same value and unit. A unit may be left out, but $12 are no 12 wheels."""
        is_one = self.unit == other.unit or (not self.unit and not self.of) or (not other.unit and not other.of)
        return self.value == other.value and is_one

    def counts_alike(self, other: "Quantity") -> bool:
        """Whether both say how many there are of one thing."""
        return self.unit == other.unit and bool(self.unit or (self.of and self.of == other.of))


@lru_cache(maxsize=4096)
def read(text: str) -> tuple[tuple[Quantity, ...], str]:
    """The quantities of a text in its order, and the text without them. A lone "one" is a word; so is the number of "GPT-5"."""
    found: list[Quantity] = []

    def take(match: re.Match[str]) -> str:
        if (match["spelled"] or "").lower() in ("one", "zero"):
            return match[0]
        spelled = (match["unit"] or "").lower()
        unit = match["sign"] or _UNITS.get("percent" if spelled.startswith("per") else spelled.removesuffix("s"), "")
        following = _NEXT.match(text, match.end())
        of = following[1] if following and not unit else ""
        found.append(Quantity(_value(match), unit, of, match[0].strip(" -")))
        return " "

    rest = _QUANTITY.sub(take, text)
    return tuple(found), rest


def _value(match: re.Match[str]) -> Decimal:
    if match["spelled"]:
        return Decimal(_spelled(match["spelled"].lower()))
    times = _LETTERS.get((match["letter"] or match["short"] or "").lower(), 0) or _SCALES.get((match["scale"] or "").lower(), 1)
    return Decimal(match["digits"].replace(",", "")) * times


def _spelled(words: str) -> int:
    """Five hundred and three thousand: scales close what stands before them."""
    total = group = 0
    for word in re.findall(r"[a-z]+", words):
        if word in _SCALES:
            scale = _SCALES[word]
            if scale == 100:
                group = max(group, 1) * scale
            else:
                total, group = total + max(group, 1) * scale, 0
        elif word == "dozen":
            group = max(group, 1) * 12
        else:
            group += _SMALL.get(word, 0) + _TENS.get(word, 0)
    return total + group
