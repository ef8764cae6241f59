"""The search page: filters that are true, marks, orders, and what it says when nothing is found."""

import pytest
from django.test import Client

from tests.factories import entry, publish
from tests.wire.site.test_site import Page, page

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def wire(db: None) -> None:  # noqa: ARG001
    """Three stories about robots: two of Wired, an old and a new one, and one of Reuters, which fits best."""
    publish(
        entry(title="Robots & quinces launched", publisher="Wired", url="https://wired.com/1", published_at="2026-01-13T10:00:00Z"),
        entry(title="Robots launched again", publisher="Wired", url="https://wired.com/2", published_at="2026-01-15T10:00:00Z"),
        entry(title="Robots, robots", publisher="Reuters", url="https://reuters.com/3", published_at="2026-01-14T10:00:00Z"),
    )


def html(client: Client, address: str) -> str:
    return client.get(address).content.decode()


def test_it_marks_what_it_found_and_nothing_else(client: Client) -> None:
    shown = html(client, "/search?query=launches")
    assert "Robots &amp; quinces <mark>launched</mark>" in shown
    assert "Robots <mark>launched</mark> again" in shown
    assert "<mark>" not in html(client, "/search?source=Wired")


@pytest.mark.parametrize("name", ["Wired", "wired", "WIRED", "wired.com"])
def test_a_publication_by_any_name_is_selected_and_filters(client: Client, name: str) -> None:
    found = page(client, f"/search?query=robots&source={name}&group=none")
    assert "2 stories with “robots” from Wired" in found.text
    assert "<option selected>Wired</option>" in html(client, f"/search?query=robots&source={name}")


def test_filters_without_words_list_the_newest_stories(client: Client) -> None:
    found = page(client, "/search?source=wired&since=2026-01-01")
    assert "2 stories from Wired since 1 January 2026" in found.text
    assert found.text.index("launched again") < found.text.index("quinces launched")
    assert {"/search?since=2026-01-01", "/search?source=Wired"} <= set(found.links)


def test_a_form_without_anything_lists_nothing(client: Client) -> None:
    found = page(client, "/search?query=&category=&source=&sort=newest")
    assert not {"h2", "article"} & set(found.tags)


def test_every_filter_is_in_the_sentence_and_each_can_be_removed(client: Client) -> None:
    asked = "query=robots&source=Wired&tier=2&category=launches&topic=openai&since=2026-01-01&until=2026-01-14T09%3A30"
    found = page(client, f"/search?{asked}")
    assert "No story with “robots” from Wired in tier 2 in Launches about OpenAI since 1 January 2026 before 14" in found.text
    assert "before 14 January 2026, 09:30 UTC" in found.text
    removing = [link for link in found.links if link.startswith("/search?query=robots&") and "sort" not in link]
    assert [link.count("&") for link in removing] == [5] * 6
    assert "/search?query=robots" in found.links
    assert ("value", "2026-01-14T09:30") in found.attributes


def test_newest_first_is_one_click_away_and_back(client: Client) -> None:
    best = page(client, "/search?query=robots")
    assert "/search?query=robots&sort=newest" in best.links
    newest = page(client, "/search?query=robots&sort=newest")
    assert "/search?query=robots" in newest.links
    order = [newest.text.index(text) for text in ("Robots launched again", "Robots, robots", "Robots & quinces")]
    assert order == sorted(order)


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ("source=The+Bugle", "“The Bugle” is not one of the 24 publications."),
        ("tier=9", "The filter “tier” rejects '9'."),
        ("until=soon", "The filter “until” rejects 'soon'."),
        ("sort=worst", "The filter “sort” rejects 'worst'."),
        ("cursor=x", "cursor does not belong to this list."),
    ],
)
def test_a_refused_value_is_named_and_the_rest_of_the_form_stays(client: Client, wrong: str, says: str) -> None:
    answer = client.get(f"/search?query=robots&category=launches&since=2026-01-02&{wrong}")
    found = Page(answer.content.decode())
    assert answer.status_code == 422
    assert says in found.text
    assert {("value", "robots"), ("value", "2026-01-02")} <= set(found.attributes)
    assert '<option value="launches" selected>' in answer.content.decode()


def test_a_misspelt_word_is_put_right_and_nothing_found_widens(client: Client) -> None:
    found = page(client, "/search?query=robuts&source=Wired")
    assert "Showing results for robots: no story contains what you typed." in found.text
    assert "/search?query=robots&source=Wired" in found.links
    none = page(client, "/search?query=walrus&source=Wired")
    assert "No story with “walrus” from Wired" in none.text
    assert {"/search?query=walrus", "/topics", "/archive"} <= set(none.links)
    assert "No story matches this filter." in page(client, "/search?tier=1").text


def test_the_longer_summary_is_shown_where_the_short_one_leaves_out_why(client: Client) -> None:
    publish(entry(title="Marmots sleep", summary="They sleep all winter long. " * 7 + "Only gherkins wake them."))
    assert "Only <mark>gherkins</mark> wake them" in html(client, "/search?query=gherkins")
    assert "wake them" not in html(client, "/search?query=marmots")


def test_what_was_asked_is_text_and_never_markup(client: Client) -> None:
    shown = html(client, "/search?query=%3Cscript%3Ealert(1)%3C/script%3E%22&source=wired")
    assert "<script>alert" not in shown
