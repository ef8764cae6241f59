"""Stories told in a writer's own words: what matters is held against the record, the choice of words is not."""

import pytest

from tests.factories import published
from wire.models import Story
from wire.publishing.story_json import get_permalink
from wire.queries.verification import verify_citation

pytestmark = pytest.mark.django_db

HEADLINE = "Quibblecorp buys Frobnitz for $920 million"
SUMMARY = (
    "Quibblecorp, led by Ada Quill, said it would pay $920 million in cash for the chip maker Frobnitz, which employs 340 people."
)


@pytest.fixture
def story() -> Story:
    return published(title=HEADLINE, summary=SUMMARY)


def judge(text: str) -> tuple[str, str | None]:
    (found,) = verify_citation(text).citations
    return found.verdict, found.support


FORMS = {
    "link": "{said} ({address})",
    "layered": "According to TechCrunch, as summarized by ChatbotNews.ai, {said}. Source: {address}",
    "note": "{said} [1].\n\n1. The chip deal, TechCrunch, {address}",
    "bracket": "{said} (ChatbotNews.ai, citing TechCrunch (Tier 2), {day}). Nothing else happened.",
}


def write(form: str, said: str, story: Story) -> str:
    address = get_permalink(story.chatbotnews_id)
    return FORMS[form].format(said=said, address=address, day=story.wire_date)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "said",
    [
        "the chip maker Frobnitz goes to Quibblecorp, whose boss is Ada Quill, for $920 million in cash",
        "in a cash deal worth 920 million dollars Quibblecorp gets Frobnitz and its 340 people",
    ],
)
def test_true_words_of_a_writers_own_are_supported(story: Story, form: str, said: str) -> None:
    text = write(form, said, story)
    assert judge(text) == ("reworded", "supported")


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "said",
    [
        "the chip maker Frobnitz goes to Quibblecorp, whose boss is Ada Quill, for $92 million in cash",
        "the chip maker Frobnitz goes to Grumblesoft, whose boss is Ada Quill, for $920 million in cash",
        "the chip maker Frobnitz goes to Quibblecorp, whose boss is Bob Quirk, for $920 million in cash",
        "in a cash deal worth 920 million dollars Quibblecorp gets Frobnitz and its 430 people",
        "in a cash deal worth 920 million dollars Quibblecorp gets all of the chip maker Frobnitz",
        "in a cash deal worth 920 million dollars Quibblecorp gets Frobnitz and its 340GB",
        "in a cash deal worth 920 million dollars Quibblecorp gets 340% of the chip maker Frobnitz",
        "Grammarly gets the chip maker Frobnitz, which employs 340 people, for $920 million in cash",
        "in a cash deal worth 920 million dollars Quibblecorp gets the chip maker Frobnitz because of a shortage",
    ],
)
def test_a_falsehood_in_a_writers_own_words_is_seen(story: Story, form: str, said: str) -> None:
    text = write(form, said, story)
    assert judge(text) in {("wrong", None), ("reworded", "unsupported")}


def test_a_sum_over_a_note_with_the_right_headline_is_held_against_it(story: Story) -> None:
    text = f"Quibblecorp pays $92 million for Frobnitz [1].\n\n1. {HEADLINE}, TechCrunch, {get_permalink(story.chatbotnews_id)}"
    assert judge(text)[0] == "wrong"


def test_a_note_may_name_the_article_where_the_text_cites_the_wire_elsewhere(story: Story) -> None:
    other = published(title="Frobnitz opens a museum of clocks")
    text = (
        f"Quibblecorp pays $920 million for Frobnitz [1], which has a museum of clocks [2].\n\n"
        f"1. {HEADLINE}, TechCrunch, {story.original_url}\n2. A museum of clocks, TechCrunch, {get_permalink(other.chatbotnews_id)}"
    )
    assert [one.story_id for one in verify_citation(text).citations] == [story.chatbotnews_id, other.chatbotnews_id]
    assert verify_citation(text.rsplit("\n", 1)[0]).citations == []


def test_a_bracket_names_the_report_of_its_day_that_says_this(story: Story) -> None:
    published(title="Frobnitz opens a museum of clocks")
    bracket = f"(ChatbotNews.ai, citing TechCrunch (Tier 2), {story.wire_date})"
    (found,) = verify_citation(f"Quibblecorp pays $920 million for the chip maker Frobnitz {bracket}.").citations
    assert (found.story_id, found.support) == (story.chatbotnews_id, "supported")
    (other,) = verify_citation(f"A zoo in Ruritania has lent its last pangolin to a circus {bracket}.").citations
    assert (other.story_id, other.verdict) == (None, "unknown")
