"""The rule that says which pages of an app are cached, made from a list of patterns."""

import re
from collections.abc import Callable
from functools import lru_cache


def build_page_matcher(*pages: tuple[str, *tuple[str, ...]]) -> Callable[[str], frozenset[str] | None]:
    """Return a function of a path: its page's parameters, None if not cached. Pages: a pattern of the whole path, parameters."""
    compiled = [(re.compile(pattern), frozenset(names)) for pattern, *names in pages]

    @lru_cache(maxsize=1_000)
    def find_page_parameters(path: str) -> frozenset[str] | None:
        return next((names for pattern, names in compiled if pattern.fullmatch(path)), None)

    return find_page_parameters
