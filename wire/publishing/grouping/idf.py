"""Inverse document frequency: how rare a word is in general news and in news of AI. Independent of the stories at hand."""

import json
import math
from collections import defaultdict
from collections.abc import Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final

from django.conf import settings

FREQUENCIES_FILE: Final = Path(settings.BASE_DIR) / "fixtures" / "frequencies.json"
FIELD: Final = 0.3  # share of AI news in a frequency, in which "OpenAI" is no rare word; the rest is that of general news
LOCAL: Final = 0.02  # share of the stories at hand, where a headline is compared with them
RAREST: Final = 1e-4  # no term counts as rarer: an unknown word may be a slip
_STOP_WORDS: Final = """
a about after ai all an and are as at be been but by can could do does fictional first for from get has have how if in
into is it its just may more most new no not now of off on one or our out over says so than that the their they this
to up us via was we what when which who why will with would you your
"""
STOP_WORDS: Final = frozenset(_STOP_WORDS.split())


@lru_cache(maxsize=65_536)
def read_idf(term: str) -> float:
    """Return −ln of the frequency of a stem or pair of stems, at most 9.2."""
    return -math.log(min(1.0, max(read_frequencies().get(term, 0.0), RAREST)))


@cache
def read_frequencies() -> Mapping[str, float]:
    """Return the frequency, 0–1, of each term that is not rare. benchmarks/frequencies.py counted them."""
    counted = json.loads(FREQUENCIES_FILE.read_text(encoding="utf-8"))
    frequency: dict[str, float] = defaultdict(float)
    for name, share in (("general", 1 - FIELD - LOCAL), ("ai", FIELD)):
        for term, count in counted[name]["counts"].items():
            frequency[term] += share * count / counted[name]["stories"]
    return dict(frequency)
