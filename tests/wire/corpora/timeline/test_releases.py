"""Releases: hashed, chained and signed; the same for ever; dumped and loaded byte for byte."""

from pathlib import Path
from typing import Any

import orjson
import pytest

from tests.wire.corpora.timeline.corpora import FIXTURE, SLUG, changed, harbour, row
from wire.corpora.timeline import dump, omitted_names, queries, releases, store, verify
from wire.corpora.timeline.corpus_files import RefusedCorpus, read_directory
from wire.corpora.timeline.errors import ReportRemoved, UnknownRelease
from wire.corpora.timeline.load import Unreleased, load_directory
from wire.corpora.timeline.models import Anchor, Corpus, CorpusRelease, Report
from wire.models import WireState
from wire.text.provenance_manifest import hash_json

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("harbour_clock")]


def files(directory: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in directory.iterdir()}


def dumped(directory: Path) -> dict[str, bytes]:
    corpus = Corpus.objects.get(slug=SLUG)
    dump.dump_release(corpus, corpus.releases.get(number=corpus.release), directory)
    return files(directory)


def retitled(content: Any) -> None:
    row(content, "reports", "hc-3")["title"] = "Tide marks that somebody measured"


def without_a_report(content: Any) -> None:
    content["reports"] = [one for one in content["reports"] if one["id"] != "hc-2"]
    content["meta"].pop("counts")
    for one in content["reports"]:
        if "hc-2" in one.get("related_report_ids", ()):
            one["related_report_ids"].remove("hc-2")


def without_it_in_threads(content: Any) -> None:
    content["threads"][0]["report_ids"].remove("hc-2")


def test_loading_the_same_again_changes_nothing() -> None:
    corpus = harbour()
    version = WireState.objects.get().version
    loaded = load_directory(FIXTURE)
    assert (loaded.counts, loaded.release) == ({}, None)
    assert Corpus.objects.get().release == corpus.release == 1
    assert WireState.objects.get().version == version


def test_a_dump_loads_into_an_empty_database_as_the_same_release(tmp_path: Path) -> None:
    harbour()
    load_directory(changed(tmp_path, reports=retitled), note="A new title.")
    before = dumped(tmp_path / "one")
    Corpus.objects.all().delete()
    loaded = load_directory(tmp_path / "one")
    assert loaded.release is not None
    assert loaded.release.number == 2
    assert dumped(tmp_path / "two") == before
    assert list(verify.list_corpus_faults(loaded.corpus)) == []


def test_what_was_dumped_holds_what_was_written(tmp_path: Path) -> None:
    harbour()
    before, after = read_directory(FIXTURE), (dumped(tmp_path / "dump"), read_directory(tmp_path / "dump"))[1]
    assert (after.rows, after.meta, after.corpus) == (before.rows, before.meta, before.corpus)


def test_an_edit_makes_a_release_that_is_chained_to_the_one_before(tmp_path: Path) -> None:
    first = harbour().releases.get()
    loaded = load_directory(changed(tmp_path, reports=retitled), note="A new title.")
    second = loaded.release
    assert second is not None
    assert (second.number, second.note, second.previous_sha256) == (2, "A new title.", first.sha256)
    assert {table: dict(counted) for table, counted in loaded.counts.items()} == {"reports": {"changed": 1}}
    assert list(verify.list_corpus_faults(loaded.corpus)) == []


def test_a_release_answers_the_same_whatever_comes_later(tmp_path: Path) -> None:
    harbour()
    questions: list[Any] = [
        lambda: queries.search_reports(SLUG, query="clock", as_of=1),
        lambda: queries.get_report(SLUG, "hc-2", as_of=1),
        lambda: queries.mandela_catalog(SLUG, as_of=1),
        lambda: queries.motif_map(SLUG, as_of=1),
        lambda: queries.motif_map(SLUG, stance="belief", as_of=1),
        lambda: queries.story_threads(SLUG, as_of=1),
        lambda: queries.events(SLUG, as_of=1),
        lambda: queries.compare_sources(SLUG, "clock tide", as_of=1),
        lambda: queries.deepen_story(SLUG, motif="long-tide", as_of=1),
        lambda: queries.stats(SLUG, as_of=1),
        lambda: queries.agent_manifest(SLUG, as_of=1),
        lambda: queries.check_wording(SLUG, "The clock caused the tide.", as_of=1),
    ]
    before = [ask().model_dump_json() for ask in questions]
    load_directory(changed(tmp_path, reports=without_a_report, story_threads=without_it_in_threads), note="One left.")
    load_directory(changed(tmp_path, reports=retitled))
    assert Corpus.objects.get().release == 3
    assert [ask().model_dump_json() for ask in questions] == before
    assert queries.search_reports(SLUG).total_matches == 5


def test_a_report_that_left_says_when_and_where_it_still_is(tmp_path: Path) -> None:
    harbour()
    load_directory(changed(tmp_path, reports=without_a_report, story_threads=without_it_in_threads), note="One left.")
    with pytest.raises(ReportRemoved, match="left this corpus with release 2") as left:
        queries.get_report(SLUG, "hc-2")
    assert left.value.hint == "One left. as_of=1 still returns it."
    assert queries.get_report(SLUG, "hc-2", as_of=1).title == "The morning without a chime"


def test_a_release_that_there_is_not_is_refused() -> None:
    harbour()
    for number in (0, 2, -1, 2**40):
        with pytest.raises(UnknownRelease, match=f"no release {number}"):
            queries.stats(SLUG, as_of=number)


@pytest.mark.slow
@pytest.mark.parametrize("broken", ["row", "hash", "link", "signature", "counts", "gone"])
def test_verifying_names_the_release_that_was_changed(tmp_path: Path, broken: str) -> None:
    corpus = harbour()
    load_directory(changed(tmp_path, reports=retitled))
    second = CorpusRelease.objects.filter(number=2)
    if broken == "row":
        body = Report.objects.get(key="hc-1").body.replace("why", "how")
        Report.objects.filter(key="hc-1").update(body=body)
        assert list(verify.list_corpus_faults(corpus)) == ["report hc-1 (release 1 on): its text does not match its hash."]
        return
    if broken == "hash":
        second.update(manifest="{}")
    if broken == "link":
        second.update(previous_sha256="0" * 64)
    if broken == "signature":
        second.update(signature=CorpusRelease.objects.get(number=1).signature)
    if broken == "counts":
        second.update(counts="{}")
    if broken == "gone":
        Report.objects.filter(key="hc-6").delete()
    found = list(verify.list_corpus_faults(corpus))
    assert found
    assert any(fault.startswith("Release 2") for fault in found)


def test_files_that_were_changed_after_the_dump_are_found(tmp_path: Path) -> None:
    harbour()
    dumped(tmp_path / "dump")
    assert list(verify.list_file_faults(read_directory(tmp_path / "dump"))) == []
    for name, file in (("reports are not", "reports.json"), ("corpus.json is not", "corpus.json")):
        whole = (tmp_path / "dump" / file).read_text()
        (tmp_path / "dump" / file).write_text(whole.replace("clock", "watch"))
        assert any(name in fault for fault in verify.list_file_faults(read_directory(tmp_path / "dump")))
        (tmp_path / "dump" / file).write_text(whole)
    key = "A" * 43 + "="
    assert any("signature" in fault for fault in verify.list_file_faults(read_directory(tmp_path / "dump"), key))


def test_a_dump_that_was_changed_is_not_restored(tmp_path: Path) -> None:
    harbour()
    dumped(tmp_path / "dump")
    Corpus.objects.all().delete()
    file = tmp_path / "dump" / "reports.json"
    file.write_text(file.read_text().replace("baker", "miller"))
    with pytest.raises(RefusedCorpus) as refused:
        load_directory(tmp_path / "dump")
    assert "reports.json: reports are not what was released." in str(refused.value.problems)
    assert not Corpus.objects.exists()


def test_a_release_that_fails_half_way_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    corpus = harbour()

    def fail(*_args: object) -> None:
        raise RuntimeError("killed")

    monkeypatch.setattr(releases, "sign_hash", fail)
    with pytest.raises(RuntimeError):
        load_directory(changed(tmp_path, reports=retitled))
    monkeypatch.undo()
    corpus.refresh_from_db()
    assert (corpus.release, store.count_changes(corpus), Report.objects.count()) == (1, {}, 6)
    assert list(verify.list_corpus_faults(corpus)) == []


def test_changes_of_the_desk_are_never_loaded_over(tmp_path: Path) -> None:
    corpus = harbour()
    edited = Report.objects.get(key="hc-3").row | {"title": "Of the desk"}
    store.update_draft_rows(corpus, "reports", [(None, edited)], set())
    with pytest.raises(Unreleased, match="unreleased changes"):
        load_directory(changed(tmp_path, reports=retitled))
    loaded = load_directory(changed(tmp_path), discard=True)
    assert loaded.release is not None
    assert queries.get_report(SLUG, "hc-3").title == "Tide marks that somebody measured"


def test_what_hangs_on_a_row_follows_it(tmp_path: Path) -> None:
    harbour()
    load_directory(changed(tmp_path, reports=lambda content: row(content, "reports", "hc-1").update(title="Of the clock")))
    assert Anchor.objects.filter(report__key="hc-1").count() == 2  # of the row as it was, and as it is
    assert Anchor.objects.filter(report__key="hc-1", report__until=None).count() == 1


def test_a_left_out_name_is_refused_wherever_it_stands(tmp_path: Path) -> None:
    known = [omitted_names.hash_name("Mira Quellmann").model_dump(), omitted_names.hash_name("Zzyzx").model_dump()]

    def name(content: Any) -> None:
        row(content, "reports", "hc-4")["summary"] = "As MIRA  Quellmann taught at the quay."

    directory = changed(tmp_path, corpus=lambda content: content.update(left_out_names=known), reports=name)
    with pytest.raises(RefusedCorpus) as refused:
        load_directory(directory)
    (problem,) = refused.value.problems
    assert str(problem).startswith("reports.json:")
    assert "holds a name that this corpus leaves out" in str(problem)
    assert "mira" not in (directory / "corpus.json").read_text().lower()


def test_a_literal_hash_stays_as_it_is() -> None:
    """Whoever kept a hash must be able to compute it again: of rows, and of what a release signs."""
    assert hash_json({"b": [1, "ü\n", None, True], "a": 0.5}) == (
        "f5169fae06d5402b9926d42515404643438bb6f756c25d90b8760c1fe330d193"
    )
    corpus = harbour()
    manifest = orjson.loads(corpus.releases.get().manifest)
    assert manifest["tables"]["reports"]["rows"] == 6
    assert corpus.releases.get().sha256 == "4c9988bfe4356dd48d2d3675c415baebbe55b2173c3c19437292d250bb13d9bd"
