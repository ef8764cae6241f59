"""Unicode normal forms in linear time, for texts of strangers."""

import re
import unicodedata
from typing import Final, Literal

MOST_MARKS: Final = 30  # combining characters in a row, as in UAX #15's stream-safe text; no language needs as many
_LONG_RUN: Final = re.compile(rf"[^\x00-\x7f]{{{MOST_MARKS + 1},}}")


def normalize(form: Literal["NFC", "NFD", "NFKC", "NFKD"], text: str) -> str:
    """Return the text's normal form. Of combining characters in a row the first MOST_MARKS stay."""
    if text.isascii():
        return text
    # Marks are sorted by insertion, so a run of 20,000 of them takes a second.
    return unicodedata.normalize(form, _LONG_RUN.sub(_drop_surplus_marks, text))


def _drop_surplus_marks(run: re.Match[str]) -> str:
    marks, kept = 0, []
    for character in run[0]:
        marks = marks + 1 if unicodedata.combining(character) else 0
        if marks <= MOST_MARKS:
            kept.append(character)
    return "".join(kept)
