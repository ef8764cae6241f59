"""What anyone needs to check a day, checked here with nothing of the wire's own."""

import pytest
from django.test import Client

from config.errors import NothingPublished
from tests.contract import refused
from tests.factories import DAY, NOW, entry, publish, story_of
from wire import queries
from wire.ingest import corrections

pytestmark = pytest.mark.django_db
ADDRESS = "/api/provenance/2026-01-15.json"


def test_it_tells_hashes_anchor_signature_time_and_manifest(client: Client) -> None:
    publish(entry())
    answer = client.get(ADDRESS).json()
    assert list(answer) == [
        *("wire_sha256", "previous_sha256", "sequence", "revision", "fpl_anchor", "signature", "wire_date", "generated_at"),
        *("sealed", "reason", "roster_sha256", "story_count", "manifest"),
    ]
    day = client.get("/api/archive/2026-01-15.json").json()
    assert {key: answer[key] for key in day["provenance"]} == day["provenance"]
    assert answer["fpl_anchor"] == {
        "fpl_version": "1.0",
        "canonical_uri": "http://localhost:8000/api/archive/2026-01-15.json?revision=1",
        "hash_algorithm": "SHA-256",
        "sha256": answer["wire_sha256"],
        "utc_timestamp": "2026-01-16T12:00:00Z",
    }


def test_a_reason_is_public_when_a_sealed_day_changes_and_without_a_date_it_is_the_latest_days(client: Client) -> None:
    refused(client.get(ADDRESS), 404, "not_found")
    with pytest.raises(NothingPublished):
        queries.get_provenance()
    made = entry()
    publish(made, entry(), entry(published_at="2026-01-14T10:00:00Z"))
    assert queries.get_provenance(now=NOW) == queries.get_provenance(DAY, now=NOW)
    found = queries.get_provenance(DAY, now=NOW)
    assert (found.wire_date, found.reason, found.sealed) == (DAY, "", False)
    later = NOW.replace(month=6)
    corrections.withdraw_story(story_of(made).chatbotnews_id, reason="Retracted by its publisher.", now=later)
    found = queries.get_provenance(DAY, now=later)
    assert (found.reason, found.sealed, found.revision, found.story_count) == ("Retracted by its publisher.", True, 2, 1)


def test_a_past_revision_is_answered_as_it_was_signed(client: Client) -> None:
    publish(entry())
    first = client.get(ADDRESS).json()
    publish(entry())
    second = client.get(ADDRESS).json()
    assert (first["revision"], second["revision"]) == (1, 2)
    assert client.get(f"{ADDRESS}?revision=1").json() == first
    assert client.get(f"{ADDRESS}?revision=2").json() == second
    assert refused(client.get(f"{ADDRESS}?revision=3"), 404, "not_found")["hint"] == "Its revisions are 1 to 2."
    refused(client.get(f"{ADDRESS}?revision=0"), 422, "invalid_argument")
