"""Feeds that bring all kinds of news: what of it is about AI, and what becomes of the rest."""

from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from sources.models import Feed, FeedHealth
from tests.factories import entry, feed_of, next_lexicon, second_feed, see, served_feed
from tests.feedserver import FeedServer
from tests.wire.archives import rss, rss_item
from wire.ingest import classifier_terms
from wire.ingest.draft_comparison import Outcome
from wire.ingest.normalise import Rejected
from wire.ingest.run import run_ingest
from wire.models import LexiconTerm, Story

pytestmark = pytest.mark.django_db

ABOUT_AI = [
    *("OpenAI releases GPT-5.2 to all ChatGPT users", "Anthropic raises $13 billion at a $183 billion valuation"),
    *("Nvidia's Blackwell chips sell out for a year", "NVIDIA DGX Spark lands on desks", "Perplexity offers to buy Chrome"),
    *("Nvidia becomes the first $5 trillion company", "Meta delays its next Llama model", "Sam Altman wants to build a phone"),
    *("Microsoft brings Copilot to Xbox", "Google's Gemini gets a memory of past chats", "Mistral AI opens an office in Munich"),
    *("xAI's Grok goes down for hours", "DeepSeek trained its model for less, researchers say", "The hidden cost of vibe coding"),
    *("Waymo robotaxis reach New York", "EU lawmakers agree on the AI Act", "A.I. is coming for the back office"),
    *(
        "Artificial intelligence finds new antibiotics",
        "How a chatbot talked him into it",
        "Humanoid robots fold laundry at a BMW plant",
    ),
    *("Deepfakes of a senator spread before the vote", "Salesforce bets on agentic customer service"),
    *("Judge sides with authors in Claude training case", "CoreWeave signs another data center lease"),
    *("Apple's revamped Siri slips to spring", "Self-driving trucks start hauling freight in Texas"),
    *("Large language models still cannot count, study finds", "Police pause facial recognition after a wrongful arrest"),
    *("Midjourney sued by Disney and Universal", "Cursor maker Anysphere valued at $29 billion"),
]
OF_OTHER_THINGS = [
    *("GeForce NOW adds 20 games in January", "Nvidia GeForce driver fixes black screens", "Nvidia Shield TV gets one more update"),
    *("The best GPUs for gaming in 2026", "Gemini season: what your horoscope says", "Gemini, the crypto exchange, goes public"),
    *("Gemini telescope spots a comet", "Apple's earnings beat expectations", "Air France strike grounds hundreds of flights"),
    *("Air India flight AI-171: what investigators found", "Port Said reopens, the minister said", "Taipei eats ai-yu jelly again"),
    *("Ai Weiwei opens a show in Vienna", "Claude Monet's water lilies sell for $65 million", "Fed holds rates steady"),
    *("Jean-Claude Juncker on the future of Europe", "St. Claude Avenue reopens in New Orleans", "Thai chef wins a third star"),
    *("Mistral winds fan wildfires in Provence", "A llama escaped from a farm in Ohio", "Da Vinci Codex goes on display"),
    *("Robert Altman films return to the cinema", "The best robot vacuums of 2026", "The algorithm that picks your kidney donor"),
    *("Autonomous region of Kurdistan votes", "Perplexity over the new tax rules", "Alexa Chung designs a raincoat"),
    *("Kia's EV4 reviewed: a sedan for the rest of us", "Elon Musk's pay package goes to a vote", "Dutch court fines Apple"),
]


@pytest.fixture
def mixed() -> Feed:
    """A feed that brings all kinds of news."""
    return second_feed("techcrunch", ai_only=False)


def accepts(feed: Feed, title: str, summary: str = "") -> bool:
    (outcome,) = see(feed, entry(title=title, summary=summary))
    assert outcome == Outcome.ACCEPTED or (isinstance(outcome, Rejected) and outcome.code == "not_about_ai"), outcome
    return outcome == Outcome.ACCEPTED


@pytest.mark.slow
def test_what_is_about_ai_is_taken_in_and_what_is_of_other_things_refused(mixed: Feed) -> None:
    assert [headline for headline in ABOUT_AI if not accepts(mixed, headline)] == []
    assert Story.objects.count() == len(ABOUT_AI)
    assert [headline for headline in OF_OTHER_THINGS if accepts(mixed, headline)] == []
    assert Story.objects.count() == len(ABOUT_AI)
    (outcome,) = see(mixed, entry(title="Fed holds rates steady", summary=""))
    assert isinstance(outcome, Rejected)
    assert "Fed holds rates steady" in outcome.message
    assert mixed.url in outcome.message
    feed = feed_of("techcrunch")
    assert feed.ai_only
    assert accepts(feed, "Fed holds rates steady")


def test_the_summary_counts_where_the_headline_does_not_say(mixed: Feed) -> None:
    about_ai = {
        "The company makes accelerators for artificial intelligence.": True,
        "It will power ChatGPT.": True,
        "It is named after a robot.": False,
        "Nvidia led the round.": False,
        "": False,
    }
    for number, (summary, taken) in enumerate(about_ai.items()):
        assert accepts(mixed, f"Chip start-up Quince raises ${90 + number} million", summary) is taken, summary


@pytest.mark.slow
def test_an_editors_term_takes_in_what_was_refused_and_keeps_out_what_was_taken(mixed: Feed) -> None:
    assert not accepts(mixed, "Quince Robotics opens a plant")
    LexiconTerm.objects.create(kind="relevance", target="ai", term="Quince Robotics", weight=1)
    assert accepts(mixed, "Quince Robotics opens a plant")
    LexiconTerm.objects.create(kind="relevance", target="ai", term="Claude Giroux", weight=-3)
    assert not accepts(mixed, "Claude Giroux scores twice")
    assert accepts(mixed, "Claude learns to skate")


@pytest.mark.slow
def test_a_weight_that_an_editor_set_to_nothing_switches_a_shipped_term_off(mixed: Feed, tmp_path: Path) -> None:
    LexiconTerm.objects.filter(kind="relevance", term="chatbot*").update(weight=0, origin="editor")
    classifier_terms.sync_shipped_terms(next_lexicon(tmp_path, **{"chatbot*": 3.0}))
    assert not accepts(mixed, "How a chatbot talked him into it")


@pytest.mark.slow
def test_another_edition_of_the_lexicon_takes_the_place_of_the_shipped_terms(tmp_path: Path) -> None:
    def told() -> dict[str, float]:
        return dict(LexiconTerm.objects.filter(kind="relevance").values_list("term", "weight"))

    LexiconTerm.objects.create(kind="relevance", target="ai", term="pickle", weight=-2)
    classifier_terms.sync_shipped_terms(next_lexicon(tmp_path, quince=1.0, medlar=2.0, pickle=9.0))
    assert told() == {"quince": 1.0, "medlar": 2.0, "pickle": -2.0}
    classifier_terms.sync_shipped_terms(next_lexicon(tmp_path, quince=3.0))
    assert told() == {"quince": 3.0, "pickle": -2.0}


def test_the_lexicon_is_not_compared_term_by_term_at_each_start(django_assert_num_queries: Any) -> None:
    classifier_terms.sync_shipped_terms()
    with django_assert_num_queries(3):  # in a savepoint
        classifier_terms.sync_shipped_terms()


@pytest.mark.slow
def test_an_update_of_the_lexicon_that_was_killed_is_made_by_the_next(tmp_path: Path) -> None:
    def stop_at_the_insert(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        if many:
            raise KeyboardInterrupt
        return execute(sql, params, many, context)

    before, file = LexiconTerm.objects.count(), next_lexicon(tmp_path, quince=3.0)
    with connection.execute_wrapper(stop_at_the_insert), pytest.raises(KeyboardInterrupt):
        classifier_terms.sync_shipped_terms(file)
    assert LexiconTerm.objects.count() == before
    classifier_terms.sync_shipped_terms(file)
    assert [*LexiconTerm.objects.filter(kind="relevance").values_list("term", flat=True)] == ["quince"]


@pytest.fixture
def served(server: FeedServer) -> Feed:
    """A mixed feed as a run of ingest fetches it: one item about AI, two of other things, one that cannot be used."""
    titles = ["OpenAI ships", "Fed holds rates steady", "Dutch court fines Apple"]
    items = [rss_item(n, title=title) for n, title in enumerate(titles)]
    server.route("/feed", body=rss(*items, rss_item(9, title="ChatGPT ships", link="javascript:alert(1)")).encode())
    Feed.objects.filter(publication__slug="techcrunch").update(ai_only=False)
    return served_feed(server, "techcrunch")


def test_refusals_are_counted_by_reason_in_the_report_the_feeds_health_and_over_rest(served: Feed, client: Client) -> None:
    (report,) = run_ingest([served]).reports
    counted = {"accepted": 1, "rejected:not_about_ai": 2, "rejected:bad_url": 1}
    assert (report.result, report.counts) == ("taken", counted)
    assert FeedHealth.objects.get(feed=served).outcomes == counted
    rows = client.get("/api/health/feeds.json").json()["feeds"]
    (row,) = [row for row in rows if row["publication"] == "TechCrunch"]
    assert (row["outcomes"], row["items"]) == (counted, 4)
