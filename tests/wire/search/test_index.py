"""The index in the database against a dictionary that does the same."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from wire.models import Postings
from wire.search import postings_index as postings

DOCUMENTS = st.dictionaries(
    st.integers(0, 3 * postings.BLOCK),
    st.dictionaries(st.sampled_from(["cake", "tea", "bread"]), st.integers(1, postings.MOST), min_size=1),
    max_size=8,
)


def read_index(index: str) -> dict[int, dict[str, int]]:
    found: dict[int, dict[str, int]] = {}
    for token, (numbers, weights) in postings.get_weights(index, ["cake", "tea", "bread"]).items():
        assert numbers.tolist() == sorted(numbers.tolist())
        for number, weight in zip(numbers.tolist(), weights.tolist(), strict=True):
            found.setdefault(number, {})[token] = weight
    return found


class TestIndex(TestCase):
    @pytest.mark.slow
    @settings(max_examples=40, deadline=None)
    @given(DOCUMENTS, DOCUMENTS, st.sets(st.integers(0, 7)))
    def test_what_was_added_and_not_removed_is_found_with_its_weights(
        self, first: dict[int, dict[str, int]], second: dict[int, dict[str, int]], removed: set[int]
    ) -> None:
        postings.clear_index("a")
        second = {number: tokens for number, tokens in second.items() if number not in first}
        postings.add("a", first)
        postings.add("a", second)
        postings.add("b", {1: {"cake": 1}})
        expected = {**first, **second}
        gone = {number: expected.pop(number) for at, number in enumerate(sorted(expected)) if at in removed}
        postings.remove("a", gone)
        assert read_index("a") == expected
        assert read_index("b") == {1: {"cake": 1}}
        postings.clear_index("b")

    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.dictionaries(st.integers(0, 3 * postings.BLOCK), st.integers(-(2**62), 2**62), max_size=5), max_size=3))
    def test_each_document_has_the_value_that_it_was_given_last(self, given: list[dict[int, int]]) -> None:
        postings.clear_index("a")
        expected: dict[int, int] = {}
        for values in given:
            postings.set_values("a", values)
            expected |= values
        found = postings.get_values("a")
        assert {number: int(found[number]) for number in expected} == expected
        assert not [number for number in found.nonzero()[0].tolist() if number not in expected]


@pytest.mark.django_db
def test_a_token_of_more_documents_than_a_block_holds_is_found_whole() -> None:
    numbers = range(0, 2 * postings.BLOCK, 3)
    postings.add("a", {number: {"cake": 4} for number in numbers})
    assert postings.get_weights("a", ["cake", "pie"])["cake"][0].tolist() == list(numbers)
    assert Postings.objects.count() == 2
    postings.remove("a", {number: {"cake": 4} for number in numbers})
    assert (postings.get_weights("a", ["cake"]), Postings.objects.count()) == ({}, 0)
