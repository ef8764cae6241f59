"""Word lists of fixtures/lexicons, which the rules of this package read."""

import tomllib
from functools import cache
from pathlib import Path
from typing import Any, Final

_FOLDER: Final = Path(__file__).parents[1] / "fixtures" / "lexicons"


@cache
def load_lexicon(name: str) -> dict[str, Any]:
    """Return the content of fixtures/lexicons/NAME.toml. Callers must not change it: it is read once."""
    return tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8"))
