"""Names of companies, people and products in a text: whole words, in exactly these spellings."""

import re
from functools import lru_cache
from typing import Final, NamedTuple

# Scripts without spaces write a name right beside other words: OpenAI发布.
_LETTER: Final = r"[^\W\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
_PLAIN: Final = str.maketrans("‐‑\u00a0\u202f’", "--  '")  # what typesetters put into GPT‑5 and OpenAI’s


class NameFinder(NamedTuple):
    """Spellings of a name, and phrases with one of them that mean something else."""

    spellings: tuple[str, ...]
    exceptions: tuple[str, ...] = ()

    def is_named(self, *texts: str) -> bool:
        return any(self._is_named_in(text.translate(_PLAIN)) for text in texts)

    def _is_named_in(self, text: str) -> bool:
        # Looking for the bare letters first spares nearly every name the regular expression.
        if not any(spelling.translate(_PLAIN) in text for spelling in self.spellings):
            return False
        return any(found[1] for found in _compile(self).finditer(text))


@lru_cache(maxsize=2_000)
def _compile(names: NameFinder) -> re.Pattern[str]:
    """An exception stands first, so that it takes its spelling with it; of spellings the longest counts."""
    exceptions, spellings = (
        "|".join(re.escape(phrase.translate(_PLAIN)) for phrase in sorted(phrases, key=len, reverse=True))
        for phrases in (names.exceptions, names.spellings)
    )
    name = rf"(?<!{_LETTER})({spellings})(?!{_LETTER})"
    return re.compile(rf"(?<!{_LETTER})(?:{exceptions})(?!{_LETTER})|{name}" if exceptions else name)
