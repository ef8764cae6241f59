"""Names with numbers keep their headlines apart."""

import pytest

from wire.text.numbered_names import find_versions, have_other_versions


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("OpenAI releases GPT-5.3", "OpenAI releases GPT-5.4"),
        ("OpenAI shows DALL·E 2", "OpenAI shows DALL·E 3"),
        ("Anthropic launches Claude Opus 4.5", "Anthropic launches Claude Opus 4.6"),
        ("Apple unveils M3 chips", "Apple unveils M4 chips"),
        ("Quince raises Series B", "Quince raises Series C"),
        ("Meta opens Llama3.1", "Meta opens Llama 4"),
        ("The o3 model is here", "The o4 model is here"),
    ],
)
def test_other_numbers_of_one_name_are_other_things(one: str, other: str) -> None:
    assert have_other_versions(one, other)
    assert not have_other_versions(one, one)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("OpenAI releases GPT-5.3", "OpenAI's new model is out"),
        ("GPT-5.4 beats GPT-5.3", "GPT-5.3 is beaten"),
        ("Quince cuts 40 jobs", "Quince cuts 41 jobs"),
        ("Quince Raises $40 Million", "Quince Raises $41 Million"),
        ("AMD Supplies 6GW", "AMD Supplies 7 GW"),
        ("Shares of Quince Fall 4%", "Shares of Quince Fall 5 percent"),
        ("CES 2025 opens", "CES 2026 opens"),
        ("Gemini 3 is here", "Gemini 3.0 is here"),
        ("Top 10 models", "Top 5 models"),
    ],
)
def test_amounts_years_and_other_words_are_none(one: str, other: str) -> None:
    assert not have_other_versions(one, other)


def test_a_name_has_the_numbers_that_follow_it() -> None:
    assert find_versions("GPT-5.3 and GPT-5.4 and Opus 4.5") == {"gpt": {"5.3", "5.4"}, "opus": {"4.5"}}
