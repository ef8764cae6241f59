"""Search and lists: the same as looking through every row by hand, and each row once on the way along the cursors."""

import datetime as dt
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.apps import apps
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from config.errors import InvalidArgument
from tests.wire.corpora.timeline.corpora import SLUG, Change, changed
from wire.corpora.timeline import queries
from wire.corpora.timeline.errors import UnknownMotif
from wire.corpora.timeline.load import load_directory
from wire.corpora.timeline.models import Report, Thread
from wire.corpora.timeline.search import rank_index_name
from wire.models import Postings

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("harbour_clock")]


def found(**asked: Any) -> list[str]:
    return [report.id for report in queries.search_reports(SLUG, **asked, limit=50).reports]


def walk(ask: Callable[..., Any], rows: str, **asked: Any) -> list[str]:
    """Ids of every row along next_cursor; `total` must be how many there are."""
    ids: list[str] = []
    cursor = None
    while True:
        page = ask(SLUG, cursor=cursor, **asked)
        ids += [row.id for row in getattr(page, rows)]
        cursor = page.next_cursor
        if cursor is None:
            return ids


WORDS = ["clock", "clocks", "tide", "gauge", "baker", "chime", "memory", "step", "walrus"]
ROOTS = {"clocks": "clock", "memory": "memor"}  # what every form of a word holds
FILTERS = st.fixed_dictionaries(
    {},
    optional={
        "query": st.lists(st.sampled_from(WORDS), min_size=1, max_size=2).map(" ".join),
        "motifs": st.lists(st.sampled_from(["stopped-clock", "long-tide", "green-lamp"]), max_size=2, unique=True),
        "phenomenon_types": st.lists(st.sampled_from(["mandela-effect", "timeline-shift", "personal-report"]), max_size=2),
        "source_types": st.lists(st.sampled_from(["forum-thread", "article", "video"]), max_size=2),
        "stance": st.sampled_from(["belief", "mixed", "skeptical", "official"]),
        "evidence_grade": st.sampled_from(["reported", "symbolic", "official"]),
        "date_start": st.dates(dt.date(2020, 1, 1), dt.date(2020, 6, 30)).map(str),
        "date_end": st.dates(dt.date(2020, 7, 1), dt.date(2022, 1, 1)).map(str),
    },
)


@given(FILTERS, st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_filters_find_what_looking_through_every_report_finds(asked: dict[str, Any], limit: int) -> None:
    expected = [row for row in rows() if matches(row, asked)]
    assume(expected or " " not in asked.get("query", ""))  # of several words that no report holds together, some are enough
    expected.sort(key=lambda row: row.get("date_observed") or "", reverse=True)
    assert walk(queries.search_reports, "reports", limit=limit, **asked) == [row["id"] for row in expected]
    assert queries.search_reports(SLUG, **asked).total_matches == len(expected)


def rows() -> list[dict[str, Any]]:
    return [report.row for report in Report.objects.order_by("position")]


def matches(row: dict[str, Any], asked: dict[str, Any]) -> bool:
    text, date = str([value for name, value in row.items() if name != "id"]).lower(), row.get("date_observed")
    return (
        all(ROOTS.get(word, word) in text for word in asked.get("query", "").split())
        and set(asked.get("motifs", ())) <= set(row["motifs"])
        and (not asked.get("phenomenon_types") or row["phenomenon_type"] in asked["phenomenon_types"])
        and (not asked.get("source_types") or row["source"]["source_type"] in asked["source_types"])
        and asked.get("stance", row["stance"]) == row["stance"]
        and asked.get("evidence_grade", row["evidence_grade"]) == row["evidence_grade"]
        and (not asked.get("date_start") or bool(date and date >= asked["date_start"]))
        and (not asked.get("date_end") or bool(date and date <= asked["date_end"]))
    )


@pytest.mark.parametrize("limit", [1, 2, 3, 100])
@pytest.mark.parametrize(
    ("ask", "rows", "total"),
    [
        (queries.events, "events", 6),
        (queries.story_threads, "threads", 2),
        (queries.mandela_catalog, "items", 2),
        (queries.motif_map, "nodes", 3),
    ],
)
def test_a_walk_along_the_cursors_of_a_list_sees_each_row_once(ask: Any, rows: str, total: int, limit: int) -> None:
    seen = walk(ask, rows, limit=limit)
    assert len(seen) == len(set(seen)) == total
    assert ask(SLUG, limit=100).total == total


@pytest.mark.parametrize("limit", [1, 2])
def test_a_walk_along_the_map_sees_each_link_once(limit: int) -> None:
    links, cursor = [], None
    while True:
        page = queries.motif_map(SLUG, limit=limit, cursor=cursor)
        links += [(edge.a, edge.b) for edge in page.edges]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert sorted(links) == sorted((edge.a, edge.b) for edge in queries.motif_map(SLUG).edges)


def test_a_walk_along_claims_sees_each_once() -> None:
    texts, cursor = [], None
    while True:
        page = queries.compare_sources(SLUG, "clock tide", limit=2, cursor=cursor)
        texts += [claim.text for claim in page.claims]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(texts) == len(set(texts)) == page.total_claims == 7


def test_words_are_found_in_any_form_and_in_every_text() -> None:
    assert found(query="frightened") == ["hc-2"]  # of the long summary
    assert found(query="Gauges remembering") == found(query="gauge remembered") == ["hc-6", "hc-3"]
    assert found(query="stopped clocks") == ["hc-4", "hc-3", "hc-2", "hc-1"]  # the name of a motif


def test_a_phrase_stands_side_by_side() -> None:
    assert found(query='"second step"') == ["hc-3"]
    assert found(query='"step second"') == []
    assert found(query='"ordinary tide" gauge') == ["hc-6"]


def test_words_that_do_not_stand_together_are_looked_for_apart_and_the_answer_says_so() -> None:
    page = queries.search_reports(SLUG, query="baker gauge walrus")
    assert {"hc-2", "hc-3", "hc-6"} <= {report.id for report in page.reports}
    assert (page.matched in {"most words", "some words"}, page.not_found) == (True, ["walrus"])
    page = queries.search_reports(SLUG, query="clock")
    assert (page.matched, page.not_found, page.period) == (None, [], None)


def test_a_period_in_words_counts_as_dates_unless_nothing_of_it_is_there() -> None:
    for words, start, end in (
        ("clock in 2020", "2020-01-01", "2020-12-31"),
        ("clock between 2019 and 2020", "2019-01-01", "2020-12-31"),
        ("clock 2019–2020", "2019-01-01", "2020-12-31"),
        ("clock after 2019", "2020-01-01", None),
        ("clock before 2021", None, "2020-12-31"),
        ("clock since March 2020", "2020-03-01", None),
    ):
        page = queries.search_reports(SLUG, query=words)
        assert page.period is not None
        assert (page.period.date_start, page.period.date_end, page.period.applied) == (start, end, True)
        assert [report.id for report in page.reports] == found(query="clock", date_start=start, date_end=end)
    page = queries.search_reports(SLUG, query="clock in 1999")
    assert page.period is not None
    assert (page.period.applied, [report.id for report in page.reports]) == (False, found(query="clock"))
    assert queries.search_reports(SLUG, query="the 2020 clock").period is None


def test_names_aliases_and_ids_find_what_they_stand_for() -> None:
    assert found(query="silent clock") == found(query="stopped-clock") == found(motifs=["stopped-clock"])
    assert found(query="hc-5") == ["hc-5"]
    assert "hc-1" in found(query="clock-repair")
    assert queries.events(SLUG, query="REPAIR").events[0].id == "clock-repair"
    assert [event.id for event in queries.events(SLUG, query="tide-wave").events] == ["tide-wave"]


def test_an_undated_report_comes_last_and_passes_no_date_filter() -> None:
    assert found()[-1] == "hc-5"
    assert "hc-5" not in found(date_start="0001-01-01")
    assert "hc-5" not in found(date_end="9999-12-31")


def test_where_nothing_matches_the_answer_says_what_to_do() -> None:
    page = queries.search_reports(SLUG, query="clock")
    assert page.matches_over_time == {"2020-03": 2, "2020-05": 1, "2020-06": 1}
    page = queries.search_reports(SLUG, query="walrus")
    assert page.matches_over_time == {}
    assert (page.total_matches, page.reports) == (0, [])
    assert page.hint is not None
    assert queries.search_reports(SLUG).hint is None


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"date_start": "tomorrow"}, "YYYY-MM-DD"),
        ({"date_end": "2020-02-30"}, "YYYY-MM-DD"),
        ({"date_start": "2020-1-1"}, "YYYY-MM-DD"),
        ({"date_start": "2021-01-01", "date_end": "2020-01-01"}, "Swap them"),
        ({"phenomenon_types": ["weather"]}, "Accepted: mandela-effect"),
        ({"source_types": ["forum-thread", "rumour"]}, "Accepted: official-source"),
        ({"query": "?!"}, "Give words"),
        ({"query": " ".join(f"word{number}" for number in range(40))}, "Leave out"),
        ({"cursor": "banana"}, "next_cursor"),
        ({"cursor": "-3"}, "next_cursor"),
        ({"cursor": "99"}, "next_cursor"),
        ({"cursor": ""}, "next_cursor"),
    ],
)
def test_what_cannot_be_asked_says_what_is_accepted(asked: dict[str, Any], named: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        queries.search_reports(SLUG, **asked)
    assert named in refused.value.hint


def test_a_cursor_of_another_list_or_other_filters_is_refused() -> None:
    reports = queries.search_reports(SLUG, limit=1).next_cursor
    for ask in (
        lambda: queries.search_reports(SLUG, query="clock", limit=1, cursor=reports),
        lambda: queries.events(SLUG, cursor=reports),
        lambda: queries.events(SLUG, layer="site-update", cursor=queries.events(SLUG, limit=1).next_cursor),
        lambda: queries.search_reports(SLUG, cursor=reports, as_of=2),
    ):
        with pytest.raises(InvalidArgument, match="does not belong to this list"):
            ask()


@given(st.text(max_size=40))
@settings(max_examples=20, deadline=None)
def test_no_text_as_a_cursor_is_a_fault_of_ours(cursor: str) -> None:
    for ask in (queries.search_reports, queries.events, queries.motif_map, queries.story_threads, queries.mandela_catalog):
        try:
            ask(SLUG, cursor=cursor)
        except InvalidArgument:
            continue


def test_an_offset_as_the_original_gives_it_is_still_understood() -> None:
    assert [one.id for one in queries.search_reports(SLUG, limit=2, cursor="2").reports] == found()[2:4]


def test_an_unknown_motif_names_those_that_come_close() -> None:
    with pytest.raises(UnknownMotif) as refused:
        queries.search_reports(SLUG, motifs=["clock"])
    assert refused.value.as_dict() == {
        "error": "unknown_motif",
        "message": "No motif named 'clock'.",
        "hint": "Try 'stopped-clock' — or call timeline_motif_map first.",
    }
    with pytest.raises(UnknownMotif, match="No motif named 'x'") as refused:
        queries.motif_map(SLUG, motif="x")
    assert refused.value.hint == "Try 'stopped-clock' or 'long-tide' or 'green-lamp'."


def test_lists_are_filtered_by_the_reports_that_they_name() -> None:
    assert [one.id for one in queries.story_threads(SLUG, evidence_grade="speculative").threads] == ["lamp-and-memory"]
    assert [one.id for one in queries.mandela_catalog(SLUG, stance="skeptical").items] == ["second-step"]
    assert [one.id for one in queries.events(SLUG, stance="mixed").events] == ["tide-wave"]
    assert [one.id for one in queries.events(SLUG, layer="submission-batch").events] == ["first-batch"]
    assert [one.id for one in queries.events(SLUG, date_start="2021-01-01", query="lamp").events] == ["lamp-question"]
    assert [one.id for one in queries.mandela_catalog(SLUG, motif="green-lamp", status="needs-review").items] == ["green-lamp"]


def test_a_word_inside_a_text_without_spaces_finds_its_row_and_the_migration_indexes_it_again(tmp_path: Path) -> None:
    report = "東京都の時計が止まった"
    changes: dict[str, Change] = {
        "reports": lambda content: content["reports"][0].update(title=report),
        "story_threads": lambda content: content["threads"][0].update(title="멈춘시계의 비밀"),
    }
    corpus = load_directory(changed(tmp_path, **changes)).corpus
    assert found(query="時計") == found(query='"東京都の"') == found(query='"京都の時計が"') == found(query="計")
    assert [queries.get_report(SLUG, one).title for one in found(query="時計")] == [report]
    assert queries.search_reports(SLUG, query="東京の").matched == "most words"
    assert queries.story_threads(SLUG, query="시계").total == queries.story_threads(SLUG, query="계").total == 1

    rows = (
        Postings.objects.filter(index=rank_index_name(corpus.pk)).order_by("token", "block").values_list("token", "block", "found")
    )
    threads = Thread.objects.order_by("pk").values_list("words", flat=True)
    before = list(rows), list(threads)
    Postings.objects.filter(index=rank_index_name(corpus.pk)).exclude(token="").delete()
    Thread.objects.filter(words__contains="x").update(words=" xold ")
    importlib.import_module("wire.corpora.timeline.migrations.0004_character_pairs").index_again(apps, None)
    assert (list(rows), list(threads)) == before


def test_a_long_question_without_spaces_is_not_refused() -> None:
    assert found(query="京都知事選挙時計台公園鉄道駅前通商店街案内所入口東京大阪名古屋札幌仙台広島福岡") == []
