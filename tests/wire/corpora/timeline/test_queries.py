"""What is answered beside lists: the map, comparisons, directions, statistics, the manifest and the check of wording."""

import re
from pathlib import Path
from typing import Any

import pytest

from config.errors import InvalidArgument
from tests.wire.corpora.timeline.corpora import FIXTURE, SLUG, changed
from wire.corpora.timeline import omitted_names, queries
from wire.corpora.timeline.corpus_config import KINDS
from wire.corpora.timeline.errors import BadInput, NoMatchingTopic, UnknownCorpus, UnknownReport, UnknownThread
from wire.corpora.timeline.load import load_directory
from wire.corpora.timeline.models import Report
from wire.corpora.timeline.queries import motifs as motif_queries
from wire.corpora.timeline.queries.phrase_lint import MAX_SENTENCES
from wire.corpora.timeline.queries.scope import get_scope
from wire.corpora.timeline.search import Filters

PHRASES = KINDS["folklore"]["phrases"]
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("harbour_clock")]


def test_frequencies_and_links_are_those_of_the_reports() -> None:
    found = queries.motif_map(SLUG)
    bodies = [report.row["motifs"] for report in Report.objects.all()]
    assert {node.id: node.freq for node in found.nodes} == {
        node.id: sum(node.id in motifs for motifs in bodies) for node in found.nodes
    }
    assert {(edge.a, edge.b): edge.weight for edge in found.edges} == {
        (edge.a, edge.b): sum({edge.a, edge.b} <= set(motifs) for motifs in bodies) for edge in found.edges
    }
    assert [(edge.a, edge.b, edge.weight, edge.curated_weight) for edge in found.edges] == [
        ("stopped-clock", "long-tide", 1, 4),
        ("long-tide", "green-lamp", 1, 0.5),
    ]
    assert [node.curated_freq for node in found.nodes] == [9, None, None]
    assert queries.stats(SLUG).motif_frequency == {node.id: node.freq for node in found.nodes}


def test_the_index_counts_what_was_counted_when_the_release_was_made() -> None:
    scope = get_scope(SLUG)
    frequency, pairs = motif_queries.count_motifs_in_index(scope, Filters())
    assert frequency == scope.counts["motif_counts"]
    assert pairs == motif_queries._read_pair_counts(scope)


def test_filters_choose_the_reports_that_the_map_counts() -> None:
    found = queries.motif_map(SLUG, stance="mixed")
    assert {node.id: node.freq for node in found.nodes} == {"stopped-clock": 1, "long-tide": 1, "green-lamp": 0}
    assert [node.id for node in queries.motif_map(SLUG, motif="green-lamp").nodes] == ["long-tide", "green-lamp"]
    assert [node.id for node in queries.motif_map(SLUG, family="light").nodes] == ["green-lamp"]
    with pytest.raises(InvalidArgument, match="family: 'sound'"):
        queries.motif_map(SLUG, family="sound")


def test_a_comparison_gives_frames_as_they_were_written_and_claims_with_their_evidence() -> None:
    found = queries.compare_sources(SLUG, "What has the clock to do with the tide?")
    assert (found.matched_thread, found.unmatched_words) == ("clock-and-tide", [])
    assert found.skeptical == "A planned repair, an ordinary tide, and memories that met in a forum."
    assert [fact.model_dump() for fact in found.shared_facts] == [
        {"fact": "The clock is taken down for repair (March 2020)", "source_url": "https://example.org/harbour/repair"}
    ]
    (disputed,) = found.disputed_claims
    assert (disputed.report_id, disputed.disputed_by) == ("hc-3", ["hc-6"])
    assert disputed.disputes == [{"report_id": "hc-6", "claim": 1, "source_url": "https://example.org/harbour/gauge"}]
    official = next(claim for claim in found.claims if claim.report_id == "hc-1")
    assert (official.status, official.disputed_by) == ("verified-source", [])


def test_a_frame_that_nobody_wrote_is_null_and_one_that_was_not_asked_for_is_left_out() -> None:
    found = queries.compare_sources(SLUG, "lamp memory", frames=["skeptical", "belief"])
    told = found.model_dump(exclude_unset=True)
    assert told["skeptical"] is None
    assert "neutral" not in told
    assert told["disputed_or_unsourced"] == [PHRASES["unsourced_thread"]]
    (thread,) = queries.story_threads(SLUG, thread_id="lamp-and-memory", lens="skeptical").threads
    assert (thread.frames.skeptical, thread.active_frame) == (None, None)


@pytest.mark.parametrize("topic", ["silence of the lambs movie", "clock of a distant galaxy cluster survey", "walrus", "the story"])
def test_a_topic_that_is_mostly_about_something_else_has_no_thread(topic: str) -> None:
    with pytest.raises(NoMatchingTopic) as refused:
        queries.compare_sources(SLUG, topic)
    assert refused.value.hint == "Try one of: The clock and the tide; The lamp in memory."


def test_directions_hold_no_name_that_the_corpus_lacks() -> None:
    written = " ".join(file.read_text() for file in FIXTURE.glob("*.json")) + str(PHRASES)
    known = set(re.findall(r"[A-Za-z]+", written)) | {"Claim", "Report", "Thread", "Two", "names", "filed"}
    subjects: list[dict[str, Any]] = [
        *({"report_id": f"hc-{number}"} for number in range(1, 7)),
        *({"motif": motif} for motif in ("stopped-clock", "long-tide", "green-lamp")),
        *({"thread_id": thread} for thread in ("clock-and-tide", "lamp-and-memory")),
    ]
    for subject in subjects:
        told = queries.deepen_story(SLUG, **subject).model_dump(exclude={"corpus", "release"})
        text = str([value for value in told.values() if value])
        strange = {word for word in re.findall(r"\b[A-Z][A-Za-z]+", text) if word not in known}
        assert not strange, subject
        assert "http" not in text.replace("https://example.org", "")


def test_directions_say_what_is_left_to_verify_and_how_it_may_be_shown() -> None:
    found = queries.deepen_story(SLUG, report_id="hc-3")
    assert "Claim of hc-3, filed as disputed: Several people remember water on the second step." in found.needs_verification
    assert "Report hc-3 names no source address." in found.needs_verification
    assert found.verification_checklist[-1] == PHRASES["flagged"]
    assert "Stopped clock: a clock face without hands" in found.visualization_ideas
    assert found.related_motifs == ["green-lamp"]


def test_exactly_one_subject_is_deepened() -> None:
    several: list[dict[str, Any]] = [{}, {"motif": "long-tide", "report_id": "hc-1"}]
    for asked in several:
        with pytest.raises(BadInput, match="exactly one"):
            queries.deepen_story(SLUG, **asked)


def test_statistics_count_months_languages_and_how_claims_stand() -> None:
    found = queries.stats(SLUG)
    assert found.reports_by_month == {"2020-03": 2, "2020-05": 1, "2020-06": 1, "unknown": 1, "2021-02": 1}
    assert found.reports_by_language == {"en": 5, "de": 1}
    assert found.claims_by_status == {
        **{"verified-source": 2, "reported": 1, "disputed": 1, "needs-source": 1, "symbolic-only": 1, "not-evidence": 1},
    }
    assert found.phenomenon_by_evidence_grade["mandela-effect"] == {"reported": 1, "interpretive": 1}
    assert found.reports_with_source_url == 2
    assert found.needs_source.model_dump() == {
        "events": ["lamp-question"],
        "threads": ["lamp-and-memory"],
        "reports": ["hc-3", "hc-5"],
    }


def test_the_first_calls_of_the_manifest_work() -> None:
    found = queries.agent_manifest(SLUG)
    assert (
        found.language_rules[0]
        == "Say: reported · interpreted · community-linked · symbolically framed · the harbour office states"
    )
    assert found.recommended_first_calls[2:] == [
        'timeline_search_reports { "query": "stopped clock" }',
        'timeline_compare_sources { "topic": "The clock and the tide" }',
    ]
    assert queries.search_reports(SLUG, query="stopped clock").total_matches
    assert queries.compare_sources(SLUG, "The clock and the tide").matched_thread


DRAFTS: list[tuple[str, list[tuple[str, str]]]] = [
    ("Community members report a long tide; the gauge shows an ordinary one.", []),
    ("It is proven that the tide rose.", [("avoid", "proven")]),
    ("It is not proven that the tide rose.", []),
    ("The clocks caused the flood.", [("avoid", "The clocks caused")]),
    ("The still clock reveals the held breath of the town.", [("symbolic-as-fact", "reveals")]),
    ("A symbolic reading holds that the still clock reveals a held breath of the town.", []),
    ("The repair of the clock led to the long tide stories.", [("official-cause", "led to")]),
    ("The repair of the clock never led to the long tide stories.", []),
    ("", []),
    ("The still clock is a held breath of the town.", [("symbolic-as-fact", "The still clock is a held breath of the town.")]),
    ("The office wound the clock in June.", []),
]


@pytest.mark.parametrize(("draft", "expected"), DRAFTS)
def test_a_draft_is_checked_against_the_rules(draft: str, expected: list[tuple[str, str]]) -> None:
    found = queries.check_wording(SLUG, draft)
    assert [(one.rule, one.phrase) for one in found.findings] == expected
    assert found.ok is (expected == [])
    assert all(draft[one.start : one.end] == one.phrase and one.instead for one in found.findings)


def test_a_left_out_name_is_found_in_a_draft_without_being_written_anywhere(tmp_path: Path) -> None:
    known = [omitted_names.hash_name("Mira Quellmann").model_dump()]

    def left_out(content: Any) -> None:
        content.update(left_out_names=known)

    load_directory(changed(tmp_path, corpus=left_out))
    found = queries.check_wording(SLUG, "The teacher, mira-quellmann, says so. Mira says more.")
    (finding,) = found.findings
    assert (finding.rule, finding.phrase) == ("left-out-name", "mira-quellmann")
    for written in ("Quellmann, Mira", "M. Quellmann", "Quellmann M", "mira q."):
        assert [one.rule for one in queries.check_wording(SLUG, f"The teacher {written} says so.").findings] == ["left-out-name"]
    assert PHRASES["left_out_names"] in found.language_rules


def test_what_there_is_not_says_how_to_find_what_there_is() -> None:
    with pytest.raises(UnknownCorpus) as corpus:
        queries.stats("nobody")
    assert corpus.value.hint == f"Corpora: {SLUG}."
    with pytest.raises(UnknownReport, match="No report with id 'hc-99'") as report:
        queries.get_report(SLUG, "hc-99")
    assert report.value.hint == "Valid ids run hc-1…hc-6. Use timeline_search_reports to find one."
    with pytest.raises(UnknownThread, match="No thread named 'x'") as thread:
        queries.story_threads(SLUG, thread_id="x")
    assert thread.value.hint == "Valid ids: clock-and-tide, lamp-and-memory."
    with pytest.raises(UnknownReport, match="No report 'x'"):
        queries.deepen_story(SLUG, report_id="x")
    for slug in ("", "a\x00b", "ä", "x" * 500):
        with pytest.raises(UnknownCorpus):
            queries.get_corpus(slug)


def test_a_report_comes_as_it_was_written() -> None:
    for report in Report.objects.all():
        told = queries.get_report(SLUG, report.key).model_dump(mode="json", exclude_unset=True)
        assert {name: value for name, value in told.items() if name in report.row} == report.row


def test_a_draft_of_nothing_but_causes_is_checked_in_part_and_says_where_the_rest_begins() -> None:
    sentence = "The clock repair on the harbour tower caused the long tide. "
    draft = (sentence * 400)[:20_000]
    found = queries.check_wording(SLUG, draft)
    assert not found.ok
    assert found.unread_from is not None
    assert draft[found.unread_from :].lstrip().startswith("The clock repair")
    assert found.unread_from == len(sentence) * MAX_SENTENCES - 1
    rest = queries.check_wording(SLUG, draft[found.unread_from :])
    assert [one.rule for one in rest.findings] == [one.rule for one in found.findings]
    assert queries.check_wording(SLUG, sentence * MAX_SENTENCES).unread_from is None


def test_a_release_is_prepared_for_the_check_of_wording_once(django_assert_max_num_queries: Any) -> None:
    draft = " ".join(f"Number {number} proves that the long tide caused the green lamp." for number in range(40))
    queries.check_wording(SLUG, draft)
    with django_assert_max_num_queries(6):  # the corpus, its release, what it leaves out, and the words of all sentences
        queries.check_wording(SLUG, draft)
