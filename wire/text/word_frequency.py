"""Frequencies of words in general news and in news of AI. Fixed, so that what is found or grouped comes out the same tomorrow."""

import json
import math
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from wire.text.lexicons import load_lexicon

FREQUENCIES_FILE: Final = Path(__file__).parents[2] / "fixtures" / "frequencies.json"
RAREST: Final = 8.0  # of a question's words nothing counts as rarer than e⁻⁸: an unknown word may be a slip
UNCOUNTED: Final = {"ai": 0.3, "gpt": 0.01}  # which the counted frequencies lack, or nearly
SEARCH_MIX: Final = (0.5, 0.5)  # shares of general news and of AI news in a frequency
LOCAL: Final = 0.02  # share of the stories at hand, where a headline is compared with them
GROUPING_MIX: Final = (1 - 0.3 - LOCAL, 0.3)
LEAST: Final = 1e-4  # in grouping no term counts as less frequent
FREQUENT_WORDS: Final = frozenset(load_lexicon("questions")["frequent_words"].split())  # of headlines


def get_rarity(token: str) -> float:
    """Return −ln of the share of texts that hold a stemmed word, as searches weigh it; at most 8."""
    frequency = UNCOUNTED.get(token, 0.0) + read_frequencies(*SEARCH_MIX).get(token, 0.0)
    return min(RAREST, -math.log(frequency)) if frequency else RAREST


def is_known(token: str) -> bool:
    return token in UNCOUNTED or token in read_frequencies(*SEARCH_MIX)


@lru_cache(maxsize=65_536)
def read_idf(term: str) -> float:
    """Return −ln of the frequency of a stem or pair of stems, as grouping weighs it; at most 9.2."""
    return -math.log(min(1.0, max(read_frequencies(*GROUPING_MIX).get(term, 0.0), LEAST)))


@cache
def read_frequencies(general: float, ai: float) -> Mapping[str, float]:
    """Return the frequency, 0–1, of each stem and pair of stems that is not rare, by the share of either kind of news."""
    counted = json.loads(FREQUENCIES_FILE.read_text(encoding="utf-8"))
    frequency: dict[str, float] = defaultdict(float)
    for name, share in (("general", general), ("ai", ai)):
        for term, count in counted[name]["counts"].items():
            frequency[term] += share * count / counted[name]["stories"]
    return dict(frequency)
