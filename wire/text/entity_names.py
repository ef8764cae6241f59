"""Names of companies, people and products in a text: whole words, in exactly these spellings."""

import re
from collections.abc import Iterable
from functools import cached_property
from typing import Final

# Scripts without spaces write a name right beside other words: OpenAI发布.
_LETTER: Final = r"[^\W\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_TYPESET: Final = str.maketrans("‐‑\u00a0\u202f’", "--  '")  # what typesetters put into GPT‑5 and OpenAI’s


def normalize_typography(*texts: str) -> str:
    """Return the texts as `NameFinder` reads them, one a line."""
    return "\n".join(texts).translate(_TYPESET)


class NameFinder:
    """Spellings of a name, and phrases with one of them that mean something else."""

    def __init__(self, spellings: Iterable[str], exceptions: Iterable[str] = ()) -> None:
        self._spellings, self._exceptions = (
            [normalize_typography(phrase) for phrase in phrases] for phrases in (spellings, exceptions)
        )

    def is_named_in(self, text: str) -> bool:
        """Return whether a text names it, as `normalize_typography` returns one."""
        # Looking for the bare letters first spares nearly every text the regular expression.
        return any(spelling in text for spelling in self._spellings) and any(found[1] for found in self._pattern.finditer(text))

    @cached_property
    def _pattern(self) -> re.Pattern[str]:
        """An exception stands first, so that it takes its spelling with it; of spellings the longest counts."""
        exceptions, spellings = (
            "|".join(map(re.escape, sorted(phrases, key=len, reverse=True))) for phrases in (self._exceptions, self._spellings)
        )
        name = rf"(?<!{_LETTER})({spellings})(?!{_LETTER})"
        return re.compile(rf"(?<!{_LETTER})(?:{exceptions})(?!{_LETTER})|{name}" if exceptions else name)
