"""Word lists of fixtures/lexicons, which the rules of this package read."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

_FOLDER: Final = Path(__file__).parents[2] / "fixtures" / "lexicons"


@cache
def load(name: str) -> dict[str, Any]:
    """Return the content of fixtures/lexicons/NAME.toml. Callers must not change it: it is read once."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))


def compile_patterns(patterns: Iterable[str], parts: Mapping[str, str], flags: int = 0) -> re.Pattern[str]:
    """Return a pattern that matches what any of these match; `<name>` in them, and in parts, stands for the part of that name."""

    def expand(text: str) -> str:
        return re.sub(r"<(\w+)>", lambda match: expand(parts[match[1]]), text)

    return re.compile("|".join(f"(?:{expand(pattern)})" for pattern in patterns), flags)
