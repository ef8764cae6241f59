"""Claims about the sample wire: true ones are found, distorted ones rarely pass, invented ones never."""

import json
from collections import Counter
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from config.errors import InvalidArgument
from wire.queries import claim_corroboration
from wire.queries.claim_corroboration import corroborate

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]
EVAL = Path(settings.BASE_DIR) / "fixtures" / "eval"
ONCE = [pytest.mark.slow, pytest.mark.skipif(connection.vendor != "sqlite", reason="what texts say is the same on every database")]


def told(file: str) -> Counter[tuple[str, str]]:
    """How many claims of a kind get which verdict."""
    claims = json.loads((EVAL / file).read_text(encoding="utf-8"))
    found = Counter[tuple[str, str]]()
    for one in claims:
        verdict = corroborate(one["claim"]).verdict
        found[one["kind"], verdict] += 1
        if (one["kind"] == "true") == (verdict == "not_found"):
            print(one, verdict)  # noqa: T201  shown where it fails
    return found


@pytest.mark.parametrize(
    ("file", "claims", "distorted", "missed"),
    [
        pytest.param("claims.json", 100, 0, 3, marks=ONCE, id="100 claims that the rules were written with"),
        pytest.param("claims-more.json", 240, 7, 20, marks=ONCE, id="240 claims by somebody else"),
    ],
)
def test_no_invented_claim_is_borne_out(file: str, claims: int, distorted: int, missed: int) -> None:
    found = told(file)
    assert found.total() == claims
    assert found["invented", "confirmed"] == found["invented", "single_source"] == 0, found
    assert found["distorted", "confirmed"] + found["distorted", "single_source"] <= distorted, found
    assert found["true", "not_found"] <= missed, found


def test_an_answer_names_voices_makers_and_the_first_report() -> None:
    found = corroborate("OpenAI opened a library on the Moon with 40,000 books")
    assert found.verdict == "confirmed"
    event = found.events[0]
    assert found.independent_sources == len(event.voices) >= 2
    assert {voice.publisher for voice in event.makers} == {"OpenAI Blog"}
    assert event.first_reported is not None
    assert all(voice.tier > 1 and voice.layered_ready for voice in event.voices)
    assert "does not make it true" in found.notes


def test_what_has_no_words_is_refused() -> None:
    for claim in ("", "the", "…"):
        with pytest.raises(InvalidArgument):
            corroborate(claim)


@pytest.mark.slow
@pytest.mark.parametrize(
    "claim",
    [
        "Mistral raised $12,000",  # of wheels of Comté
        "Google's Frost Choir has $9,000",  # refrigerators
        "Meta Sniff View knows 31% of smells",  # 31 smells
        "Prickle & Daughters raises €12 million",  # dollars
        "Prickle & Daughters raises $12",  # million
        "xAI's Saturn Telephone rings every 79 seconds",  # minutes
        "OpenAI did not open a library on the Moon",
        "OpenAI's Moon library did not open",
        "Bloomberg says OpenAI opened a library on the Moon",  # which others report
        "Engadget says the freezers of Google's Frost Choir sing bass",
        "Perplexity is over",
        "Google is going away",
        "Google called off Frost Choir",
        "Mistral gave away its Series D",
        "xAI gave up on the Saturn Telephone",
        "OpenAI took over Google",
        "OpenAI wins new people",
        "Google's Frost Choir of 9,000 refrigerators made a fortune",  # which Fortune reports
    ],
)
def test_another_unit_a_denial_or_another_newsroom_is_not_borne_out(claim: str) -> None:
    assert corroborate(claim).verdict == "not_found"


@pytest.mark.parametrize(
    "claim",
    [
        "OpenAI opened a library on the Moon with forty thousand books",
        "OpenAI opened a Moon library with 40 thousand books",
        "According to Reuters, OpenAI opened a library on the Moon",
        "TechCrunch says OpenAI opened a library on the Moon",
    ],
)
def test_numbers_in_words_and_the_newsroom_that_reports_it_are_borne_out(claim: str) -> None:
    assert corroborate(claim).verdict == "confirmed"


def test_half_a_character_is_no_fault() -> None:
    corroborate("OpenAI \ud800 opened a library on the Moon").model_dump_json()


@pytest.mark.parametrize(
    "claim",
    [
        "OpenAI opened the only library on the Moon with 40,000 books",
        "OpenAI opened a library on the Moon in March 2021",
    ],
)
def test_a_month_or_an_overclaim_that_nobody_reports_is_not_borne_out(claim: str) -> None:
    assert corroborate(claim).verdict == "not_found"


def test_a_voice_names_the_sentence_that_bears_the_claim() -> None:
    for voice in corroborate("OpenAI opened a library on the Moon with 40,000 books").events[0].voices:
        assert "library" in voice.bears


def test_a_report_in_other_words_is_listed_and_counts_for_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    claim = "A lunar reading room by OpenAI welcomes visitors"
    assert corroborate(claim).verdict == "not_found"
    monkeypatch.setattr(claim_corroboration, "_measure_likeness", lambda _claim, views: {
        report.story.chatbotnews_id: 0.95 for view in views for report in view.reports
    })  # fmt: skip
    found = corroborate(claim)
    similar = [voice for event in found.events for voice in event.similar]
    assert similar
    assert (found.verdict, found.independent_sources) == ("not_found", 0)
    assert similar[0].publisher in found.notes
