"""What anyone needs to check a day, checked here with nothing of the wire's own."""

import base64
import hashlib
import json

import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.test import Client

from config.errors import NothingPublished
from tests.contract import refused
from tests.factories import DAY, NOW, entry, publish, story_of
from wire import editorial, queries

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


@pytest.mark.usefixtures("sample_wire")
def test_the_hash_of_every_day_can_be_recomputed_from_its_manifest_and_the_chain_closes(client: Client) -> None:
    days = [client.get(f"/api/provenance/2026-10-{day}.json").json() for day in (12, 13, 14, 15)]
    for day in days:
        assert hashlib.sha256(rfc8785.dumps(day["manifest"])).hexdigest() == day["wire_sha256"]
        assert day["manifest"]["previous_sha256"] == day["previous_sha256"]
    by_sequence = sorted(days, key=lambda day: day["sequence"])
    assert [day["previous_sha256"] for day in by_sequence] == [None, *(day["wire_sha256"] for day in by_sequence[:-1])]


@pytest.mark.usefixtures("sample_wire")
def test_the_hash_of_every_story_can_be_recomputed_from_what_is_public(client: Client) -> None:
    for story in client.get("/api/today.json").json()["stories"]:
        keys = [
            *("chatbotnews_id", "revision", "status", "headline", "author", "summary_medium", "category", "topics"),
            *(
                "original_publisher",
                "original_publisher_tier",
                "original_url",
                "via",
                "credited_source",
                "published_at",
                "language",
            ),
        ]
        content = {"v": 1, **{key: story[key] for key in keys}}
        plain = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)  # RFC 8785 without fractions
        assert hashlib.sha256(plain.encode()).hexdigest() == story["story_sha256"]


def test_the_signature_is_of_a_published_key(client: Client) -> None:
    publish(entry())
    answer = client.get(ADDRESS).json()
    keys = {key["key_id"]: key for key in client.get("/.well-known/wire-keys.json").json()["keys"]}
    public = base64.b64decode(keys[answer["signature"]["key_id"]]["public_key"])
    assert hashlib.sha256(public).hexdigest()[:16] == answer["signature"]["key_id"]
    signature = base64.b64decode(answer["signature"]["value"])
    Ed25519PublicKey.from_public_bytes(public).verify(signature, answer["wire_sha256"].encode())


def test_a_reason_is_public_when_a_sealed_day_changes() -> None:
    made = entry()
    publish(made, entry())
    assert queries.get_provenance(DAY).reason == ""
    later = NOW.replace(month=6)
    editorial.withdraw(story_of(made).chatbotnews_id, reason="Retracted by its publisher.", now=later)
    found = queries.get_provenance(DAY, now=later)
    assert (found.reason, found.sealed, found.revision, found.story_count) == ("Retracted by its publisher.", True, 2, 1)


def test_without_a_date_it_is_the_latest_days() -> None:
    publish(entry(), entry(published_at="2026-01-14T10:00:00Z"))
    assert queries.get_provenance(now=NOW).wire_date == DAY


def test_without_any_day_there_is_nothing_to_check() -> None:
    with pytest.raises(NothingPublished):
        queries.get_provenance()


def test_a_day_without_news_is_not_found(client: Client) -> None:
    refused(client.get(ADDRESS), 404, "not_found")


def test_a_day_that_is_no_date_is_refused(client: Client) -> None:
    refused(client.get("/api/provenance/today.json"), 422, "invalid_argument")
