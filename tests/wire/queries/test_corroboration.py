"""Claims about the sample wire: true ones are found, distorted ones rarely pass, invented ones never."""

import json
from collections import Counter
from pathlib import Path

import pytest
from django.conf import settings
from django.db import connection

from config.errors import InvalidArgument
from wire.queries.corroboration import corroborate

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample_wire")]
CLAIMS = json.loads((Path(settings.BASE_DIR) / "fixtures" / "eval" / "claims.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.skipif(connection.vendor != "sqlite", reason="what texts say is the same on every database")
def test_of_a_hundred_claims_no_invented_one_is_confirmed() -> None:
    told = Counter[tuple[str, str]]()
    for one in CLAIMS:
        verdict = corroborate(one["claim"]).verdict
        told[one["kind"], verdict] += 1
        if one["kind"] != "true" and verdict != "not_found":
            print(one, verdict)  # noqa: T201  shown where it fails
        if one["kind"] == "true" and verdict == "not_found":
            print(one, verdict)  # noqa: T201
    print(told)  # noqa: T201
    assert len(CLAIMS) == 100
    assert told["invented", "confirmed"] == told["invented", "single_source"] == 0, told
    assert told["distorted", "confirmed"] == 0, told
    assert told["distorted", "single_source"] <= 1, told
    assert told["true", "not_found"] <= 3, told


def test_an_answer_names_voices_makers_and_the_first_report() -> None:
    found = corroborate("OpenAI opened a library on the Moon with 40,000 books")
    assert found.verdict == "confirmed"
    event = found.events[0]
    assert found.independent_sources == len(event.voices) >= 2
    assert {voice.publisher for voice in event.makers} == {"OpenAI Blog"}
    assert event.first_reported is not None
    assert all(voice.tier > 1 and voice.layered_ready for voice in event.voices)
    assert "does not mean that it is true" in found.notes


def test_what_has_no_words_is_refused() -> None:
    for claim in ("", "the", "…"):
        with pytest.raises(InvalidArgument):
            corroborate(claim)
