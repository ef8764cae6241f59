"""Quantities of a text, however they are written."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.text.quantities import Quantity, find_quantities


@pytest.mark.parametrize(
    ("text", "value", "unit", "of"),
    [
        ("seventy-nine minutes", 79, "minute", ""),
        ("twelve thousand wheels", 12_000, "", "wheels"),
        ("a dozen gpus", 12, "", "gpus"),
        ("two dozen agents", 24, "", "agents"),
        ("a hundred thousand", 100_000, "", ""),
        ("five hundred and three thousand", 503_000, "", ""),
        ("one hundred and twenty million people", 120_000_000, "", "people"),
        ("88 million socks", 88_000_000, "", "socks"),
        ("$250m", 250_000_000, "$", ""),
        ("$1.5bn in all", 1_500_000_000, "$", ""),
        ("250 million dollars", 250_000_000, "$", ""),
        ("€5bn", 5_000_000_000, "€", ""),
        ("30 per cent", 30, "%", ""),
        ("61%", 61, "%", ""),
        ("40,000-book", 40_000, "", "book"),
        ("ninety-nine years", 99, "year", ""),
        ("20-minute talk", 20, "minute", ""),
    ],
)
def test_a_quantity_is_read(text: str, value: int, unit: str, of: str) -> None:
    (found,), _ = find_quantities(text)
    assert (found.value, found.unit, found.of) == (Decimal(value), unit, of)


@pytest.mark.parametrize("text", ["one of them", "gpt-5", "o3", "gazpacho b9", "zero trust", "no number", ""])
def test_what_is_none_stays_a_word(text: str) -> None:
    assert find_quantities(text) == ((), text)


def test_units_and_things_tell_quantities_apart() -> None:
    wheels, dollars, bare = Quantity(Decimal(12_000), of="wheels"), Quantity(Decimal(12_000), "$"), Quantity(Decimal(12_000))
    assert not dollars.may_equal(wheels)
    assert dollars.may_equal(bare)
    assert bare.may_equal(wheels)
    assert Quantity(Decimal(9), "year").has_same_unit(Quantity(Decimal(99), "year"))
    assert not Quantity(Decimal(9), "year").has_same_unit(Quantity(Decimal(9)))
    assert not bare.has_same_unit(bare)


UNDER_TWENTY = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen"),
    *("fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"),
)
TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")


def spelled(number: int) -> str:
    for size, name in ((10**9, "billion"), (10**6, "million"), (1000, "thousand"), (100, "hundred")):
        if number >= size:
            rest = number % size
            joined = " and " if rest < 100 else " "
            return f"{spelled(number // size)} {name}" + (f"{joined}{spelled(rest)}" if rest else "")
    if number < 20:
        return UNDER_TWENTY[number]
    return TENS[number // 10 - 2] + (f"-{UNDER_TWENTY[number % 10]}" if number % 10 else "")


@given(st.integers(2, 10**12 - 1))
def test_digits_and_words_are_one_number(number: int) -> None:
    in_words, _ = find_quantities(f"{spelled(number)} books")
    in_digits, _ = find_quantities(f"{number:,} books")
    assert in_words == in_digits == (Quantity(Decimal(number), of="books"),)


@given(st.text(max_size=300))
def test_any_text_is_read(text: str) -> None:
    find_quantities(text.casefold())
