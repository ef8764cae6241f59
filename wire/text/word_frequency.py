"""Rarity of words in news. The figures are fixed, so that what is found today comes in the same order tomorrow."""

import json
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

FREQUENCIES_FILE: Final = Path(__file__).parents[2] / "fixtures" / "frequencies.json"
RAREST: Final = 8.0  # nothing counts as rarer than e⁻⁸: an unknown word may be a slip
UNCOUNTED: Final = {"ai": 0.3, "gpt": 0.01}  # which the counted frequencies leave out


def rarity(token: str) -> float:
    """Return −ln of the share of texts that hold a stemmed word: half of them general headlines, half stories about AI."""
    return _read_rarities().get(token, RAREST)


def is_known(token: str) -> bool:
    return token in _read_rarities()


@cache
def _read_rarities() -> Mapping[str, float]:
    counted = json.loads(FREQUENCIES_FILE.read_text(encoding="utf-8"))
    frequencies = dict(UNCOUNTED)
    for part in counted.values():
        for token, count in part["counts"].items():
            if " " not in token:
                frequencies[token] = frequencies.get(token, 0.0) + count / part["stories"] / len(counted)
    return {token: min(RAREST, -math.log(frequency)) for token, frequency in frequencies.items()}
