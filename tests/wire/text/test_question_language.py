"""Which language a question is in, by its small words."""

import pytest

from wire.text.question_language import find_languages, list_small_words
from wire.text.tokens import words

ASKED = {
    "warum ist der Streit um Figma nicht vorbei": ["de"],
    "pourquoi est-ce que la justice a condamné Meta": ["fr"],
    "¿por qué los reguladores han multado a Google?": ["es"],
    "perché il garante ha bloccato questa app": ["it"],
    "por que a Meta não pode usar os dados dos brasileiros": ["pt"],
    "waarom heeft de toezichthouder deze app verboden": ["nl"],
    "who sued whom over a chatbot": ["en"],
}


@pytest.mark.parametrize("question", ASKED)
def test_small_words_tell_the_language(question: str) -> None:
    assert find_languages(words(question)) == ASKED[question]


@pytest.mark.parametrize(
    "question", ["AI law", "ChatGPT Plus", "Google IO", "Streit", "robots", "", "per seat pricing", "open ai door robot"]
)
def test_one_word_that_another_language_has_too_tells_nothing(question: str) -> None:
    assert find_languages(words(question)) == ["en"]


def test_where_two_languages_are_as_likely_the_small_words_of_both_are_left_out() -> None:
    languages = find_languages(["que", "de", "quince"])
    assert len(languages) > 1
    assert {"que", "de"} <= list_small_words(languages)
    assert "quince" not in list_small_words(languages)
