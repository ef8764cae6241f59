"""Citations as people write them: texts by hand, each with the story that is meant and what may be said of it."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from django.conf import settings

from wire.queries.verification import verify_citation

QUICK: Final = 4  # one case in so many is among the quick tests
ELSEWHERE: Final = 20  # one in so many is tried on Postgres, too
CASES: list[dict[str, Any]] = json.loads((Path(settings.BASE_DIR) / "fixtures/eval/citations.json").read_text(encoding="utf-8"))


def marks(number: int) -> list[pytest.MarkDecorator]:
    slow = [] if number % QUICK == 0 else [pytest.mark.slow]
    return slow if number % ELSEWHERE == 0 else [*slow, pytest.mark.evaluation]


@pytest.mark.slow
@pytest.mark.django_db
@pytest.mark.usefixtures("sample")
@pytest.mark.parametrize(
    "case",
    [pytest.param(case, id=case["what"], marks=marks(number)) for number, case in enumerate(CASES)],
)
def test_what_is_cited_is_found_and_judged(case: dict[str, Any]) -> None:
    found = verify_citation(case["text"]).citations
    assert [one.story_id for one in found] == [one["story"] for one in case["found"]], found
    for one, wanted in zip(found, case["found"], strict=True):
        assert one.verdict in wanted["verdict"].split("|"), one
