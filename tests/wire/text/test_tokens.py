"""Stems, which several threads ask for at once: the server's query threads, a publisher, the desk."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import snowballstemmer

from wire.text import tokens

WORDS = ("thermostats", "quince", "gherkins", "running", "leaked", "publications", "organization", "marmots")


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads that take turns as often as they can, and no stem that is known already."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    tokens._token.cache_clear()
    yield
    sys.setswitchinterval(before)
    tokens._token.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_no_thread_gets_the_stem_of_another_threads_word() -> None:
    alone = {word: snowballstemmer.stemmer("english").stemWord(word) for word in WORDS}

    def stems(turn: int) -> dict[str, str]:
        words = WORDS[turn % len(WORDS) :] + WORDS[: turn % len(WORDS)]
        return {word: tokens._token.__wrapped__(word) for word in words * 100}

    with ThreadPoolExecutor(6) as threads:
        for found in threads.map(stems, range(12)):
            assert found == alone
