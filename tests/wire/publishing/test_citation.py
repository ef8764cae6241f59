"""Citations by format; the formats themselves are tests/citations'."""

import json

import pytest
from django.test import Client

from citations.format.formats import CitationFormat
from tests.contract import refused
from tests.factories import NOW, published
from wire import queries
from wire.ingest import corrections

pytestmark = pytest.mark.django_db


def test_what_no_story_carries_is_given_on_request(client: Client) -> None:
    """The six that a story carries are tests/mcpserver/test_parity's."""
    story_id = published(title="Quince ships").chatbotnews_id
    address, formats = f"/api/citations/{story_id}.json", ("csl", "ris", "apa", "mla")
    csl, ris, apa, mla = (client.get(address, {"format": name}).json() for name in formats)
    assert (csl["format"], csl["story_id"]) == ("csl", story_id)
    assert json.loads(csl["citation"])[0]["title"] == "Quince ships"
    assert ris["citation"].startswith("TY  - ELEC\n")
    assert apa["citation"].startswith("Quince ships. (2026, January 15). TechCrunch. https://")
    assert mla["citation"].startswith('"Quince ships." TechCrunch, 15 Jan. 2026, https://')


def test_an_unknown_format_is_refused_with_those_there_are_and_an_unknown_story_is_not_found(client: Client) -> None:
    address = f"/api/citations/{published().chatbotnews_id}.json"
    for name in ("chicago", "Layered", "", "\0", "layered "):
        message = refused(client.get(address, {"format": name}), 422, "invalid_argument")["message"]
        assert message.startswith("format: ")
        assert all(f"'{known}'" in message for known in CitationFormat)
    refused(client.get("/api/citations/cbn-000000000000.json"), 404, "not_found")


def test_a_correction_is_dated_and_a_withdrawn_story_is_gone_in_every_format(client: Client) -> None:
    story_id = published(title="Quince ships", summary="Quince has shipped.").chatbotnews_id
    corrections.correct_texts(story_id, reason="The name was misspelt.", headline="Quints ship", summary="Quints shipped.", now=NOW)
    assert queries.get_citation(story_id).citation == (
        "According to TechCrunch, as summarized by ChatbotNews.ai, Quints shipped. "
        f"Source: http://localhost:8000/story/{story_id} [corrected 2026-01-16]"
    )
    corrections.withdraw_story(story_id, reason="Retracted by its publisher.", now=NOW)
    for name in CitationFormat:
        error = refused(client.get(f"/api/citations/{story_id}.json", {"format": name}), 410, "story_withdrawn")
        assert story_id in error["message"], name
