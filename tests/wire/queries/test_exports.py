"""Exports: what reference managers and newsrooms take, of a story, an event, a day and lists."""

import hashlib
import json

import pytest
import rispy
from django.test import Client

from config.errors import InvalidArgument
from wire import queries
from wire.ingest import corrections
from wire.models import Story
from wire.text.vocabulary import Category

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample_wire")]
DAY = "2026-10-13"


def test_a_day_as_bibtex_ris_and_csl_has_every_story_once(client: Client) -> None:
    day = client.get(f"/api/archive/{DAY}.json").json()
    ids = [story["chatbotnews_id"] for story in day["stories"]]
    bibtex = client.get(f"/export/bib?date={DAY}")
    assert bibtex["Content-Type"].startswith("application/x-bibtex")
    assert [f"cbn-{line[18:30]}" for line in bibtex.content.decode().splitlines() if line.startswith("@misc{chatbotnews_")] == ids
    assert [entry["id"] for entry in rispy.loads(client.get(f"/export/ris?date={DAY}").content.decode())] == ids
    assert [item["id"] for item in client.get(f"/export/csl?date={DAY}").json()] == ids
    assert [item["altIds"][0]["value"] for item in client.get(f"/export/ninjs?date={DAY}").json()] == ids


def test_lists_are_exported_and_exactly_one_must_be_named(client: Client) -> None:
    assert len(client.get("/export/csl?category=launches").json()) == len(queries.get_category(Category.LAUNCHES, 100).stories)
    assert client.get("/export/csl?topic=openai").json()
    assert client.get("/export/csl?query=moon%20library").json()
    for asked, status, words in (
        ("bib", 422, "exactly one"),
        (f"bib?date={DAY}&topic=openai", 422, "exactly one"),
        ("bib?date=2026-13-01", 422, "date"),
        ("csl?topic=nope", 422, "openai"),
        (f"csl?date={DAY}&limit=2", 400, "limit"),
        (f"docx?date={DAY}", 404, "ninjs"),
        ("bib?date=1999-01-01", 404, "1999-01-01"),
    ):
        answer = client.get(f"/export/{asked}")
        assert answer.status_code == status
        error = answer.json()
        assert words in error["message"] + error["hint"], error
    with pytest.raises(InvalidArgument):
        queries.get_list("bib")


def test_a_story_and_an_event_are_ninjs_and_a_withdrawn_story_is_canceled(client: Client) -> None:
    story = Story.objects.filter(cross_source_count__gt=2)[0]
    item = client.get(f"/api/ninjs/stories/{story.chatbotnews_id}.json").json()
    assert (item["standard"]["version"], item["type"], item["pubStatus"]) == ("3.0", "text", "usable")
    event = client.get(f"/api/ninjs/events/{story.chatbotnews_id}.json").json()
    assert event["type"] == "composite"
    assert len(event["associations"]) > 2
    corrections.withdraw(story.chatbotnews_id, reason="It was made up.")
    gone = client.get(f"/api/ninjs/stories/{story.chatbotnews_id}.json").json()
    assert gone["pubStatus"] == "canceled"
    assert not {"headlines", "descriptions", "by"} & gone.keys()


def test_a_day_file_is_what_its_manifest_says(client: Client) -> None:
    manifest = client.get(f"/archive/{DAY}.manifest.json").json()
    data = client.get(f"/archive/{DAY}.ndjson?revision={manifest['revision']}").content
    assert (len(data), hashlib.sha256(data).hexdigest()) == (manifest["bytes"], manifest["sha256"])
    assert [json.loads(line) for line in data.splitlines()] == client.get(f"/api/archive/{DAY}.json").json()["stories"]
    assert f"/archive/{DAY}.ndjson" in client.get("/sitemap-pages.xml").content.decode()
    for wrong in ("/archive/2026-13-01.ndjson", "/archive/1999-01-01.ndjson", f"/archive/{DAY}.ndjson?revision=x"):
        answer = client.get(wrong)
        assert (answer.status_code, answer.json().keys()) == (404 if "1999" in wrong else 422, {"error", "message", "hint"})
