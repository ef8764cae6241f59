"""The cases of docs/chatgpt-submission.json, which reviewers of that directory try, tried here on the sample wire."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.mcpserver.asgi import call

SUBMISSION = json.loads((Path(__file__).parents[2] / "docs" / "chatgpt-submission.json").read_text(encoding="utf-8"))

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]


@pytest.fixture
def first_id(sample: None) -> str:  # noqa: ARG001
    return str(call("search", query="library moon")["structuredContent"]["results"][0]["id"])


@pytest.mark.parametrize("case", SUBMISSION["positive_cases"] + SUBMISSION["negative_cases"], ids=lambda case: case["prompt"])
def test_a_case_answers_as_it_says(case: dict[str, Any], first_id: str) -> None:
    arguments = {name: first_id if value == "$first_id" else value for name, value in case["arguments"].items()}
    result = call(case["tool"], **arguments)
    structured = result.get("structuredContent") or {}
    for name, wanted in case["expect"].items():
        match name:
            case "results" | "stories":
                assert bool(structured[name]) == (wanted == "some")
            case "keys":
                assert list(structured) == wanted
            case "text_begins":
                assert result["content"][0]["text"].startswith(wanted)
            case "is_error":
                assert result["isError"] is wanted
            case _:
                assert structured[name] == wanted


def test_there_are_five_positive_and_three_negative_cases() -> None:
    assert (len(SUBMISSION["positive_cases"]), len(SUBMISSION["negative_cases"])) == (5, 3)
