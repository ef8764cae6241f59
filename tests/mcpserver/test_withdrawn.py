"""A story that was withdrawn answers with its status, and nothing helps anybody to cite it; a corrected one says so."""

import pytest
from jsonschema import Draft202012Validator

from tests.factories import NOW, entry, publish, story_of
from tests.mcpserver.asgi import ERAS, call, get, prompt, read_json, refusal, rpc, said, structured
from wire.ingest import corrections

pytestmark = pytest.mark.django_db(transaction=True)

HEADLINE = "OpenAI launches Quince, a lantern that reads aloud"


@pytest.fixture
def withdrawn() -> str:
    """The id of a story that was published and taken back, on a day that has another."""
    made = entry(title=HEADLINE, summary="The lantern reads aloud.")
    publish(made, entry(title="Nvidia opens a biscuit factory"))
    story_id = story_of(made).chatbotnews_id
    corrections.withdraw_story(story_id, reason="Retracted by its publisher.", now=NOW)
    return story_id


def test_it_answers_with_its_status_and_no_citation_by_every_door(withdrawn: str) -> None:
    story = structured("get_story", story_id=withdrawn)
    assert (story["status"], story["citation_objects"]) == ("withdrawn", None)
    assert read_json(f"wire://story/{withdrawn}") == story == get(f"/api/stories/{withdrawn}.json")
    schema = next(tool["outputSchema"] for tool in rpc("tools/list").result["tools"] if tool["name"] == "get_story")
    Draft202012Validator(schema).validate(story)


def test_citing_and_fetching_it_are_refused(withdrawn: str) -> None:
    for style in ("layered", "inline", "reference", "academic", "markdown", "bibtex"):
        text = refusal("get_citation", story_id=withdrawn, format=style)
        assert f"{withdrawn} was withdrawn and must not be cited" in text
        assert "search_wire" in text
        assert HEADLINE not in text
    assert f"{withdrawn} was withdrawn and must not be cited" in refusal("fetch", id=withdrawn)


@pytest.mark.parametrize("era", ERAS)
def test_the_prompts_say_so(withdrawn: str, era: str) -> None:
    text = prompt("cite-chatbotnews", era, story_id=withdrawn)
    assert f"Story {withdrawn} was withdrawn. Do not cite it" in text
    for told in (text, prompt("daily-briefing", era), prompt("topic-deep-dive", era, topic="openai")):
        assert "lantern" not in told
    assert "No publication of the wire covers this event" in prompt("compare-coverage", era, event=HEADLINE)


def test_it_is_in_no_list(withdrawn: str) -> None:
    uris = [resource["uri"] for resource in rpc("resources/list").result["resources"]]
    assert f"wire://story/{withdrawn}" not in uris
    assert sum(uri.startswith("wire://story/") for uri in uris) == 1
    values = rpc(
        "completion/complete",
        {"ref": {"type": "ref/resource", "uri": "wire://story/{id}"}, "argument": {"name": "id", "value": ""}},
    ).result["completion"]["values"]
    assert withdrawn not in values
    assert structured("search_wire", query="lantern")["stories"] == []
    assert structured("search", query="lantern") == {"results": []}
    assert structured("get_topic_coverage", topic="openai")["total"] == 0
    assert withdrawn not in str(read_json("wire://today"))
    for category in ("launches", "funding", "agents", "industry", "analysis"):
        assert withdrawn not in str(structured("get_category", category=category))
        assert withdrawn not in str(read_json(f"wire://today/{category}"))


def test_a_corrected_story_is_cited_as_corrected() -> None:
    made = entry(title=HEADLINE, summary="The lantern reads aloud.")
    publish(made)
    story_id = story_of(made).chatbotnews_id
    corrections.correct_texts(story_id, headline="OpenAI launches Quince, a lantern that hums", reason="It hums.", now=NOW)
    story = structured("get_story", story_id=story_id)
    assert (story["status"], story["revision"]) == ("corrected", 2)
    assert "[corrected 2026-01-16]" in call("get_citation", story_id=story_id)["content"][0]["text"]
    assert "[corrected 2026-01-16]" in prompt("cite-chatbotnews", story_id=story_id)


def test_a_brief_story_whose_citation_says_more_than_the_pattern_has_it_whole() -> None:
    made = entry(title=HEADLINE, summary="The lantern reads aloud.")
    publish(made, entry(title="Nvidia opens a biscuit factory"))
    corrections.correct_texts(story_of(made).chatbotnews_id, headline="OpenAI corrects Quince", reason="A slip.", now=NOW)
    (story,) = structured("search_wire", query="quince", detail="brief")["stories"]
    assert "says" not in story
    assert story["citation_objects"] == {"layered_ready": said(call("get_citation", story_id=story["chatbotnews_id"]))}
    assert story["citation_objects"]["layered_ready"].endswith(" [corrected 2026-01-16]")
