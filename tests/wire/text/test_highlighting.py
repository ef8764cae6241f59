"""Which words a search marks: those that it matched, and nothing else of the text."""

import re

import pytest
from django.utils.html import escape
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from wire.templatetags.wire_site import mark_words
from wire.text import highlighting, tokens
from wire.text.search_query import EVERYTHING, Query, Text, list_query_forms

WORDS = [
    *("quince", "quinces", "Quince-4", "launch", "launched", "café", "cafe\u0301s", "it's", "C++", "東京", "東京都", "Straße"),
    *("STRASSE", "مرحبا", "emoji🤖word", "of", "½", "x65", "ﬁn", "fin", "GPT 5", "GPT-5.2", "<b>", "&amp;", "\u00ad", '"', " "),
    *("-", "가나"),
]
texts = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join))


def asked(query: str) -> Query:
    return next(iter(list_query_forms(query)), EVERYTHING)


def shown(text: str, query: str) -> str:
    """The text with what is marked in square brackets."""
    pieces = highlighting.mark_matches(text, asked(query))
    return "".join(f"[{piece}]" if found else piece for piece, found in pieces)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("launches", "OpenAI [launched] GPT-5.2 in Café Zürich: open-source, open to all"),
        ("LAUNCH openai ", "[OpenAI] [launched] GPT-5.2 in Café Zürich: open-source, open to all"),
        ("zurich cafes ", "OpenAI launched GPT-5.2 in [Café] [Zürich]: open-source, open to all"),
        ("gpt-5.2", "OpenAI launched [GPT-5.2] in Café Zürich: open-source, open to all"),
        ('"open source"', "OpenAI launched GPT-5.2 in Café Zürich: [open-source], open to all"),
        ('"open source" launch', "OpenAI [launched] GPT-5.2 in Café Zürich: [open-source], open to all"),
        ("open", "[OpenAI] launched GPT-5.2 in Café Zürich: [open]-source, [open] to all"),
        ("open ai", "[OpenAI] launched GPT-5.2 in Café Zürich: open-source, open to all"),
        ("open launch", "OpenAI [launched] GPT-5.2 in Café Zürich: [open]-source, [open] to all"),
        ("the quince", "OpenAI launched GPT-5.2 in Café Zürich: open-source, open to all"),
    ],
)
def test_it_marks_stems_names_and_whole_phrases(query: str, expected: str) -> None:
    assert shown("OpenAI launched GPT-5.2 in Café Zürich: open-source, open to all", query) == expected


def test_it_marks_whole_characters_whatever_they_fold_to() -> None:
    assert shown("ﬁne ½ cafe\u0301!", "1 fine cafe") == "[ﬁne] [½] [cafe\u0301]!"
    assert shown("GPT 5 and GPT5", "gpt-5 ") == "[GPT 5] and [GPT5]"


@examples(100)
@given(text=texts, query=texts)
def test_without_the_marks_the_text_is_the_text_escaped(text: str, query: str) -> None:
    pieces = highlighting.mark_matches(text, asked(query))
    assert "".join(piece for piece, _ in pieces) == text
    assert re.sub("</?mark>", "", mark_words(text, asked(query))) == escape(text)


@examples(100)
@given(text=texts, query=texts)
def test_a_text_has_marks_exactly_if_something_of_the_question_is_in_it(text: str, query: str) -> None:
    question = asked(query)
    told = tokens.tokenize(text)
    marks = [piece for piece, found in highlighting.mark_matches(text, question) if found]
    if Text(told, []).holds(question) and question.terms:
        assert marks
    if not any(token in term.exact or token.startswith(term.prefixes) for term in question.terms for token in told):
        assert not marks


@examples(100)
@given(text=texts)
def test_folding_goes_character_by_character(text: str) -> None:
    assert "".join(map(tokens.fold_text, text)) == tokens.fold_text(text)
