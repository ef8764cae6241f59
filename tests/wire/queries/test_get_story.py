"""One story: what it says, corrected, withdrawn, and what is no story."""

import pytest
from django.test import Client

from tests.contract import CITATION_KEYS, STORY_KEYS, refused
from tests.factories import NOW, entry, publish, story_of, take
from wire import queries
from wire.ingest import corrections

pytestmark = pytest.mark.django_db


def test_it_has_the_fields_of_the_contract_and_exactly_six_citations(client: Client) -> None:
    made = entry()
    publish(made)
    story = client.get(f"/api/stories/{story_of(made).chatbotnews_id}.json").json()
    assert list(story) == STORY_KEYS
    assert list(story["citation_objects"]) == CITATION_KEYS
    assert all(story["citation_objects"].values())
    assert story["permalink"] == f"http://localhost:8000/story/{story['chatbotnews_id']}"


def test_it_says_what_its_publisher_said() -> None:
    made = entry(author="Ada Quill", published_at="2026-01-15T11:30:00+02:00")
    publish(made)
    story = queries.get_story(story_of(made).chatbotnews_id)
    assert (story.headline, story.author, story.summary_medium) == (made.title, "Ada Quill", made.summary)
    assert story.original_publisher == "TechCrunch"
    assert (story.original_publisher_tier, story.original_publisher_tier_label) == (2, "Specialist AI Press")
    assert story.published_at.isoformat() == "2026-01-15T09:30:00+00:00"


def test_an_item_of_the_category_wire_belongs_to_whom_it_credits_if_that_is_in_the_roster() -> None:
    told = {}
    for outlet in ("The Verge", "Quince Gazette"):
        made = entry(publisher="Google News", credited_source=outlet)
        publish(made)
        told[outlet] = queries.get_story(story_of(made).chatbotnews_id)
    inside, outside = told["The Verge"], told["Quince Gazette"]
    assert (inside.original_publisher, inside.via, inside.credited_source) == ("The Verge", "Google News", None)
    assert (outside.original_publisher, outside.via, outside.credited_source) == ("Google News", None, "Quince Gazette")
    assert outside.citation_objects is not None
    assert outside.citation_objects.layered_ready.startswith(
        "According to Google News, as summarized by ChatbotNews.ai, Quince Gazette reported "
    )


def test_a_corrected_story_carries_the_date_of_the_correction() -> None:
    made = entry(summary="Quince said so.")
    publish(made)
    story_id = story_of(made).chatbotnews_id
    corrections.correct_texts(story_id, reason="The name was misspelt.", headline="Quints said so", now=NOW)
    story = queries.get_story(story_id)
    assert (story.status, story.headline, story.revision) == ("corrected", "Quints said so", 2)
    assert story.citation_objects is not None
    citations = story.citation_objects.model_dump()
    assert citations.pop("bibtex").count("[corrected 2026-01-16]") == 1
    assert all(text.endswith(" [corrected 2026-01-16]") for text in citations.values())


def test_a_story_that_is_not_published_yet_is_unknown_and_so_is_a_revision(client: Client) -> None:
    made = entry(title="Quince ships")
    take(made)
    refused(client.get(f"/api/stories/{story_of(made).chatbotnews_id}.json"), 404, "not_found")
    publish()
    take(entry(url=made.url, title="Not public yet"))
    assert queries.get_story(story_of(made).chatbotnews_id).headline == "Quince ships"


def test_what_is_no_story_says_how_ids_look_and_where_to_find_them(client: Client) -> None:
    publish(entry())
    ids = (
        "cbn-000000000000",
        "CBN-000000000000",
        "cbn-00000000000u",
        "cbn-",
        "1",
        "%00",
        "cbn-0000000000%0A",
        "ü",
        "<b>",
        "..",
        "null",
    )
    for story_id in ids:
        error = refused(client.get(f"/api/stories/{story_id}.json"), 404, "not_found")
        assert "cbn-0123456789ab" in error["hint"], story_id
        assert "/api/search.json" in error["hint"]
        assert "\0" not in error["message"]
    refused(client.get(f"/api/stories/{'c' * 101}.json"), 422, "invalid_argument")
