"""A byline at the door: what a story's author says, and that the publisher is none. How bylines are read is tests/citations'."""

import json

import pytest
from django.test import Client

from tests.factories import published

pytestmark = pytest.mark.django_db


@pytest.mark.slow
@pytest.mark.parametrize(
    ("publisher", "byline", "author"),
    [
        ("TechCrunch", "By Jane Doe and John Roe", "Jane Doe and John Roe"),
        ("TechCrunch", "jane@techcrunch.com (Jane Doe)", "Jane Doe"),
        ("TechCrunch", "Jane Doe (Contributor)", "Jane Doe"),
        ("TechCrunch", "Senior Editor, Jane Doe", "Jane Doe"),
        ("TechCrunch", "TechCrunch", None),
        ("TechCrunch", "Jane Doe, TechCrunch", "Jane Doe"),
        ("TechCrunch", "OpenAI", "OpenAI"),
        ("OpenAI Blog", "OpenAI", None),
        ("Financial Times", "FT", None),
        ("Reuters", "Reuters Staff", "Reuters Staff"),
    ],
)
def test_a_story_names_its_authors_and_not_its_publisher(client: Client, publisher: str, byline: str, author: str | None) -> None:
    story_id = published(publisher=publisher, author=byline).chatbotnews_id
    story = client.get(f"/api/stories/{story_id}.json").json()
    assert story["author"] == author
    assert story["citation_objects"]["academic_story"].startswith(f"{author or publisher}. (2026, January 15). ")
    [item] = json.loads(client.get(f"/api/citations/{story_id}.json", {"format": "csl"}).json()["citation"])
    assert ("author" in item) == (author is not None)
