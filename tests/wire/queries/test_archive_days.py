"""The archive: published days, their list, and revisions whose hashed fields never change."""

import json
from pathlib import Path

import pytest
from django.conf import settings
from django.test import Client

from tests.contract import BRIEFLY, refused
from tests.factories import NOW, entry, publish, story_of
from wire import queries
from wire.ingest import corrections

pytestmark = pytest.mark.django_db
ADDRESS = "/api/archive/2026-01-15.json"


def publish_days(*days: int) -> None:
    publish(*(entry(published_at=f"2026-01-{day:02}T10:00:00Z") for day in days))


def test_a_day_is_answered_as_it_was_published_and_is_never_stale(client: Client) -> None:
    made = entry()
    publish(made)
    day = client.get(ADDRESS).json()
    assert (day["wire_date"], day["is_stale"]) == ("2026-01-15", False)
    assert [story["headline"] for story in day["stories"]] == [made.title]
    assert day["meta"]["endpoint"] == "http://localhost:8000/api/archive/2026-01-15.json"


def test_a_revision_never_changes_whatever_is_published_later(client: Client) -> None:
    made, taken_back = entry(title="Quince ships"), entry()
    publish(made, taken_back)
    first = client.get(f"{ADDRESS}?revision=1")
    publish(entry(url=made.url, title="Quince ships late"), entry())
    second = client.get(f"{ADDRESS}?revision=2")
    corrections.correct_texts(story_of(made).chatbotnews_id, reason="The date was wrong.", headline="Quince shipped", now=NOW)
    corrections.withdraw_story(story_of(taken_back).chatbotnews_id, reason="Retracted by its publisher.", now=NOW)
    assert client.get(f"{ADDRESS}?revision=1").content == first.content
    assert client.get(f"{ADDRESS}?revision=2").content == second.content
    assert client.get(f"{ADDRESS}?revision=1")["ETag"] == first["ETag"]
    assert {s["headline"] for s in first.json()["stories"]} == {"Quince ships", taken_back.title}
    assert [s["headline"] for s in client.get(ADDRESS).json()["stories"] if s["status"] == "corrected"] == ["Quince shipped"]


def test_the_address_of_a_named_revision_is_the_canonical_one(client: Client) -> None:
    publish(entry())
    canonical = client.get(ADDRESS).json()["provenance"]["fpl_anchor"]["canonical_uri"]
    assert client.get(canonical.removeprefix("http://localhost:8000")).json()["meta"]["endpoint"] == canonical


def test_a_named_revision_promises_no_bytes_but_what_its_hashes_cover(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    publish(made := entry())
    publish(entry(url=made.url, title="Quince ships late"))
    first = client.get(f"{ADDRESS}?revision=1")
    assert (first["Cache-Control"], client.get(ADDRESS)["Cache-Control"]) == (BRIEFLY, BRIEFLY)
    monkeypatch.setattr("citations.format.formats.render_inline", lambda story: f"{story.publisher} said so")
    again = client.get(f"{ADDRESS}?revision=1", headers={"If-None-Match": first["ETag"]})
    assert (again.status_code, again.content == first.content) == (200, False)
    told = json.loads(first.content), json.loads(again.content)
    hashes = [[(day["provenance"]["wire_sha256"], story["story_sha256"]) for story in day["stories"]] for day in told]
    assert hashes[0] == hashes[1]
    docs = [(Path(settings.BASE_DIR) / "docs" / name).read_text(encoding="utf-8") for name in ("rest.md", "provenance.md")]
    assert "may be rendered differently by a newer version" in " ".join(docs[0].split())
    assert "may be rendered differently by a newer version" in " ".join(docs[1].split())


def test_a_day_without_news_names_the_nearest_day(client: Client) -> None:
    publish_days(10, 14)
    error = refused(client.get("/api/archive/2026-01-12.json"), 404, "not_found")
    assert error["hint"].startswith("The nearest published day is 2026-01-10. ")
    error = refused(client.get("/api/archive/2026-01-13.json"), 404, "not_found")
    assert error["hint"].startswith("The nearest published day is 2026-01-14. ")
    error = refused(client.get("/api/archive/1999-01-12.json"), 404, "not_found")
    assert error["hint"].startswith("The nearest published day is 2026-01-10. ")


def test_an_unknown_revision_says_which_there_are_and_what_is_no_number_from_one_is_refused(client: Client) -> None:
    publish(entry())
    publish(entry())
    assert "1 to 2" in refused(client.get(f"{ADDRESS}?revision=3"), 404, "not_found")["hint"]
    for revision in ("0", "-1", "x", "1.5", "", "99999999999999999999", "null"):
        error = refused(client.get(ADDRESS, {"revision": revision}), 422, "invalid_argument")
        assert "revision" in error["message"], revision


def test_a_day_that_is_no_date_is_refused(client: Client) -> None:
    days = ("2026-02-30", "2026-1-5", "20260115", "2026-W03-4", "today", "1768435200", "２０２６-01-15", "\0", "0000-01-01")
    for day in days:
        assert "day" in refused(client.get(f"/api/archive/{day}.json"), 422, "invalid_argument")["message"], day
    for part in ("editor-take", "provenance"):
        refused(client.get(f"/api/{part}/today.json"), 422, "invalid_argument")


def test_the_list_has_every_day_once_newest_first_in_its_latest_revision(client: Client) -> None:
    publish_days(13, 14, 15)
    publish(entry(published_at="2026-01-15T11:00:00Z"))
    listed = client.get("/api/archive.json").json()
    assert list(listed) == ["dates", "next_cursor", "total", "total_is_exact"]
    assert [(d["wire_date"], d["revision"], d["stories"]) for d in listed["dates"]] == [
        ("2026-01-15", 2, 2),
        ("2026-01-14", 1, 1),
        ("2026-01-13", 1, 1),
    ]
    assert (listed["next_cursor"], listed["total"]) == (None, 3)
    for day in listed["dates"]:
        answer = client.get(day["url"].removeprefix("http://localhost:8000")).json()
        assert answer["provenance"]["wire_sha256"] == day["wire_sha256"]


@pytest.mark.slow
def test_pages_of_days_hold_each_day_once_though_days_are_added_meanwhile() -> None:
    assert (queries.list_published_days().dates, queries.list_published_days().total) == ([], 0)
    publish_days(8, 9, 10, 11, 12)
    first = queries.list_published_days(limit=2)
    publish_days(13)
    second = queries.list_published_days(2, first.next_cursor)
    third = queries.list_published_days(2, second.next_cursor)
    found = [day.wire_date.day for page in (first, second, third) for day in page.dates]
    assert found == [12, 11, 10, 9, 8]
    assert (first.total, third.total, third.next_cursor) == (5, 6, None)
    assert queries.list_published_days(limit=6).next_cursor is None  # a full last page
