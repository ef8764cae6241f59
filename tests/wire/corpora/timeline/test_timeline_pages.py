"""Pages and REST: the same answers as the queries, readable without a script."""

import xml.etree.ElementTree as ElementTree
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from tests.contract import BRIEFLY
from tests.wire.corpora.timeline.corpora import SLUG
from tests.wire.desk import words
from wire.corpora.timeline import chart_layout, queries
from wire.corpora.timeline.schemas import TimelineEventOut

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("harbour_clock")]

HOME = f"/timeline/{SLUG}/"
API = f"/api/timeline/{SLUG}"


def page(client: Client, path: str, status: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == status, words(answer)
    return words(answer)


def test_every_page_shows_what_it_is_about(client: Client) -> None:
    assert "The harbour clock" in page(client, "/timeline/")
    archive = page(client, HOME)
    assert "6 reports" in archive
    assert "Tide marks nobody measured" in archive
    assert "undated" in archive
    assert "Several people remember water on the second step." in page(client, f"{HOME}report/hc-3")
    assert "official-science" in page(client, f"{HOME}events")
    assert "Curator’s number" in page(client, f"{HOME}motifs")
    threads = page(client, f"{HOME}threads")
    assert "Nobody wrote this frame." in threads
    assert "This thread needs a source." in threads
    assert "Water on the second step" in page(client, f"{HOME}catalog")
    assert "SHA-256" in page(client, f"{HOME}releases")


def test_filters_of_the_form_are_those_of_the_search(client: Client) -> None:
    assert "1 report " in page(client, f"{HOME}?query={quote('second step')}&stance=mixed")
    assert "0 reports" in page(client, f"{HOME}?motif=green-lamp&evidence_grade=official")
    assert "Exchange them" in page(client, f"{HOME}?date_start=2021-01-01&date_end=2020-01-01", 422)
    assert "1 event " in page(client, f"{HOME}events?layer=submission-batch")


def test_what_there_is_not_is_a_page_that_says_what_there_is(client: Client) -> None:
    assert "Corpora: harbour-clock." in page(client, "/timeline/nobody/", 404)
    assert "Valid ids run" in page(client, f"{HOME}report/hc-99", 404)


def test_the_timeline_has_official_events_above_the_line_and_all_others_below(client: Client) -> None:
    content = client.get(f"{HOME}events").content.decode()
    picture = ElementTree.fromstring(content[content.index("<svg") : content.index("</svg>") + 6])  # noqa: S314  ours
    assert picture.attrib["role"] == "img"
    axis = 150
    for group in picture.iter("g"):
        (circle,) = group.iter("circle")
        above = int(circle.attrib["cy"]) < axis
        assert above is (group.attrib["class"] == "official")
    assert sum(group.attrib["class"] == "official" for group in picture.iter("g")) == 1


def test_marks_never_cover_each_other_until_the_stack_is_full() -> None:
    events = [
        TimelineEventOut(
            id=f"e{day}", title="E", date=f"2020-01-{day:02}", layer="a", summary="S", motifs=[], claim_status="reported"
        )
        for day in range(1, 5)
    ] + [TimelineEventOut(id="z", title="Z", date="2029-01-01", layer="a", summary="S", motifs=[], claim_status="reported")]
    marks = chart_layout.lanes([(event, False) for event in events])["marks"]
    assert len({(mark["x"], mark["y"]) for mark in marks}) == len(marks)
    assert chart_layout.lanes([])["marks"] == []
    assert len(chart_layout.lanes([(events[0], False)])["marks"]) == 1
    assert chart_layout.graph([], [])["dots"] == []


def test_rest_answers_what_the_queries_answer(client: Client) -> None:
    asked: list[tuple[str, Any]] = [
        ("reports.json?query=clock&limit=2", queries.search_reports(SLUG, query="clock", limit=2)),
        ("reports.json?motifs=stopped-clock&motifs=long-tide", queries.search_reports(SLUG, motifs=["stopped-clock", "long-tide"])),
        ("reports/hc-2.json", queries.get_report(SLUG, "hc-2")),
        ("catalog.json?status=unverified", queries.mandela_catalog(SLUG, status="unverified")),
        ("motifs.json?motif=green-lamp", queries.motif_map(SLUG, motif="green-lamp")),
        ("threads.json?lens=belief", queries.story_threads(SLUG, lens="belief")),
        ("events.json?limit=2", queries.events(SLUG, limit=2)),
        ("compare.json?topic=clock+tide&frames=neutral", queries.compare_sources(SLUG, "clock tide", frames=["neutral"])),
        ("deepen.json?motif=long-tide", queries.deepen_story(SLUG, motif="long-tide")),
        ("stats.json", queries.stats(SLUG)),
        ("manifest.json", queries.agent_manifest(SLUG)),
        ("wording.json?draft=It+is+proven.", queries.check_wording(SLUG, "It is proven.")),
    ]
    for path, expected in asked:
        answer = client.get(f"{API}/{path}")
        assert answer.status_code == 200, path
        assert answer.json() == expected.model_dump(mode="json", exclude_unset=True), path
    assert client.get("/api/timeline/corpora.json").json() == queries.list_corpora().model_dump(mode="json")
    assert client.get(f"/api/timeline/{SLUG}.json").json()["release"] == 1


def test_rest_refuses_in_the_one_shape_of_errors(client: Client) -> None:
    for path, status, code in (
        (f"{API}/reports.json?motifs=clock", 422, "unknown_motif"),
        (f"{API}/reports.json?nonsense=1", 400, "unknown_parameter"),
        (f"{API}/reports/hc-99.json", 404, "unknown_report"),
        (f"{API}/stats.json?as_of=9", 404, "unknown_release"),
        (f"{API}/compare.json?topic=walrus", 404, "no_matching_topic"),
        (f"{API}/deepen.json", 422, "bad_input"),
        (f"{API}/files/nothing.json", 404, "not_found"),
        ("/api/timeline/nobody.json", 404, "unknown_corpus"),
    ):
        answer = client.get(path)
        assert (answer.status_code, answer.json()["error"]) == (status, code)
        assert answer.json()["hint"]


def test_no_answer_is_promised_for_ever_since_a_newer_version_may_compute_another(client: Client) -> None:
    for path in ("stats.json", "stats.json?as_of=1", "files/reports.json?as_of=1"):
        assert client.get(f"{API}/{path}")["Cache-Control"] == BRIEFLY


def test_directories_of_servers_name_every_corpus(client: Client) -> None:
    listed = client.get("/.well-known/mcp.json").json()["servers"]
    server = next(one for one in listed if one["name"] == f"ai.chatbotnews/timeline-{SLUG}")
    assert server["url"] == f"http://localhost:8000/mcp/timeline/{SLUG}"
    card = client.get(f"/mcp/timeline/{SLUG}/server-card").json()
    assert card["remotes"][0]["url"] == server["url"]
    assert client.get("/mcp/timeline/nobody/server-card").status_code == 404
    assert "timeline_agent_manifest" in client.get("/llms.txt").content.decode()
