"""Citations held against the record: clean ones are verified wherever they stand, each kind of forgery is found."""

import random
from typing import Any

import orjson
import pytest
from django.db import connection

from citations.format.formats import Citable, CitationFormat, cite_story
from tests.examples import FULL
from tests.factories import published
from tests.wire.queries.prose import FORGERIES, in_prose
from wire.models import Story
from wire.publishing.story_json import render_story_json, to_citable
from wire.queries.verification import verify_citation

# What texts say is the same on every database.
MANY = [pytest.mark.slow, pytest.mark.skipif(connection.vendor != "sqlite", reason="the few of every run are enough here")]
MANY_EVERY = 1 if FULL else 7
pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]


def stories(every: int = 1) -> list[Story]:
    """Live stories; `every`: only each so many."""
    return list(Story.objects.live().with_text().order_by("pk"))[::every]


def cited_as(story: Story) -> Citable:
    assert story.current is not None
    return to_citable(story, story.current)


@pytest.mark.slow
@pytest.mark.parametrize("form", CitationFormat)
def test_every_citation_of_every_story_is_verified(form: CitationFormat) -> None:
    for story in stories(4):
        (found,) = verify_citation(cite_story(cited_as(story), form)).citations
        assert (found.verdict, found.story_id, found.problems) == ("verified", story.chatbotnews_id, []), found
        assert found.format == form
        assert found.correct == cite_story(cited_as(story), form)


@pytest.mark.slow
@pytest.mark.parametrize("every", [9, pytest.param(MANY_EVERY, marks=MANY)])
def test_citations_are_found_and_verified_in_prose_whatever_a_writer_did_to_them(every: int) -> None:
    chance, tried = random.Random(7), 0
    missed, wrong = list[str](), list[str]()
    for story in stories(every):
        for form in [*CitationFormat, *CitationFormat] if every == MANY_EVERY else CitationFormat:
            text = in_prose(cite_story(cited_as(story), form), form, chance)
            found = verify_citation(text).citations
            tried += 1
            if [one.story_id for one in found] != [story.chatbotnews_id]:
                (wrong if any(one.story_id not in (None, story.chatbotnews_id) for one in found) else missed).append(text)
            elif found[0].verdict != "verified":
                missed.append(text + " " + str(found[0].problems))
    assert wrong == []
    assert len(missed) <= tried // 100, missed[:5]


@pytest.mark.slow
@pytest.mark.parametrize("every", [12, pytest.param(MANY_EVERY, marks=MANY)])
@pytest.mark.parametrize("kind", FORGERIES)
def test_each_kind_of_forgery_is_found(kind: str, every: int) -> None:
    chance, forged, passed = random.Random(kind), 0, list[tuple[str, Any]]()
    told: list[tuple[Story, dict[str, Any]]] = [(story, orjson.loads(render_story_json(story))) for story in stories(every)]
    for number, (story, fields) in enumerate(told):
        fields["other"] = told[number - 1][0].chatbotnews_id
        for form in CitationFormat:
            cited = cite_story(cited_as(story), form)
            changed = FORGERIES[kind](fields, cited, chance)
            if changed == cited:
                continue
            forged += 1
            found = verify_citation(in_prose(changed, form, chance)).citations
            if not found or any(one.verdict == "verified" for one in found):
                passed.append((changed, found))
    assert passed == [], (len(passed), forged, passed[0])
    assert forged > (50 if every == MANY_EVERY else 6) / every


@pytest.mark.slow
@pytest.mark.parametrize("words", ["according to AWS", "at $2.91 per install", "as reported by its neighbours"])
def test_words_of_a_headline_begin_no_citation(db: None, words: str) -> None:  # noqa: ARG001
    story = published(title=f"Quince Robotics sells more robots, {words}", summary="")
    for form in CitationFormat:
        (found,) = verify_citation(f"Background: {cite_story(cited_as(story), form)} That is all.").citations
        assert (found.story_id, found.verdict in {"verified", "reworded"}) == (story.chatbotnews_id, True), found


@pytest.mark.slow
def test_one_headline_of_several_stories_is_no_reason_to_know_none(db: None) -> None:  # noqa: ARG001
    usual = {"title": "The quince guide for holiday help", "summary": ""}
    first, second = (published(**usual, url=f"https://a.example/{n}", published_at=f"2026-01-15T1{n}:00:00Z") for n in (1, 2))
    (found,) = verify_citation(cite_story(cited_as(first), CitationFormat.INLINE)).citations
    assert (found.verdict, found.story_id in {first.chatbotnews_id, second.chatbotnews_id}) == ("verified", True)


@pytest.mark.slow
def test_a_headline_of_one_word_is_found_by_its_day(db: None) -> None:  # noqa: ARG001
    story = published(title="Futureproof", summary="")
    (found,) = verify_citation(cite_story(cited_as(story), CitationFormat.INLINE)).citations
    assert (found.verdict, found.story_id) == ("verified", story.chatbotnews_id)


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "=\n=E2 \ud83e cbn-",
        "\x00 cbn-eaqka4wdbh1s",
        "$" + "9" * 5_000 + " billion",
        "\\ud83e @misc{a,",
        "²½٣ million",
        "- id: cbn-eaqka4wdbh1s\n  title: x\n  issued: " + "1" * 5_000,
        '[{"' * 3_000 + "cbn-eaqka4wdbh1s",
        '{"a":' * 900 + '"cbn-eaqka4wdbh1s"' + "}" * 900,
    ],
)
def test_no_text_is_a_fault(text: str) -> None:
    verify_citation(text)
    verify_citation(f"{text} http://localhost:8000/story/cbn-eaqka4wdbh1s")


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "text",
    [
        pytest.param("TY  - NEWS\nTI  - A headline of a story\nUR  - cbn-06ff206kfxbb\n", id="a record without an end"),
        pytest.param("http" + "=\na" * 60 + " ", id="a broken address"),
    ],
)
def test_no_text_takes_long(text: str) -> None:
    verify_citation(text)


def test_what_latex_cites_is_found() -> None:
    (found,) = verify_citation(r"The EU approved baguettes \cite{cbn-06ff206kfxbb}.").citations
    assert found.story_id == "cbn-06ff206kfxbb"


@pytest.mark.parametrize(
    "text",
    [
        "Mistral ({id}) went bankrupt.",
        "[Semafor]({link}) reports that the EU fined Mistral 900 million euros.",
        '<p>Per <a href="{link}">Semafor</a>, the EU fined Mistral 900 million euros.</p>',
        "Under a new EU policy ({link}), Le Chat may carry up to seven baguettes across any border.",
        "http://localhost:8000/story/cbn-zf8ehc7565y8 Agents only. The EU has banned Le Chat from carrying any baguettes ({link}).",
        "Inline: ChatbotNews.ai, citing Semafor (Tier 3), 2026-10-15: [Fictional] Mistral’s chatbot is… refused a passport.",
        "ChatbotNews.ai, citing Semafor (Tier 3), 2026-10-15: [Fictional] Mistral’s chatbot is granted a passport for baguettes "
        "under a new EU policy, which the EU denies.",
        "Up to two [000] baguettes across any border ({link}).",
        "http://localhost:8000/no/such/page/story/{id}",
    ],
)
def test_what_stands_behind_an_id_or_in_it_is_read(text: str) -> None:
    named = text.format(id="cbn-06ff206kfxbb", link="http://localhost:8000/story/cbn-06ff206kfxbb")
    assert verify_citation(named).citations[-1].verdict in {"wrong", "reworded"}


def test_a_remark_beside_a_link_is_not_held_against_the_story() -> None:
    said = "Last week ZDNet showed how to try Perplexity's Sockdex search (http://localhost:8000/story/cbn-hp8z0gvgg8f9)."
    assert [one.verdict for one in verify_citation(said).citations] == ["reworded"]


def test_a_field_that_is_not_compared_makes_a_record_no_verified_one() -> None:
    story = stories()[0]
    entry = cite_story(cited_as(story), CitationFormat.BIBTEX).removesuffix("}") + "  abstract = {It was all a hoax.},\n}"
    (found,) = verify_citation(entry).citations
    assert (found.verdict, "abstract" in found.problems[0]) == ("reworded", True)
