"""Whether a text says what another says, and nothing to the contrary."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wire.text.claim_match import find_contradiction, list_unsupported, measure_coverage, parse_statement

REPORT = (
    "NVIDIA lends twelve GPUs to a chess league. NVIDIA will supply twelve graphics processors worth $40 million to the league. "
    "Organizers said the chips would not speed up the games. xAI sues Apple over the deal."
)


def asked(claim: str, report: str = REPORT) -> tuple[bool, bool, list[str]]:
    """Whether nearly all of it is said, whether it is contradicted, and which words the report has not."""
    said, told = parse_statement(claim), parse_statement(report)
    return measure_coverage(said, told) >= 0.75, bool(find_contradiction(said, told)), list_unsupported(said, told)


@pytest.mark.parametrize(
    "claim",
    [
        "NVIDIA lends twelve GPUs to a chess league",
        "NVIDIA lends 12 GPUs to a chess league",
        "A dozen processors were lent to a chess league by NVIDIA",
        "NVIDIA's chips worth forty million dollars go to a chess league",
        "NVIDIA will supply a chess league with processors worth $40m",
        "The chips won't speed up the games, organisers said",
        "Apple is being sued by xAI",
    ],
)
def test_other_words_for_the_same_agree(claim: str) -> None:
    assert asked(claim) == (True, False, [])


@pytest.mark.parametrize(
    "claim",
    [
        "NVIDIA lends thirteen GPUs to a chess league",
        "NVIDIA will supply processors worth $40 billion to the league",
        "NVIDIA will not supply twelve graphics processors to the league",
        "The chips would speed up the games",
        "Apple sues xAI over the deal",
    ],
)
def test_the_contrary_is_seen(claim: str) -> None:
    agrees, contradicts, _ = asked(claim)
    assert (agrees, contradicts) == (False, True)


@pytest.mark.parametrize(
    ("claim", "word"),
    [
        ("NVIDIA lends twelve violins to a chess league", "violins"),
        ("NVIDIA lends $12 GPUs to a chess league", "$12"),
        ("Intel lends twelve GPUs to a chess league", "intel"),
    ],
)
def test_words_that_no_report_has_are_told(claim: str, word: str) -> None:
    assert asked(claim)[2] == [word]


@given(st.text(max_size=200), st.text(max_size=200))
def test_any_two_texts_are_compared(one: str, other: str) -> None:
    said, told = parse_statement(one), parse_statement(other)
    assert 0.0 <= measure_coverage(said, told) <= 1.0
    assert isinstance(find_contradiction(said, told), str)


@given(st.text(alphabet="abc XYZ 0123456789 not without. ,;$%", max_size=120))
def test_no_text_contradicts_itself(text: str) -> None:
    assert find_contradiction(parse_statement(text), parse_statement(text)) == ""
