"""Several publications at once: stories by any of them, over REST as in a search."""

import pytest
from django.test import Client

from tests.contract import refused
from tests.factories import entry, publish

pytestmark = pytest.mark.django_db
ADDRESS = "/api/search.json?query=quince&group=none"


@pytest.fixture(autouse=True)
def three() -> None:
    publish(*(entry(publisher=name, title=f"Quince by {name}") for name in ("Reuters", "Wired", "Fortune")))


def publishers(client: Client, query: str) -> set[str]:
    return {story["original_publisher"] for story in client.get(f"{ADDRESS}&{query}").json()["stories"]}


@pytest.mark.parametrize("sort", ["relevance", "newest"])
def test_stories_of_any_of_them_are_found(client: Client, sort: str) -> None:
    assert publishers(client, f"sources=Reuters&sources=wired.com&sort={sort}") == {"Reuters", "Wired"}
    assert publishers(client, f"sources=Reuters&sort={sort}") == {"Reuters"}
    assert publishers(client, f"source=Fortune&sources=Reuters&sort={sort}") == {"Fortune", "Reuters"}
    assert publishers(client, f"sources=Reuters&sources=Wired&tier=2&sort={sort}") == {"Wired"}


def test_one_outside_the_roster_is_refused_by_name(client: Client) -> None:
    answer = client.get(f"{ADDRESS}&sources=Reuters&sources=The+Daily+Planet")
    assert "none of them resembles it" in refused(answer, 422, "not_in_roster")["message"].lower()


def test_a_cursor_goes_with_the_same_sources_in_any_order_and_spelling(client: Client) -> None:
    first = client.get(f"{ADDRESS}&sources=Reuters&sources=Wired&limit=1").json()
    second = client.get(f"{ADDRESS}&sources=wired.com&sources=Reuters&limit=1&cursor={first['next_cursor']}").json()
    assert {story["original_publisher"] for page in (first, second) for story in page["stories"]} == {"Reuters", "Wired"}
    other = client.get(f"{ADDRESS}&sources=Reuters&limit=1&cursor={first['next_cursor']}")
    refused(other, 422, "invalid_argument")
