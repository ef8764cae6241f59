"""Words and patterns of fixtures/lexicons/citations.toml."""

import re
import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

_FILE: Final = Path(__file__).parents[1] / "fixtures" / "lexicons" / "citations.toml"
_LEXICON: Final[dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))


def list_words(name: str) -> list[str]:
    return list(_LEXICON["words"][name].split())


@cache
def get_words(name: str) -> frozenset[str]:
    return frozenset(list_words(name))


@cache
def compile_pattern(name: str, flags: int = 0) -> re.Pattern[str]:
    return re.compile(_read_pattern(name), flags)


def _read_pattern(name: str) -> str:
    if name in _LEXICON["words"]:
        return "|".join(list_words(name))
    joined = re.sub(r"\n\s*", "", "|".join(_LEXICON["patterns"][name]))
    return re.sub(r"<<(\w+)>>", lambda part: _read_pattern(part[1]), joined)
