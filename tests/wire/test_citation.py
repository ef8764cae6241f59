"""One citation, by format; the formats themselves are tests/citations'."""

import json

import pytest
from django.test import Client

from citations.formats import CitationFormat
from tests.contract import refused
from tests.factories import NOW, entry, publish, story_of
from wire import editorial, queries

pytestmark = pytest.mark.django_db
READY = {
    CitationFormat.LAYERED: "layered_ready",
    CitationFormat.INLINE: "inline_ready",
    CitationFormat.REFERENCE: "reference_ready",
    CitationFormat.ACADEMIC: "academic_story",
    CitationFormat.MARKDOWN: "markdown_link",
    CitationFormat.BIBTEX: "bibtex",
}


def published() -> str:
    made = entry(title="Quince ships", summary="Quince has shipped.")
    publish(made)
    return story_of(made).chatbotnews_id


def test_the_layered_one_is_given_unless_asked_for_another(client: Client) -> None:
    story_id = published()
    assert client.get(f"/api/citations/{story_id}.json").json() == {
        "citation": "According to TechCrunch, as summarized by ChatbotNews.ai, Quince has shipped. "
        f"Source: http://localhost:8000/story/{story_id}",
        "format": "layered",
        "story_id": story_id,
    }


@pytest.mark.parametrize("name", READY)
def test_it_is_the_one_that_the_story_carries(client: Client, name: CitationFormat) -> None:
    story_id = published()
    ready = client.get(f"/api/stories/{story_id}.json").json()["citation_objects"]
    answer = client.get(f"/api/citations/{story_id}.json", {"format": name}).json()
    assert (answer["format"], answer["citation"]) == (name, ready[READY[name]])


def test_csl_and_ris_are_given_on_request(client: Client) -> None:
    address = f"/api/citations/{published()}.json"
    (item,) = json.loads(client.get(address, {"format": "csl"}).json()["citation"])
    assert item["title"] == "Quince ships"
    assert client.get(address, {"format": "ris"}).json()["citation"].startswith("TY  - ELEC\n")


@pytest.mark.parametrize("name", ["apa", "Layered", "", "\0", "layered "])
def test_an_unknown_format_is_refused_with_those_there_are(client: Client, name: str) -> None:
    message = refused(client.get(f"/api/citations/{published()}.json", {"format": name}), 422, "invalid_argument")["message"]
    assert message.startswith("format: ")
    assert all(f"'{known}'" in message for known in CitationFormat)


@pytest.mark.parametrize("name", CitationFormat)
def test_a_withdrawn_story_is_gone_in_every_format(client: Client, name: CitationFormat) -> None:
    story_id = published()
    editorial.withdraw(story_id, reason="Retracted by its publisher.", now=NOW)
    error = refused(client.get(f"/api/citations/{story_id}.json", {"format": name}), 410, "story_withdrawn")
    assert story_id in error["message"]


def test_a_correction_is_dated_in_the_citation() -> None:
    story_id = published()
    editorial.correct(story_id, reason="The name was misspelt.", headline="Quints ship", summary="Quints shipped.", now=NOW)
    citation = queries.get_citation(story_id).citation
    assert citation == (
        "According to TechCrunch, as summarized by ChatbotNews.ai, Quints shipped. "
        f"Source: http://localhost:8000/story/{story_id} [corrected 2026-01-16]"
    )


def test_an_unknown_story_cannot_be_cited(client: Client) -> None:
    refused(client.get("/api/citations/cbn-000000000000.json"), 404, "not_found")
