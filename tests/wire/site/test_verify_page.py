"""/verify: a text is pasted, and what was not read of it is said."""

import pytest
from django.test import Client

from wire.site.about_pages import MAX_PASTED

CITED = "According to BBC, as summarized by ChatbotNews.ai, it rained."


@pytest.mark.django_db
def test_a_text_is_judged_and_its_end_named_where_it_was_not_read(client: Client) -> None:
    whole = client.get("/verify", {"text": CITED}).content.decode()
    assert "1 citation found, 0 verified" in whole
    assert "were not read" not in whole
    cut = client.get("/verify", {"text": "A" * MAX_PASTED + CITED}).content.decode()
    assert f"The last {len(CITED)} characters were not read" in cut
    assert "No citation found" in cut


@pytest.mark.django_db
def test_a_line_ends_with_one_character_as_a_browser_counts(client: Client) -> None:
    lines = "a\r\n" * ((MAX_PASTED - len(CITED)) // 2)
    assert "1 citation found" in client.get("/verify", {"text": lines + CITED}).content.decode()
