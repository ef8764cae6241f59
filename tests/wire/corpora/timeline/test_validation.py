"""What a corpus must fulfil: each broken rule is refused with file and line, and nothing is stored."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.wire.corpora.timeline.corpora import FIXTURE, changed, harbour, row
from wire.corpora.timeline.corpus_files import RefusedCorpus, read_directory
from wire.corpora.timeline.load import check_directory, load_directory
from wire.corpora.timeline.models import Corpus, Report


def report(key: str, **fields: Any) -> Any:
    return lambda content: row(content, "reports", key).update(fields)


def event(key: str, **fields: Any) -> Any:
    return lambda content: row(content, "events", key).update(fields)


def claim(key: str, **fields: Any) -> Any:
    return lambda content: row(content, "reports", key)["claims"][0].update(fields)


def source(key: str, **fields: Any) -> Any:
    return lambda content: row(content, "reports", key)["source"].update(fields)


BROKEN: list[tuple[str, Any, str, str]] = [
    ("reports", report("hc-1", mood="good"), "mood is an unknown field", '"mood"'),
    ("reports", claim("hc-1", mood="good"), "claims.0.mood is an unknown field", '"mood"'),
    ("reports", lambda content: row(content, "reports", "hc-2").pop("title"), "title is missing", "{"),
    ("reports", report("hc-2", id="hc-1"), "appears here more than once", '"hc-1"'),
    ("reports", report("hc-2", motifs=["stopped-clock", "gone"]), "names the unknown motif gone", '"motifs"'),
    ("reports", report("hc-2", motifs=["long-tide", "long-tide"]), "names the motif long-tide twice", '"motifs"'),
    ("reports", report("hc-2", related_report_ids=["hc-99"]), "names the unknown report hc-99", '"related_report_ids"'),
    ("reports", source("hc-3", source_id="nowhere"), "unknown source family nowhere", '"source_id": "nowhere"'),
    ("reports", report("hc-2", phenomenon_type="weather"), "phenomenon_type is 'weather'; accepted: ", '"weather"'),
    ("reports", report("hc-2", evidence_grade="sure"), "evidence_grade: Input should be", '"sure"'),
    ("reports", report("hc-2", stance="loud"), "stance: Input should be", '"loud"'),
    ("reports", report("hc-2", date_observed="2020-02-30"), "not an ISO 8601 date", '"2020-02-30"'),
    ("reports", report("hc-2", date_observed="2020"), "not an ISO 8601 date", '"2020"'),
    ("reports", report("hc-2", title="  "), "title: is empty", '"title": "  "'),
    ("reports", report("hc-2", title="a\u202eb"), "control characters", "\u202e"),
    ("reports", report("hc-2", claims=[]), "at least 1", '"claims": []'),
    ("reports", report("hc-2", safety_flags=["loud"]), "safety_flags is 'loud'", '"safety_flags"'),
    ("reports", claim("hc-1", status="reported"), "official-fact needs the status verified-source", '"claim_type"'),
    ("reports", lambda content: row(content, "reports", "hc-1")["claims"][0].pop("source_url"), "and a source_url", '"claim_type"'),
    ("reports", report("hc-5", safety_flags=["copyright-risk"]), "needs the safety flag do-not-state-as-fact", '"claim_type"'),
    ("reports", lambda content: row(content, "reports", "hc-5").update(safety_flags=[], claims=content["reports"][1]["claims"]),
     "is graded speculative, so it needs a safety flag", '"speculative"'),
    ("reports", source("hc-4", author_policy="public"), "author_policy must be 'omitted'", '"author_policy"'),
    ("reports", source("hc-4", author_display="Somebody"), "names an author, but author_policy is omitted", '"Somebody"'),
    ("reports", source("hc-2", source_url="javascript:alert(1)"), "not a web address", '"javascript'),
    ("reports", lambda content: content["meta"].update(counts={"reports": 7}), "meta.counts says 7, but there are 6", ""),
    ("reports", lambda content: row(content, "reports", "hc-1")["anchors"][0].update(date="2020-03-03"),
     "anchors.date is 2020-03-03, but the event clock-repair has 2020-03-02", '"2020-03-03"'),
    ("reports", lambda content: row(content, "reports", "hc-1")["anchors"][0].update(layer="community-wave"),
     "anchors.layer is community-wave, but the event clock-repair has official-science", '"community-wave"'),
    ("reports", claim("hc-3", disputes=[{"report_id": "hc-99", "source_url": "https://example.org/"}]),
     "names the unknown report hc-99", '"hc-99"'),
    ("reports", claim("hc-3", disputes=[{"report_id": "hc-6", "claim": 9, "source_url": "https://example.org/"}]),
     "names claim 9 of hc-6, which has", '"claim": 9'),
    ("reports", claim("hc-3", disputes=[{"report_id": "hc-3", "source_url": "https://example.org/"}]),
     "disputes one of its own claims", ""),
    ("reports", claim("hc-3", disputes=[{"report_id": "hc-6"}]), "claims.0.disputes.0.source_url is missing", ""),
    ("reports", claim("hc-1", source_url="https://example.com/"), "example.com is not an official domain of this corpus", '"https://example.com/"'),
    ("events", event("clock-repair", source_url="https://example.org.evil.net/"), "evil.net is not an official domain", '"https://example.org.evil'),
    ("events", event("clock-repair", claim_status="symbolic"), "contradict each other", '"claim_status": "symbolic"'),
    ("events", event("tide-wave", claim_status="official"), "contradict each other", '"claim_status": "official"'),
    ("events", event("clock-repair", source_url="http://example.org/"), "needs a source_url that begins with", '"source_url"'),
    ("events", event("clock-repair", layer="rumour"), "layer is 'rumour'; accepted: ", '"rumour"'),
    ("motifs", lambda content: content["edges"].append(["stopped-clock", "gone", 1]), "names the unknown motif gone", "["),
    ("motifs", lambda content: content["edges"].append(["long-tide", "stopped-clock", 1]), "appears here more than once", ""),
    ("motifs", lambda content: content["edges"].append(["long-tide", "long-tide", 1]), "links a motif with itself", ""),
    ("motifs", lambda content: content["edges"].append(["long-tide", "green-lamp"]), "an edge is [motif, motif, weight]", ""),
    ("motifs", lambda content: content["motifs"][0].update(freq=True), "freq", '"freq": true'),
    ("mandela_items", lambda content: content["items"][0].update(status="lost"), "status is 'lost'", '"lost"'),
    ("story_threads", lambda content: content["threads"][0].update(anchor_ids=["gone"]), "unknown event gone", '"anchor_ids"'),
    ("story_threads", lambda content: content["threads"][0].pop("neutral_frame"), "neutral_frame is missing", ""),
    ("corpus", lambda content: content.update(mood="good"), "mood is an unknown field", ""),
    ("corpus", lambda content: content.update(slug="corpora"), "is an address of the API", ""),
]  # fmt: skip


@pytest.mark.parametrize(("file", "change", "message", "on"), BROKEN, ids=[f"{at}-{one[2][:40]}" for at, one in enumerate(BROKEN)])
def test_a_broken_rule_is_told_with_file_and_line(tmp_path: Path, file: str, change: Any, message: str, on: str) -> None:
    directory = changed(tmp_path, **{file: change})
    with pytest.raises(RefusedCorpus) as refused:
        check_directory(directory)
    problem = next(one for one in refused.value.problems if message in one.message)
    assert problem.file == f"{file.replace('_', '-')}.json"
    if on:
        assert on in (directory / problem.file).read_text().splitlines()[problem.line - 1]


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("", "is not JSON", 1),
        ('{"reports": [\n{"id": 1},\n]}', "is not JSON", 3),
        ('{"reports": []\n, "extra": 1}', "'extra' is unknown here", 2),
        ('{"meta": {}}', "reports is missing", 1),
        ('{"reports": []} x', "is not JSON", 1),
        ('{"reports": [{"id": "a",\n"id": "b"}]}', "appears twice in one object", 1),
        ('{"reports": [], "meta": {"n": NaN}}', "NaN is not JSON", 1),
        ('{"reports": [' + "[" * 100_000, "is not JSON", 1),
        ("[]", "is not JSON", 1),
    ],
)
def test_a_damaged_file_is_told_with_its_line(tmp_path: Path, text: str, message: str, line: int) -> None:
    directory = changed(tmp_path)
    (directory / "reports.json").write_text(text)
    with pytest.raises(RefusedCorpus) as refused:
        read_directory(directory)
    (problem,) = refused.value.problems
    assert message in problem.message
    assert (problem.file, problem.line) == ("reports.json", line)


def test_bytes_that_are_no_text_are_refused(tmp_path: Path) -> None:
    directory = changed(tmp_path)
    (directory / "events.json").write_bytes(b'{"events": "\xff"}')
    (directory / "reports.json").unlink()
    with pytest.raises(RefusedCorpus) as refused:
        read_directory(directory)
    assert {problem.message for problem in refused.value.problems} == {"is not UTF-8 at byte 12", "is missing"}


def test_a_row_with_a_wrong_field_is_checked_for_everything_else_too(tmp_path: Path) -> None:
    wrong = report("hc-2", stance="loud", motifs=["gone"], claims=[{"text": "x", "claim_type": "official-fact"}], source=7)
    with pytest.raises(RefusedCorpus) as refused:
        check_directory(changed(tmp_path, reports=wrong))
    told = " ".join(problem.message for problem in refused.value.problems)
    for part in (
        "stance: Input",
        "unknown motif gone",
        "claims.0.status is missing",
        "needs the status verified-source",
        "source: Input",
    ):
        assert part in told


@pytest.mark.django_db
def test_all_problems_are_told_at_once_and_nothing_is_stored(tmp_path: Path) -> None:
    directory = changed(tmp_path, reports=report("hc-2", stance="loud"), events=event("tide-wave", date="soon"))
    with pytest.raises(RefusedCorpus) as refused:
        load_directory(directory)
    assert {problem.file for problem in refused.value.problems} == {"reports.json", "events.json"}
    assert not Corpus.objects.exists()
    assert not Report.objects.exists()


@pytest.mark.django_db
def test_a_refused_load_leaves_the_last_release_as_it_was(tmp_path: Path) -> None:
    corpus = harbour()
    with pytest.raises(RefusedCorpus):
        load_directory(changed(tmp_path, reports=report("hc-2", motifs=["gone"])))
    corpus.refresh_from_db()
    assert corpus.release == 1
    assert Report.objects.count() == 6


def test_the_small_corpus_shows_every_grade_stance_and_layer() -> None:
    written, corpus = check_directory(FIXTURE)
    assert {one["evidence_grade"] for one in written.rows["reports"]} == {
        *("official", "firsthand", "reported", "interpretive", "symbolic", "speculative"),
    }
    assert {one["layer"] for one in written.rows["events"]} == {layer.id for layer in corpus.vocabularies.layers}
    assert json.loads((FIXTURE / "corpus.json").read_text())["slug"] == corpus.slug


def test_a_list_of_the_same_name_in_meta_hides_no_problem(tmp_path: Path) -> None:
    def name_twice(content: Any) -> None:
        content["meta"] = {"reports": ["one"]}
        row(content, "reports", "hc-3")["stance"] = "loud"

    directory = changed(tmp_path, reports=name_twice)
    with pytest.raises(RefusedCorpus) as refused:
        check_directory(directory)
    assert [problem.message.split(":")[0] for problem in refused.value.problems] == ["report hc-3"]
