"""Normal forms: the same as Python's for every text that people write, and in linear time for all others."""

import time
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from config.unicode import MOST_MARKS, normalize

FORMS = ("NFC", "NFD", "NFKC", "NFKD")


@given(text=st.text(max_size=200))
@pytest.mark.parametrize("form", FORMS)
def test_it_is_the_normal_form(form: str, text: str) -> None:
    assert normalize(form, text) == unicodedata.normalize(form, text)  # type: ignore[arg-type]


@pytest.mark.parametrize("form", FORMS)
def test_many_marks_in_a_row_take_no_time_and_the_first_stay(form: str) -> None:
    text = "x" + "\u0345" * 30_000 + "\u0334" * 30_000 + "y"
    began = time.process_time()
    found = normalize(form, text)  # type: ignore[arg-type]
    assert time.process_time() - began < 0.2, "unbounded it takes seven seconds"
    assert found == unicodedata.normalize(form, "x" + "\u0345" * MOST_MARKS + "y")  # type: ignore[arg-type]
