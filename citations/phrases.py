"""Words and patterns of fixtures/lexicons/citations.toml."""

import re
import tomllib
from pathlib import Path
from typing import Any, Final

_FILE: Final = Path(__file__).parents[1] / "fixtures" / "lexicons" / "citations.toml"
_LEXICON: Final[dict[str, Any]] = tomllib.loads(_FILE.read_text(encoding="utf-8"))


def get_words(name: str) -> frozenset[str]:
    return frozenset(_LEXICON["words"][name].split())


def compile_pattern(name: str, flags: int = 0) -> re.Pattern[str]:
    joined = re.sub(r"\n\s*", "", "|".join(_LEXICON["patterns"][name]))
    return re.compile(re.sub(r"<<(\w+)>>", lambda part: "|".join(_LEXICON["words"][part[1]].split()), joined), flags)
