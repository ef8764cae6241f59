"""Numbered notes: which words of a text each of them stands behind."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citations.find.footnotes import find_noted_claims

ONE, TWO = "cbn-0123456789ab", "cbn-0123456789ac"


@pytest.mark.parametrize(
    ("marker", "note"),
    [
        ("[{}]", "[{}] "),
        ("[{}]", "{}. "),
        ("[{}]", "{}) "),
        ("({})", "({}) "),
        ("^{}", "^{} "),
        ("[^{}]", "[^{}]: "),
    ],
)
def test_each_note_gets_the_words_before_its_number(marker: str, note: str) -> None:
    one, two = marker.format(1), marker.format(2)
    text = f"Hats are in fashion{one}, while cards are not.{two}\n\n{note.format(1)}Hats, {ONE}\n{note.format(2)}Cards, {TWO}"
    assert find_noted_claims(text) == {ONE: ["Hats are in fashion"], TWO: ["while cards are not."]}


def test_superscripts_are_numbers() -> None:
    assert find_noted_claims(f"Hats¹ and cards².\n\n¹ {ONE}\n² {TWO}") == {ONE: ["Hats"], TWO: ["and cards"]}


def test_numbers_side_by_side_stand_behind_the_same_words() -> None:
    assert find_noted_claims(f"Hats are in fashion [1][2].\n\n1. {ONE}\n2. {TWO}") == {
        ONE: ["Hats are in fashion"],
        TWO: ["Hats are in fashion"],
    }
    assert find_noted_claims(f"Hats are in fashion [1, 2].\n\n1. {ONE}\n2. {TWO}")[TWO] == ["Hats are in fashion"]


def test_only_the_sentence_counts_and_no_heading() -> None:
    assert find_noted_claims(f"MEMO\n\nCats sleep. Hats are in fashion [1].\n\n[1] {ONE}") == {ONE: ["Hats are in fashion"]}


def test_a_text_without_notes_has_none() -> None:
    assert find_noted_claims(f"1. Hats\n2. Cards, {ONE}") == {}
    assert find_noted_claims("Hats [1].\n\n[1] https://example.org/") == {}


@given(st.text(st.sampled_from(f"[]()^¹²12. ,\n{ONE}aB"), max_size=300))
def test_no_text_is_too_strange(text: str) -> None:
    for stretches in find_noted_claims(text).values():
        assert all(stretch in text for stretch in stretches)
