"""The rule that says which pages of an app are cached, made from a list of patterns."""

import re
from collections.abc import Callable
from functools import lru_cache


def match_pages(*pages: tuple[str, *tuple[str, ...]]) -> Callable[[str], frozenset[str] | None]:
    """Return a function of a path: the parameters that its page takes, None for a page that is not cached or not of the app.

    Each page is given as a pattern of its whole path, then its parameters.
    """
    compiled = [(re.compile(pattern), frozenset(names)) for pattern, *names in pages]

    @lru_cache(maxsize=1_000)
    def parameters_of(path: str) -> frozenset[str] | None:
        return next((names for pattern, names in compiled if pattern.fullmatch(path)), None)

    return parameters_of
