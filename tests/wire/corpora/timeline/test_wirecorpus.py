"""The wire as a corpus: what is published, and no judgement beyond it."""

from typing import Any

import pytest

from tests.factories import entry, publish, published
from wire.corpora.timeline import queries, releases, store, verify
from wire.corpora.timeline.corpus_config import CorpusFile
from wire.corpora.timeline.errors import ReportRemoved
from wire.corpora.timeline.models import Corpus, Report, Thread
from wire.corpora.timeline.validation import expect_valid
from wire.corpora.timeline.wire_sync import CORPUS, synchronise_corpus
from wire.ingest import corrections
from wire.models import Event, Snapshot, Story

pytestmark = pytest.mark.django_db


@pytest.mark.slow
def test_each_live_story_is_a_report_and_again_changes_nothing(sample_wire: None) -> None:  # noqa: ARG001
    loaded = synchronise_corpus()
    assert loaded is not None
    assert loaded.release is not None
    live = set(Story.objects.live().values_list("chatbotnews_id", flat=True))
    assert set(Report.objects.values_list("key", flat=True)) == live
    assert queries.search_reports("wire").total_matches == len(live)
    assert list(verify.list_corpus_faults(loaded.corpus)) == []
    again = synchronise_corpus()
    assert again is not None
    assert (again.release, again.counts) == (None, {})


def test_what_it_holds_keeps_the_rules_of_every_corpus(sample_wire: None) -> None:  # noqa: ARG001
    loaded = synchronise_corpus()
    assert loaded is not None
    expect_valid(releases.read_draft(loaded.corpus), CorpusFile.model_validate(CORPUS))


@pytest.mark.slow
def test_only_a_maker_about_itself_is_official() -> None:
    own = published(publisher="OpenAI Blog", title="OpenAI opens a lab", url="https://openai.com/index/lab")
    other = published(publisher="TechCrunch", title="OpenAI opens another lab", url="https://techcrunch.com/lab")
    analysis = published(
        publisher="The Verge", title="Why AI agents matter: an analysis", url="https://theverge.com/why", summary="Opinion."
    )
    synchronise_corpus()
    grades = {
        story.chatbotnews_id: queries.get_report("wire", story.chatbotnews_id).evidence_grade for story in (own, other, analysis)
    }
    assert grades[own.chatbotnews_id] == "official"
    assert grades[other.chatbotnews_id] == "reported"
    stances = {report.id: report.stance for report in queries.search_reports("wire").reports}
    assert stances == {own.chatbotnews_id: "official", other.chatbotnews_id: None, analysis.chatbotnews_id: None}
    expected = "interpretive" if analysis.category == "analysis" else "reported"
    assert grades[analysis.chatbotnews_id] == expected


@pytest.mark.slow
def test_a_withdrawn_story_leaves_and_its_id_says_so() -> None:
    story = published(title="A robot sings", url="https://techcrunch.com/robot")
    published(title="A robot dances", url="https://techcrunch.com/dances")
    synchronise_corpus()
    corrections.withdraw_story(story.chatbotnews_id, reason="It was invented.")
    loaded = synchronise_corpus()
    assert loaded is not None
    assert loaded.counts["reports"] == {"removed": 1}
    with pytest.raises(ReportRemoved, match="left this corpus with release 2"):
        queries.get_report("wire", story.chatbotnews_id)
    assert queries.get_report("wire", story.chatbotnews_id, as_of=1).title == "A robot sings"


def test_what_several_publications_report_is_an_event() -> None:
    title = "Quince Robotics unveils the Gherkin robot for kitchens"
    publish(
        entry(publisher="TechCrunch", title=title, url="https://techcrunch.com/gherkin"),
        entry(publisher="The Verge", title=title, url="https://theverge.com/gherkin"),
        entry(publisher="Wired", title=title, url="https://wired.com/gherkin"),
    )
    synchronise_corpus()
    (event,) = queries.events("wire").events
    assert (event.layer, event.claim_status) == ("press-coverage", "reported")
    assert event.attribution is not None
    assert {"TechCrunch", "The Verge", "Wired"} <= set(event.attribution.removeprefix("Reported by ").rstrip(".").split(", "))
    assert queries.story_threads("wire").total == 0
    (report, *_) = queries.search_reports("wire").reports
    found = queries.get_report("wire", report.id)
    assert found.anchors is not None
    assert found.anchors[0]["anchor_id"] == event.id
    assert len(found.related_reports) == 2


@pytest.mark.slow
def test_storylines_are_threads_and_compare_needs_none() -> None:
    stories = [
        published(title="A robot sings in the opera of Oslo", url="https://techcrunch.com/robot"),
        published(publisher="Wired", title="Vienna's kitchen robot learns to waltz", url="https://wired.com/dances"),
    ]
    events = Event.objects.filter(stories__in=stories)
    first = str(Story.objects.get(pk=stories[0].pk).event_id)
    events.update(storyline=first)
    synchronise_corpus()
    (thread,) = queries.story_threads("wire").threads
    assert thread.id == f"storyline-{first}"
    directions = queries.deepen_story("wire", thread_id=thread.id)
    assert not any("frame" in sentence for sentence in directions.needs_verification)
    assert {report.id for report in thread.reports} == {story.chatbotnews_id for story in stories}
    assert thread.frames.model_dump() == {"belief": None, "neutral": None, "skeptical": None}
    found = queries.compare_sources("wire", "robot")
    assert found.matched_thread is None
    assert set(found.groups["source"]) == {"TechCrunch", "Wired"}
    assert "belief" not in found.model_dump(exclude_unset=True)
    Event.objects.update(storyline=None)
    corrections.correct_texts(stories[0].chatbotnews_id, reason="A slip.", headline="A robot sings again in Oslo")
    synchronise_corpus()
    assert queries.story_threads("wire").total == 0


@pytest.mark.slow
def test_a_topic_whose_words_lead_to_one_source_alone_takes_others_in_behind_it() -> None:
    waltz = published(title="Quince Robotics teaches the waltz", url="https://techcrunch.com/waltz", summary="Dancers queue.")
    published(
        publisher="Wired",
        title="Why a quince tree grows beside the opera of Oslo",
        url="https://wired.com/oslo",
        published_at="2025-10-01T12:00:00Z",  # too long before to be of one storyline
        summary="Gardeners of the city explain their oldest bet on AI.",
    )
    synchronise_corpus()
    found = queries.compare_sources("wire", "Quince waltz")
    assert (found.matched, set(found.groups["source"])) == ("most words", {"TechCrunch", "Wired"})
    assert found.claims[0].report_id == waltz.chatbotnews_id


@pytest.mark.slow
def test_nothing_of_the_wire_is_disputed_until_an_editor_says_so_and_then_it_stays() -> None:
    title = "OpenAI says that its robot sings"
    own = published(publisher="OpenAI Blog", title=title, url="https://openai.com/index/robot")
    other = published(
        publisher="TechCrunch", title="Reporters doubt that the OpenAI robot sings", url="https://techcrunch.com/robot"
    )
    synchronise_corpus()
    assert all(not claim.disputed_by for claim in queries.compare_sources("wire", "OpenAI robot").claims)
    prompt = queries.deepen_story("wire", motif="openai").expansion_prompts[0]
    assert prompt == "Write a 500-word background on OpenAI that names the source of each statement."
    corpus = Corpus.objects.get(slug="wire")
    row = Report.objects.draft(corpus.pk).get(key=own.chatbotnews_id).row
    row["claims"][0]["disputes"] = [{"report_id": other.chatbotnews_id, "source_url": "https://techcrunch.com/robot"}]
    store.update_draft_rows(corpus, "reports", [(None, row)], set())
    releases.release_draft(corpus, "A dispute.")
    published(title="The OpenAI robot sleeps", url="https://techcrunch.com/sleeps")
    synchronise_corpus()
    claims = queries.compare_sources("wire", "OpenAI robot").claims
    disputed = {claim.report_id: claim.disputed_by for claim in claims if claim.disputed_by}
    assert disputed == {own.chatbotnews_id: [other.chatbotnews_id]}
    corrections.withdraw_story(other.chatbotnews_id, reason="It was invented.")
    synchronise_corpus()
    assert all(not claim.disputed_by for claim in queries.compare_sources("wire", "OpenAI robot").claims)
    prompt = queries.deepen_story("wire", motif="openai").expansion_prompts[0]
    assert prompt == "Write a 500-word background on OpenAI that names the source of each statement."


@pytest.mark.slow
def test_a_thread_of_an_editor_stays_and_unreleased_changes_are_not_released_with_the_news() -> None:
    published(title="A robot sings", url="https://techcrunch.com/robot")
    synchronise_corpus()
    corpus = Corpus.objects.get(slug="wire")
    thread: dict[str, Any] = {
        **{"id": "robots", "title": "Robots", "public_summary": "Robots in the news.", "belief_frame": None},
        **{"neutral_frame": "What robots do.", "motifs": [], "anchor_ids": [], "report_ids": [], "suggested_questions": []},
    }
    store.update_draft_rows(corpus, "threads", [(None, thread)], set())
    published(title="A robot dances", url="https://techcrunch.com/dances")
    assert synchronise_corpus() is None
    assert queries.story_threads("wire").total == 0
    releases.release_draft(corpus, "Robots.")
    loaded = synchronise_corpus()
    assert loaded is not None
    assert loaded.release is not None
    assert Thread.objects.draft(corpus.pk).filter(key="robots").exists()
    assert queries.story_threads("wire", thread_id="robots").threads[0].frames.neutral == "What robots do."
    left = queries.deepen_story("wire", thread_id="robots").needs_verification
    assert left == ["Thread robots has no belief frame.", "Thread robots has no skeptical frame."]


def test_a_wire_without_news_has_no_corpus_yet() -> None:
    assert not Snapshot.objects.exists()
    loaded = synchronise_corpus()
    assert loaded is not None
    assert loaded.release is None
    assert queries.list_corpora().corpora == []
