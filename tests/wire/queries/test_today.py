"""today.json: the contract's shape, its own schema, and which day is today."""

import datetime as dt
import json
from typing import Any

import pytest
from django.test import Client
from jsonschema import Draft202012Validator, FormatChecker

from config.errors import NothingPublished
from tests.contract import CITATION_KEYS, STORY_KEYS, refused
from tests.factories import DAY, NOW, entry, publish, story_of
from wire import queries
from wire.ingest import corrections

pytestmark = pytest.mark.django_db

AWKWARD = [
    "<script>alert(1)</script> & <b>Quince</b> said “no”",
    '"]}, {"stories": [] // \\ \\n \\u0000',
    "شركة Quince تطلق نموذجاً ‏جديداً",
    "日本語の見出し「引用」、そして絵文字 🤖🇺🇳👩‍🚀",
    "a{b}c$d%e#f&g_h~i^j\\k – {{ template }} {% tag %}",
    "Line\nbreak\ttab\u2028separator\u0085next",
    "null",
    "W" * 999,
    "Quince " * 300,
    "🤖",
]


def today(client: Client) -> dict[str, Any]:
    """Today, after holding it against the schema that the wire itself publishes."""
    schema = client.get("/api/today.schema.json").json()
    Draft202012Validator.check_schema(schema)
    day: dict[str, Any] = client.get("/api/today.json").json()
    Draft202012Validator(schema, format_checker=FormatChecker()).validate(day)
    return day


@pytest.mark.usefixtures("sample_wire")
def test_every_sample_day_is_valid_by_the_published_schema_and_tells_each_story_as_its_own_address_does(client: Client) -> None:
    day = today(client)
    assert len(day["stories"]) == 22
    for story in day["stories"]:
        assert client.get(f"/api/stories/{story['chatbotnews_id']}.json").json() == story
    validator = Draft202012Validator(client.get("/api/today.schema.json").json(), format_checker=FormatChecker())
    days = client.get("/api/archive.json").json()["dates"]
    assert len(days) == 4
    for listed in days:
        validator.validate(client.get(f"/api/archive/{listed['wire_date']}.json").json())


def test_an_awkward_title_is_valid_and_citable(client: Client) -> None:
    publish(*(entry(title=title, summary=title, author=title) for title in AWKWARD))
    stories = today(client)["stories"]
    assert len(stories) == len(AWKWARD)
    for story in stories:
        assert list(story["citation_objects"]) == CITATION_KEYS
        assert all(story["citation_objects"].values())
        assert (story["consensus_score"], story["cross_source_count"]) == (0.0, 1)


def test_a_day_whose_every_story_was_withdrawn_is_valid_and_empty(client: Client) -> None:
    made = entry()
    publish(made)
    corrections.withdraw_story(story_of(made).chatbotnews_id, reason="Retracted by its publisher.", now=NOW)
    assert today(client)["stories"] == []


def test_the_schema_asks_for_every_field_and_for_real_times(client: Client) -> None:
    schema = client.get("/api/today.schema.json").json()
    story = schema["$defs"]["StoryOut"]
    assert story["required"] == STORY_KEYS
    assert list(story["properties"]) == [*STORY_KEYS, "merged_into", "more_of_event"]  # which only merged stories and hits have
    assert story["properties"]["published_at"]["format"] == "date-time"
    validator = Draft202012Validator(schema, format_checker=FormatChecker())
    publish(entry())
    wrong: list[dict[str, Any]] = [{"generated_at": "yesterday"}, {"wire_date": "2026-02-30"}, {"stories": [{}]}]
    for broken in wrong:
        assert not validator.is_valid(client.get("/api/today.json").json() | broken)


@pytest.mark.usefixtures("sample_wire")
def test_it_has_the_fields_of_the_contract_in_their_order(client: Client) -> None:
    body = client.get("/api/today.json").content
    assert b'"consensus_score":0,' not in body
    assert b'"consensus_score":0.0,' in body
    assert b"+00:00" not in body
    day = json.loads(body)
    assert list(day) == [
        *("$schema", "meta", "wire_date", "is_stale", "generated_at", "source_integrity", "editor_take", "editor_take_detail"),
        *("stories", "provenance"),
    ]
    assert list(day["meta"]) == [
        *("endpoint", "description", "version", "license", "license_url", "third_party", "attribution_required", "publisher"),
        *("recommendedCitationFormat", "sample"),
    ]
    assert list(day["source_integrity"]) == [
        *("total_authorized_sources", "extension_policy", "verification_reference", "roster_sha256"),
    ]
    assert list(day["editor_take_detail"]) == ["title", "url", "summary_short", "citation_ready"]
    assert list(day["provenance"]) == ["wire_sha256", "previous_sha256", "sequence", "revision", "fpl_anchor", "signature"]
    assert list(day["provenance"]["fpl_anchor"]) == [
        *("fpl_version", "canonical_uri", "hash_algorithm", "sha256", "utc_timestamp"),
    ]
    for story in day["stories"]:
        assert list(story) == STORY_KEYS
        assert list(story["citation_objects"]) == CITATION_KEYS
    told = {"endpoint": "http://localhost:8000/api/today.json", "license": "CC-BY-4.0", "attribution_required": True}
    assert day["meta"].items() >= (told | {"recommendedCitationFormat": "layered", "sample": False}).items()
    assert day["$schema"] == "http://localhost:8000/api/today.schema.json"
    assert day["source_integrity"]["total_authorized_sources"] == 24


def test_stories_stand_newest_first_and_by_id_among_equals() -> None:
    publish(*(entry(published_at=f"2026-01-15T{hour:02}:00:00Z") for hour in (9, 11, 9, 10, 9)))
    found = [(story.published_at, story.chatbotnews_id) for story in queries.get_today(NOW).stories]
    assert found == sorted(found, key=lambda place: (-place[0].timestamp(), place[1]))


def test_the_latest_day_is_stale_from_midnight_utc_on() -> None:
    publish(entry())
    publish(entry(published_at="2026-01-10T10:00:00Z"))  # an older day that is published later is not today
    moments = {
        dt.datetime(2026, 1, 15, 0, 0, 0, tzinfo=dt.UTC): False,
        dt.datetime(2026, 1, 15, 23, 59, 59, 999999, tzinfo=dt.UTC): False,
        dt.datetime(2026, 1, 16, 0, 0, 0, tzinfo=dt.UTC): True,
        dt.datetime(2026, 1, 16, 1, 0, tzinfo=dt.timezone(dt.timedelta(hours=2))): False,
        dt.datetime(2026, 1, 15, 23, 0, tzinfo=dt.timezone(dt.timedelta(hours=-5))): True,
    }
    for now, stale in moments.items():
        day = queries.get_today(now)
        assert (day.wire_date, day.is_stale) == (DAY, stale), now


def test_a_day_in_the_future_is_never_today() -> None:
    ahead = dt.datetime(2100, 1, 1, 12, tzinfo=dt.UTC)
    publish(entry(published_at="2100-01-01T10:00:00Z"), now=ahead)
    with pytest.raises(NothingPublished):
        queries.get_today(NOW)
    publish(entry())
    assert queries.get_today(NOW).wire_date == DAY
    assert queries.get_editor_take(now=NOW).date == DAY
    assert queries.get_provenance(now=NOW).wire_date == DAY
    assert queries.get_today(ahead).wire_date == ahead.date()


def test_a_wire_that_published_nothing_says_so(client: Client) -> None:
    refused(client.get("/api/today.json"), 503, "nothing_published")
