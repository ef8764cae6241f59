"""The roster over REST: the list of 24, and whether a name is in it."""

import pytest
from django.test import Client

from sources.choices import Tier
from tests.contract import refused

pytestmark = pytest.mark.django_db


def test_the_roster_is_listed_in_tier_order(client: Client) -> None:
    answer = client.get("/api/sources.json").json()
    assert list(answer) == [
        *("sources", "total_authorized_sources", "roster_sha256", "roster_revision", "in_force_since", "extension_policy"),
        "replacements",
    ]
    assert list(answer["sources"][0]) == [
        *("name", "tier", "tier_label", "feed_type", "slug", "domain", "homepage", "owner", "allows_pictures"),
        *("stories", "newest_story_at"),
    ]
    assert {source["name"] for source in answer["sources"] if source["owner"] == "Condé Nast"} == {"Wired", "Ars Technica"}
    assert answer["replacements"] == []
    assert len(answer["sources"]) == answer["total_authorized_sources"] == 24
    tiers = [source["tier"] for source in answer["sources"]]
    assert tiers == sorted(tiers)
    assert answer["sources"][-1]["name"] == "Google News"


@pytest.mark.parametrize(("tier", "count"), [(1, 7), (2, 6), (3, 10), (4, 1)])
def test_one_tier_is_listed_on_request_and_the_roster_still_has_24(client: Client, tier: int, count: int) -> None:
    whole, answer = client.get("/api/sources.json").json(), client.get("/api/sources.json", {"tier": tier}).json()
    assert answer["sources"] == [source for source in whole["sources"] if source["tier"] == tier]
    assert len(answer["sources"]) == count
    assert {source["tier_label"] for source in answer["sources"]} == {Tier(tier).label}
    assert (answer["total_authorized_sources"], answer["roster_sha256"]) == (24, whole["roster_sha256"])


@pytest.mark.parametrize("tier", ["0", "5", "-1", "x", "1.5", "", "null"])
def test_a_tier_that_does_not_exist_is_refused(client: Client, tier: str) -> None:
    assert refused(client.get("/api/sources.json", {"tier": tier}), 422, "invalid_argument")["message"].startswith("tier: ")


@pytest.mark.parametrize(("name", "canonical"), [("the verge", "The Verge"), ("Wired UK", None), ("\0", None), ("", None)])
def test_a_name_is_in_the_roster_or_refuted_with_the_closest(client: Client, name: str, canonical: str | None) -> None:
    """Which names are is for test_names.py to say."""
    verdict = client.get("/api/verify-source.json", {"publication_name": name}).json()
    assert list(verdict) == ["in_roster", "tier", "canonical_name", "notes", "closest_match", "similarity"]
    assert (verdict["in_roster"], verdict["canonical_name"]) == (canonical is not None, canonical)
    assert (verdict["tier"] is None, verdict["similarity"] == 1.0) == (canonical is None, canonical is not None)


def test_a_name_is_needed_and_has_an_end(client: Client) -> None:
    refused(client.get("/api/verify-source.json"), 422, "invalid_argument")
    refused(client.get("/api/verify-source.json", {"publication_name": "x" * 501}), 422, "invalid_argument")
