"""Pages and REST: the same answers as the queries, readable without a script."""

import datetime as dt
import re
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from tests.contract import BRIEFLY
from tests.wire.corpora.timeline.corpora import SLUG
from tests.wire.desk import words
from wire.corpora.timeline import chart_layout, queries
from wire.corpora.timeline.load import load_directory, write_example
from wire.corpora.timeline.schemas import EdgeOut, NodeOut

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
    assert "official-science" in page(client, f"{HOME}events?period=all")
    assert "Curator’s number" in page(client, f"{HOME}motifs")
    threads = page(client, f"{HOME}threads")
    assert "This thread needs a source." in threads
    assert "Water on the second step" in page(client, f"{HOME}catalog")
    assert "SHA-256" in page(client, f"{HOME}releases")


def test_filters_of_the_form_are_those_of_the_search(client: Client) -> None:
    assert "1 report " in page(client, f"{HOME}?query={quote('second step')}&stance=mixed")
    assert "0 reports" in page(client, f"{HOME}?motif=green-lamp&evidence_grade=official")
    assert "Swap them" in page(client, f"{HOME}?date_start=2021-01-01&date_end=2020-01-01", 422)
    assert "1 event " in page(client, f"{HOME}events?layer=submission-batch")


def test_what_there_is_not_is_a_page_that_says_what_there_is(client: Client) -> None:
    assert "Corpora: harbour-clock." in page(client, "/timeline/nobody/", 404)
    assert "Valid ids run" in page(client, f"{HOME}report/hc-99", 404)


def test_the_timeline_opens_at_the_newest_period_and_links_lead_to_longer_and_shorter_ones(client: Client) -> None:
    newest = page(client, f"{HOME}events")
    assert "All years › 2022: 2 events" in newest
    assert "The archive opens" in newest
    assert "The clock is taken down" not in newest
    content = client.get(f"{HOME}events").content.decode()
    assert {"all", "2022-01", "2021"} <= set(re.findall(r'href="\?period=([^"]*)"', content))
    everything = page(client, f"{HOME}events?period=all")
    assert everything.index("The first twelve stories are filed") < everything.index("The clock is taken down")
    assert "14 January" not in everything
    assert "All years › 2020 › March › 2 March: 2 events" in page(client, f"{HOME}events?period=2020-03-02")
    assert "All years: 1 event " in page(client, f"{HOME}events?query=archive&layer=site-update")
    for wrong in ("20", "2020-13", "2020-02-30", "soon", "2020-3"):
        assert "Give 2026, 2026-03, 2026-03-14 or all." in page(client, f"{HOME}events?period={wrong}", 422)


def test_a_page_shows_no_part_frame_or_column_that_holds_nothing(client: Client, tmp_path: Path) -> None:
    assert "Nobody wrote" not in page(client, f"{HOME}threads")
    write_example(tmp_path / "outages", "incidents")
    load_directory(tmp_path / "outages")
    archive = client.get("/timeline/outages/").content.decode()
    assert "Components" in archive
    assert "/timeline/outages/catalog" not in archive
    assert "Curator" not in page(client, "/timeline/outages/motifs")
    assert "Operator" in page(client, "/timeline/outages/events")
    assert "Disputed by report-1 , claim 1" in page(client, "/timeline/outages/report/report-2")


def test_the_timeline_opens_before_events_that_are_planned() -> None:
    counts = [(dt.date(2025, 3, 1), True, 2), (dt.date(2030, 6, 1), True, 1)]
    opened = chart_layout.zoom_to_period(counts, today=dt.date(2026, 1, 1))
    assert (opened.period, opened.later) == ("2025", "2030")
    assert chart_layout.zoom_to_period(counts[1:], today=dt.date(2026, 1, 1)).period == "2030"


@given(st.lists(st.tuples(st.dates(dt.date(1990, 1, 1), dt.date(2030, 1, 1)), st.booleans(), st.integers(1, 90)), max_size=30))
def test_every_event_is_in_one_part_of_each_longer_period(counts: list[tuple[dt.date, bool, int]]) -> None:
    zoom = chart_layout.zoom_to_period(counts)
    if counts:
        assert max(day for day, _, _ in counts).isoformat().startswith(zoom.period)
    todo = [chart_layout.ALL]
    while todo:
        zoom = chart_layout.zoom_to_period(counts, todo.pop())
        within = sum(n for day, _, n in counts if not zoom.first or not zoom.last or zoom.first <= day <= zoom.last)
        assert len(zoom.period) == 10 or within == sum(number for part in zoom.parts for _, number, _ in part["lanes"])
        todo += [part["period"] for part in zoom.parts]


def test_labels_of_motifs_never_cover_each_other() -> None:
    nodes = [
        NodeOut(id=str(n), label="L" * 40, family="f", freq=n, curated_freq=None, definition="d", aliases=[], caution=None)
        for n in range(60)
    ]
    edges = [EdgeOut(a="0", b=str(n), weight=n, curated_weight=None) for n in range(1, 60)]
    picture = chart_layout.lay_out_arcs(nodes, edges)
    heights = [dot["y"] for dot in picture["dots"]]
    assert min(later - earlier for earlier, later in pairwise(heights)) >= 20
    assert max(line["across"] for line in picture["lines"]) + picture["x"] <= picture["width"]
    assert chart_layout.lay_out_arcs([], [])["dots"] == []


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
