"""What changed on a day since it was first published, at its page and as JSON."""

import datetime as dt

import pytest
from django.test import Client

from tests.contract import refused
from tests.factories import DAY, NOW, entry, feed_of, publish, published, see, story_of
from wire.ingest import corrections
from wire.models import StoryRevision
from wire.publishing.publish import publish_pending
from wire.text.choices import NEWER_RULES

pytestmark = pytest.mark.django_db
JSON = f"/api/archive/{DAY}/changes.json"
SOON, LATER = NOW + dt.timedelta(hours=3), NOW + dt.timedelta(days=9)


def test_a_day_without_changes_says_when_it_was_first_published_and_its_page_nothing(client: Client) -> None:
    published()
    found = client.get(JSON).json()
    assert found == {
        **{"wire_date": "2026-01-15", "first_published_at": "2026-01-16T12:00:00Z", "revision": 1},
        **{"late": [], "withdrawn": [], "revised": [], "total_revised": 0, "republished": []},
    }
    assert "Changed since the day was first published" not in client.get(f"/day/{DAY}").content.decode()


@pytest.mark.slow
def test_a_story_is_late_if_the_day_was_final_already(client: Client) -> None:
    publish(entry(title="Quince one"), now=NOW)
    publish(entry(title="Gherkin two, the next day"), now=SOON)
    assert client.get(JSON).json()["late"] == [], "until a day is final, stories simply arrive"
    publish(made := entry(title="Marmot three, the next week"), now=LATER)
    found = client.get(JSON).json()
    (late,) = found["late"]
    assert (late["chatbotnews_id"], late["first_seen_at"]) == (story_of(made).chatbotnews_id, "2026-01-25T12:00:00Z")
    assert found["republished"] == [{"revision": 3, "generated_at": "2026-01-25T12:00:00Z", "reason": "1 late"}]
    page = client.get(f"/day/{DAY}").content.decode()
    assert "Changed since the day was first published · 1 late" in page
    assert "Marmot three" in page.partition("Arrived late")[2].partition("</details>")[0]


def test_an_archive_that_is_loaded_years_later_has_no_late_stories(client: Client) -> None:
    publish(entry(), entry(), now=NOW + dt.timedelta(days=900))
    assert client.get(JSON).json()["late"] == []


def test_a_correction_has_its_text_before_and_after_and_its_reason(client: Client) -> None:
    story = published(title="Quinces explode", summary="All of them.")
    corrections.correct_texts(story.chatbotnews_id, headline="Quinces expand", reason="A slip.", now=SOON)
    (found,) = client.get(JSON).json()["revised"]
    assert (found["by"], found["reason"], found["revision"]) == ("editor", "A slip.", 2)
    assert found["changed"] == [{"field": "headline", "before": "Quinces explode", "after": "Quinces expand"}]
    assert found["permalink"].endswith(f"/story/{story.chatbotnews_id}#revision-2")
    page = client.get(f"/day/{DAY}").content.decode()
    assert "· 1 revised" in page
    assert "explode</del>" in page
    assert "by an editor: <bdi>A slip.</bdi>" in page


def test_a_publishers_own_revision_is_told_apart_and_one_by_newer_rules_left_out(client: Client) -> None:
    feed, made = feed_of("wired"), entry(title="Quinces explode", url="https://www.wired.com/story/quince/")
    see(feed, made)
    publish_pending(NOW)
    see(feed, entry(title="Quinces expand", url=made.url), now=SOON)
    publish_pending(SOON)
    (found,) = client.get(JSON).json()["revised"]
    assert (found["by"], found["reason"], found["original_publisher"]) == ("publisher", "", "Wired")
    assert [one["field"] for one in found["changed"]] == ["headline", "summary"]
    StoryRevision.objects.filter(revision=2).update(reason=NEWER_RULES)
    assert client.get(JSON).json()["total_revised"] == 0


def test_a_withdrawal_has_its_reason_and_no_text_of_before(client: Client) -> None:
    story = published(title="Quinces explode")
    corrections.correct_texts(story.chatbotnews_id, headline="Quinces expand", reason="A slip.", now=SOON)
    corrections.withdraw_story(story.chatbotnews_id, reason="They do not.", now=LATER)
    found = client.get(JSON).json()
    assert [(one["chatbotnews_id"], one["reason"]) for one in found["withdrawn"]] == [(story.chatbotnews_id, "They do not.")]
    assert (found["revised"], found["late"]) == ([], [])
    assert "Quinces explode" not in client.get(f"/day/{DAY}").content.decode()


def test_what_is_not_public_yet_is_not_told(client: Client) -> None:
    feed, made = feed_of("wired"), entry(title="Quinces explode", url="https://www.wired.com/story/quince/")
    see(feed, made)
    publish_pending(NOW)
    see(feed, entry(title="Quinces expand", url=made.url), now=SOON)
    assert client.get(JSON).json()["revised"] == []


def test_a_day_that_was_never_published_is_not_found(client: Client) -> None:
    published()
    assert "nearest published day" in refused(client.get("/api/archive/2026-01-01/changes.json"), 404, "not_found")["hint"]
    refused(client.get("/api/archive/yesterday/changes.json"), 422, "invalid_argument")
