"""Stems, which several threads ask for at once: the server's query threads, a publisher, the desk."""

import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st

from wire.text import tokens

WORDS = ("thermostats", "quince", "gherkins", "running", "leaked", "publications", "organization", "marmots")


@pytest.fixture
def impatient() -> Iterator[None]:
    """Threads that take turns as often as they can, and no stem that is known already."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    tokens._stem_word_cached.cache_clear()
    yield
    sys.setswitchinterval(before)
    tokens._stem_word_cached.cache_clear()


@pytest.mark.slow
@pytest.mark.usefixtures("impatient")
def test_no_thread_gets_the_stem_of_another_threads_word() -> None:
    alone = {word: snowballstemmer.stemmer("english").stemWord(word) for word in WORDS}

    def stems(turn: int) -> dict[str, str]:
        words = WORDS[turn % len(WORDS) :] + WORDS[: turn % len(WORDS)]
        return {word: tokens._stem_word_cached.__wrapped__(word) for word in words * 100}

    with ThreadPoolExecutor(6) as threads:
        for found in threads.map(stems, range(12)):
            assert found == alone


def tokens_of_spaced_scripts(text: str) -> list[str]:
    """The tokens of a text without scripts that leave no spaces between words, by the plain rules."""
    found: list[str] = []
    before, end = "", -1
    for chain in re.finditer(r"[^\W_]+(?:[-‐‑–.][^\W_]+)*", folded := tokens.fold_text(text)):
        parts = re.findall(r"[^\W\d_]+|\d+", chain[0])
        found += map(tokens.stem_word, parts)
        if tokens.has_number(parts):
            found.append(tokens.encode_name(parts))
        if before and parts[0].isdigit() and chain.start() == end + 1 and folded[end] == " ":
            found.append(tokens.encode_name([before, *parts]))
        may_have_number = len(parts) == 1 and len(parts[0]) > 1 and not parts[0].isdigit() and parts[0] not in tokens.STOP_WORDS
        before, end = parts[0] if may_have_number else "", chain.end()
    return found


SPACED = st.characters(max_codepoint=0x52F) | st.sampled_from("‐‑–—’“…½ﬁＡ５ﾠ😀ﾟ゛") | st.sampled_from(" -.5aGPT")


@given(st.text(SPACED, max_size=60))
def test_texts_of_scripts_with_spaces_have_the_tokens_of_the_plain_rules(text: str) -> None:
    if tokens.has_unspaced_runs(text):  # ﾠ alone folds to a Hangul filler
        return
    assert tokens.tokenize(text) == tokens_of_spaced_scripts(text)
    assert tokens.split_words(text) == tokens.words(text)
    assert tokens.list_run_tokens(text) == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("東京都知事選", ["東京", "京都", "都知", "知事", "事選"]),
        ("삼성전자가 발표", ["삼성", "성전", "전자", "자가", "발표"]),
        ("ที่ประชุม", ["ที", "ีป", "ปร", "ระ", "ะช", "ชม"]),  # folding removes tones and the vowel below
        ("ｶﾞｲﾄﾞ", ["カイ", "イト"]),
        ("AIの 癌", ["ai", "の", "癌"]),
    ],
)
def test_a_run_is_its_pairs(text: str, words: list[str]) -> None:
    assert tokens.split_words(text) == words
    assert tokens.tokenize(text) == [tokens.stem_word(word) for word in words]


def test_a_name_with_a_number_is_cut_where_the_script_changes() -> None:
    found = tokens.tokenize("OpenAIがGPT-5を発表、GPT 5もiPhone 16も")
    assert [one for one in found if not tokens.is_word(one)] == ["0gpt5", "0gpt5", "0iphone16"]
    assert "openai" in found
