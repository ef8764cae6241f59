"""Events of several days in one list, and periods as people name them, wherever a date is read."""

import datetime as dt
from typing import Any

import pytest
from django.test import Client

from tests.contract import refused
from tests.factories import entry, publish, story_of

pytestmark = pytest.mark.django_db


def headlines(client: Client, address: str, **parameters: Any) -> list[str]:
    answer = client.get(address, parameters).json()
    return [one["headline"] for one in answer.get("events", answer.get("stories"))]


@pytest.fixture(autouse=True)
def saturday(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("wire.schemas.params.utc_today", lambda: dt.date(2026, 1, 17))


def test_a_period_lists_each_of_its_events_once_the_widest_first(client: Client) -> None:
    reports = {"Reuters": 13, "Wired": 13, "The Verge": 14}
    wide = [
        entry(title="OpenAI launches quince model", publisher=name, published_at=f"2026-01-{day}T10:00:00Z")
        for name, day in reports.items()
    ]
    publish(*wide, *(entry(title=f"Gherkin {day} sails", published_at=f"2026-01-{day}T10:00:00Z") for day in (12, 14, 16)))
    whole = client.get("/api/events.json?date=2026-01-12/2026-01-16").json()
    found = [event["headline"] for event in whole["events"]]
    assert found[0] == "OpenAI launches quince model"
    assert sorted(found[1:]) == ["Gherkin 12 sails", "Gherkin 14 sails", "Gherkin 16 sails"]
    assert (whole["total"], whole["wire_date"]) == (4, "2026-01-16")
    first = client.get("/api/events.json?date=this week&limit=2").json()
    rest = client.get("/api/events.json", {"date": "this week", "limit": 2, "cursor": first["next_cursor"]}).json()
    assert [*first["events"], *rest["events"]] == whole["events"]
    assert refused(client.get("/api/events.json", {"date": "yesterday", "cursor": first["next_cursor"]}), 422, "invalid_argument")


def test_words_name_days_and_moments(client: Client) -> None:
    publish(*(entry(title=f"Gherkin {day} sails", published_at=f"2026-01-{day}T10:00:00Z") for day in (9, 12, 14, 16)))
    assert headlines(client, "/api/events.json", date="yesterday") == ["Gherkin 16 sails"]
    assert headlines(client, "/api/search.json", query="gherkin", since="yesterday") == ["Gherkin 16 sails"]
    assert headlines(client, "/api/search.json", query="gherkin", until="last week") == ["Gherkin 9 sails"]
    assert len(headlines(client, "/api/search.json", query="gherkin", since="January 2026", until="this week")) == 4
    assert len(headlines(client, "/api/search.json", query="gherkin", since="this week")) == 3


def test_words_name_single_days_too(client: Client) -> None:
    made = entry(published_at="2026-01-16T10:00:00Z")
    publish(made)
    address = f"/api/proofs/{story_of(made).chatbotnews_id}.json"
    assert client.get(address, {"date": "yesterday"}).json() == client.get(address).json()
    assert client.get("/export/csl", {"date": "yesterday"}).json() == client.get("/export/csl", {"date": "2026-01-16"}).json()
    for path in (address, "/export/csl"):
        refusal = refused(client.get(path, {"date": "this week"}), 422, "invalid_argument")
        assert "one day" in refusal["message"] + refusal["hint"]


def test_a_topic_ends_where_it_is_told_to(client: Client) -> None:
    publish(*(entry(title=f"OpenAI sails {day}", published_at=f"2026-01-{day}T10:00:00Z") for day in (9, 12, 14, 16)))
    address = "/api/topics/openai.json"
    assert headlines(client, address, since="2026-01-12", until="2026-01-16") == ["OpenAI sails 14", "OpenAI sails 12"]
    assert headlines(client, address, until="last week") == ["OpenAI sails 9"]
    assert headlines(client, address, until="2026-01-14T10:00:00Z", since="this week") == ["OpenAI sails 12"]
    found = client.get(address, {"until": "2026-01-13"}).json()
    assert (found["total"], found["summary"][:27]) == (2, "2 stories about OpenAI by 1")
    first = client.get(f"{address}?until=2026-01-16&limit=1").json()
    assert refused(client.get(address, {"until": "2026-01-15", "cursor": first["next_cursor"]}), 422, "invalid_argument")


def test_a_period_without_days_or_with_too_many_is_refused_with_what_to_do(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(*(entry(published_at=f"2026-01-{day}T10:00:00Z") for day in (13, 14, 15)))
    missing = refused(client.get("/api/events.json?date=May 2025"), 404, "not_found")
    assert "2025-05-01 to 2025-05-31" in missing["message"]
    assert "2026-01-15" in missing["hint"]
    monkeypatch.setattr("wire.queries.events.MOST_DAYS", 2)
    assert "more than 2" in refused(client.get("/api/events.json?date=January 2026"), 422, "invalid_argument")["message"]
    for strange in ("soon", "2026-01-16/2026-01-12", "2026-02-30/2026-03-01", "2026-1-1", "since yesterday"):
        assert "this week" in refused(client.get("/api/events.json", {"date": strange}), 422, "invalid_argument")["message"]
