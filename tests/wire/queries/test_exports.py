"""Exports: what reference managers and newsrooms take, of a story, an event, a day and lists."""

import hashlib
import json
import re

import pytest
import rispy
from django.test import Client

from config.errors import InvalidArgument
from tests.mcpserver.asgi import request
from wire import queries
from wire.ingest import corrections
from wire.models import Story
from wire.queries import exports
from wire.text.choices import Category

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
        ("bib", 422, "Exactly one"),
        (f"bib?date={DAY}&topic=openai", 422, "Exactly one"),
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
        queries.get_export_page("bib")


@pytest.mark.parametrize("asked", ["category=launches", "topic=openai", "query=openai"])
@pytest.mark.parametrize("form", ["bib", "ris", "csl", "ninjs"])
def test_a_list_is_exported_whole_page_by_page(client: Client, monkeypatch: pytest.MonkeyPatch, form: str, asked: str) -> None:
    whole = client.get(f"/export/{form}?{asked}")
    ids = read_ids(form, whole.content)
    assert "Link" not in whole
    assert len(set(ids)) == len(ids) == int(whole["X-Total-Count"]) > 7
    monkeypatch.setattr(exports, "PAGE", 3)
    found, address = [], f"/export/{form}?{asked}"
    while address:
        page = client.get(address)
        found += read_ids(form, page.content)
        assert page["X-Total-Count"] == whole["X-Total-Count"]
        address = page.get("Link", "").partition(">")[0].removeprefix("<http://localhost:8000")
        assert not address or page["Link"].endswith('>; rel="next"')
    assert found == ids


def read_ids(form: str, body: bytes) -> list[str]:
    match form:
        case "bib":
            return [f"cbn-{key}" for key in re.findall(r"^@misc\{chatbotnews_(.*),$", body.decode(), re.M)]
        case "ris":
            return [entry["id"] for entry in rispy.loads(body.decode())]
        case "csl":
            return [item["id"] for item in json.loads(body)]
    return [item["altIds"][0]["value"] for item in json.loads(body)]


def test_every_ris_record_ends_as_the_format_says_and_names_a_publisher(client: Client) -> None:
    text = client.get("/export/ris?category=launches").content.decode()
    records = text.count("TY  - ELEC\n")
    assert records == len(re.findall(r"^ER  - \n", text, re.M)) == len(re.findall(r"^PB  - \S", text, re.M)) > 5


def test_a_bibtex_export_carries_the_day(client: Client) -> None:
    text = client.get(f"/export/bib?date={DAY}").content.decode()
    assert text.count("@misc{") == text.count(f"  date = {{{DAY}}},\n") == text.count("  year = {2026},\n") > 5


@pytest.mark.parametrize("asked", ["category=launches&cursor=strange", f"date={DAY}&cursor=x", "query=moon&cursor=7"])
def test_a_cursor_of_another_list_is_refused(client: Client, asked: str) -> None:
    answer = client.get(f"/export/csl?{asked}")
    assert (answer.status_code, "cursor" in answer.json()["message"]) == (422, True)


@pytest.mark.parametrize("name", ["page", "limit", "offset", "utm_source"])
@pytest.mark.parametrize("path", ["/export/csl?category=launches", f"/archive/{DAY}.ndjson?revision=1"])
def test_an_unknown_parameter_is_refused_before_the_cache_drops_it(path: str, name: str) -> None:
    for _ in range(2):
        request("GET", path)  # cached from now on, if it is there
        answer = request("GET", f"{path}&{name}=2")
        assert (answer.status, name in answer.json()["message"]) == (400, True)


def test_a_story_and_an_event_are_ninjs_and_a_withdrawn_story_is_canceled(client: Client) -> None:
    story = Story.objects.filter(cross_source_count__gt=2)[0]
    item = client.get(f"/api/ninjs/stories/{story.chatbotnews_id}.json").json()
    assert (item["standard"]["version"], item["type"], item["pubStatus"]) == ("3.0", "text", "usable")
    event = client.get(f"/api/ninjs/events/{story.chatbotnews_id}.json").json()
    assert event["type"] == "composite"
    assert len(event["associations"]) > 2
    corrections.withdraw_story(story.chatbotnews_id, reason="It was made up.")
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
