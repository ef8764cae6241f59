"""Before the first publish, and where nothing was published about what is asked: the wire says so and invents nothing."""

import pytest

from tests.factories import entry, publish
from tests.mcpserver.asgi import ERAS, LEGACY, MODERN, call, prompt, read, read_json, refusal, request, rpc, structured

pytestmark = pytest.mark.django_db
that_publishes = pytest.mark.django_db(transaction=True)
every_era = pytest.mark.parametrize("era", ERAS)


@every_era
@pytest.mark.parametrize(
    "uri",
    ["wire://today", "wire://today/launches", "wire://editor-take/today", "wire://provenance/today", "wire://archive/2026-01-15"],
)
def test_what_is_of_a_day_is_not_there_yet_and_the_error_says_why(uri: str, era: str) -> None:
    error = rpc("resources/read", {"uri": uri}, era).error
    assert error["code"] == {LEGACY: -32002, MODERN: -32602}[era]
    assert "published nothing yet" in error["message"] or "2026-01-15" in error["message"]


def test_what_does_not_depend_on_news_is_there() -> None:
    assert len(read_json("wire://sources")["sources"]) == 24
    assert read("wire://llms.txt")["text"]
    assert read_json("wire://topic/openai")["stories"] == []
    assert structured("verify_source_integrity", publication_name="Reuters")["in_roster"] is True
    uris = [resource["uri"] for resource in rpc("resources/list").result["resources"]]
    assert "wire://today" in uris
    assert not [uri for uri in uris if uri.startswith(("wire://story/", "wire://archive/"))]


def test_tools_find_nothing_and_say_so() -> None:
    assert structured("search_wire", query="openai")["total"] == 0
    assert structured("search", query="openai") == {"results": []}
    assert structured("get_category", category="launches")["stories"] == []
    assert structured("get_topic_coverage", topic="openai")["summary"] == "No stories about OpenAI in this period."
    consensus = structured("get_consensus", headline="OpenAI launches Quince")
    assert (consensus["consensus_score"], consensus["cross_source_count"], consensus["siblings"]) == (0.0, 0, [])
    assert consensus["notes"].startswith("No coverage found")
    assert "published nothing yet" in refusal("get_editor_take")


@every_era
def test_prompts_say_that_there_is_no_news(era: str) -> None:
    assert "published nothing yet" in prompt("daily-briefing", era)
    assert "published nothing yet" in prompt("topic-deep-dive", era, topic="openai")
    assert "No publication of the wire covers this event" in prompt("compare-coverage", era, event="OpenAI")
    assert "report no news" in prompt("daily-briefing", era, focus="agents")


def test_completion_has_nothing_to_offer() -> None:
    for ref, argument in (
        ({"type": "ref/resource", "uri": "wire://story/{id}"}, "id"),
        ({"type": "ref/resource", "uri": "wire://archive/{date}"}, "date"),
    ):
        asked = {"ref": ref, "argument": {"name": argument, "value": ""}}
        assert rpc("completion/complete", asked).result["completion"]["values"] == []


@that_publishes
def test_an_empty_topic_and_an_empty_category_are_said_to_be_empty() -> None:
    publish(entry(title="Nvidia opens a biscuit factory", summary="It is round."))
    text = prompt("topic-deep-dive", topic="mistral", window_days="3")
    assert "no stories about Mistral in the 3 days up to 2026-01-15 (UTC)." in text
    assert text.count("Say so, and invent none.") == 1
    assert "No stories in this category." in prompt("daily-briefing", focus="funding")
    assert "<story id=" not in prompt("daily-briefing", focus="funding")


@that_publishes
def test_a_wire_that_lags_behind_still_answers_with_its_latest_day() -> None:
    publish(entry(title="Nvidia opens a biscuit factory", summary="It is round."))
    assert "biscuit factory" in prompt("topic-deep-dive", topic="nvidia", window_days="1")
    assert read_json("wire://today")["is_stale"] is True
    assert call("get_editor_take")["structuredContent"]["date"] == "2026-01-15"


def test_rest_says_the_same() -> None:
    answer = request("GET", "/api/today.json")
    assert (answer.status, answer.json()["error"]) == (503, "nothing_published")
