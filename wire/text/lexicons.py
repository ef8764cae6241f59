"""Word lists of fixtures/lexicons, which the rules of this package read."""

import re
import tomllib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final, cast

_FOLDER: Final = Path(__file__).parents[2] / "fixtures" / "lexicons"


@cache
def load_lexicon(name: str) -> dict[str, Any]:
    """Return the content of fixtures/lexicons/NAME.toml. Callers must not change it: it is read once."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def join_patterns(patterns: Iterable[str], parts: Mapping[str, str]) -> str:
    """Return one pattern for what any of these match; `<name>` in them, and in parts, stands for the part of that name."""

    def expand_placeholders(text: str) -> str:
        return re.sub(r"<(\w+)>", lambda match: expand_placeholders(parts[match[1]]), text)

    return "|".join(f"(?:{expand_placeholders(pattern)})" for pattern in patterns)


def compile_patterns(patterns: Iterable[str], parts: Mapping[str, str], flags: int = 0) -> re.Pattern[str]:
    """Return `join_patterns` of these, compiled by its first use: all of them would cost each start a quarter of a second. Call its
    methods; the functions of `re` do not take it.
    """
    return cast(re.Pattern[str], _LazyPattern(lambda: re.compile(join_patterns(patterns, parts), flags)))


class _LazyPattern:
    def __init__(self, compile_now: Callable[[], re.Pattern[str]]) -> None:
        self._compile = cache(compile_now)

    def __getattr__(self, name: str) -> Any:
        found = self.__dict__[name] = getattr(self._compile(), name)
        return found
