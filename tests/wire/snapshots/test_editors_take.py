"""The brief as a function: its length, its citations, and that it renders as what it says."""

import datetime as dt
import html
import random
import re
from collections import Counter
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from wire.snapshots import editors_take
from wire.stories.vocabulary import Category

DAY = dt.date(2026, 1, 15)
AT = dt.datetime(2026, 1, 15, 10, tzinfo=dt.UTC)
plain_words = st.text("abcdefgh&;#_*[]<>|~`\\\\!1é語", min_size=1, max_size=12)
summaries = st.lists(plain_words, min_size=1, max_size=80).map(lambda words: " ".join(words)[:160])


def brief(
    number: int,
    text: str = "Quince ships",
    category: str = "industry",
    witnesses: int = 1,
    event: str | None = None,
    quotable: bool = True,
) -> editors_take.Brief:
    story = f"cbn-{number}"
    citation = f"According to Publisher {number % 7}, as summarized by ChatbotNews.ai, {text}. Source: https://w.example/{story}"
    return editors_take.Brief(
        chatbotnews_id=story,
        event_id=event or story,
        publisher=f"Publisher {number % 7}",
        category=category,
        consensus_score=0.5 if witnesses > 1 else 0.0,
        cross_source_count=witnesses,
        published_at=AT + dt.timedelta(minutes=number),
        cite=lambda: citation,
        permalink=f"https://w.example/{story}",
        quotable=quotable,
    )


events = st.sampled_from([None, "cbn-0", "cbn-x"])
rows = st.tuples(summaries, st.sampled_from(list(Category)), st.integers(1, 3), events, st.booleans())
briefs = (
    st.lists(rows, min_size=1, max_size=24)
    .map(lambda told: [brief(number, *row) for number, row in enumerate(told)])
    .filter(lambda stories: any(story.quotable for story in stories))
)
befores = st.none() | st.builds(
    editors_take.Before,
    st.just(DAY - dt.timedelta(days=1)),
    st.integers(0, 90),
    st.frozensets(st.sampled_from(["cbn-0", "cbn-1", "cbn-x"])),
    st.sampled_from([None, "cbn-0", "cbn-x"]),
)


def paragraphs(markdown: str) -> list[str]:
    return markdown.strip().split("\n\n")


def rendered(markdown: str) -> str:
    """What a reader sees, spaces folded."""
    page = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).render(markdown)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", page)).split())


@given(briefs, befores)
def test_a_day_with_stories_is_told_in_120_to_300_words(
    stories: list[editors_take.Brief], before: editors_take.Before | None
) -> None:
    assert 120 <= editors_take.words([editors_take.write(DAY, stories, before)]) <= 300


@given(briefs, befores, st.randoms())
def test_the_same_stories_give_the_same_brief(
    stories: list[editors_take.Brief], before: editors_take.Before | None, dice: random.Random
) -> None:
    told = editors_take.write(DAY, stories, before)
    dice.shuffle(stories)
    assert editors_take.write(DAY, stories, before) == told


@given(briefs)
def test_every_citation_reads_as_the_story_has_it(stories: list[editors_take.Brief]) -> None:
    markdown = editors_take.write(DAY, stories, None)
    seen = rendered(markdown)
    cited = [story for story in stories if f"Source: {story.permalink}\n" in markdown]
    assert cited
    for story in cited:
        assert " ".join(story.cite().split()) in seen


def test_every_category_has_a_paragraph_with_its_layered_citation() -> None:
    stories = [brief(number, f"It is {category}", category, 2 if number == 3 else 1) for number, category in enumerate(Category)]
    told = paragraphs(editors_take.write(DAY, stories, None))
    assert told[2].startswith(f"**Lead** (2 independent witnesses, consensus 0.50; {Category(stories[3].category).label}). ")
    assert told[2].endswith(stories[3].cite())
    assert told.pop(3 + 3) == f"**{Category(stories[3].category).label}**: 1 story, on the lead event."
    for story, paragraph in zip([story for story in stories if story is not stories[3]], told[3:], strict=False):
        assert paragraph.startswith(
            f"**{Category(story.category).label}** ([1 story]({story.permalink}), told by one witness so far). "
        )
        assert paragraph.endswith(story.cite())


@given(briefs, befores)
def test_its_categories_hold_every_story_of_the_day(stories: list[editors_take.Brief], before: editors_take.Before | None) -> None:
    labels = "|".join(category.label for category in Category)
    told = re.findall(rf"^\*\*({labels})\*\*(?:: | \(\[?)(\d+) stor", editors_take.write(DAY, stories, before), re.MULTILINE)
    assert {label: int(number) for label, number in told} == Counter(Category(story.category).label for story in stories)


def test_new_is_what_began_that_day() -> None:
    for events, known, told in [
        (["cbn-0"], [], "1 event is new."),
        (["cbn-0", "cbn-1", "cbn-0"], ["cbn-x"], "2 events are new."),
        (["cbn-0"], ["cbn-0"], "no event is new, 1 goes on."),
        (["cbn-x"], [], "no event is new, 1 other was not on that day's wire."),
        (["cbn-0", "cbn-x", "cbn-y", "cbn-z"], ["cbn-z"], "1 event is new, 1 goes on, 2 others were not on that day's wire."),
    ]:
        stories = [brief(number, event=event) for number, event in enumerate(events)]
        before = editors_take.Before(DAY - dt.timedelta(days=1), len(stories), frozenset(known), None)
        assert f"**Since 14 January**: as many stories; {told}" in paragraphs(editors_take.write(DAY, stories, before))


def test_what_no_300_words_hold_is_told_in_figures() -> None:
    stories = [brief(number, "a " * 79, category) for number, category in enumerate(Category)]
    told = editors_take.write(DAY, stories, None)
    assert "**Analysis**: 1 story." in told
    assert stories[0].cite() in told
    endless = editors_take.write(DAY, [brief(1, "a " * 495)], None)
    assert "Publisher 1 reports at length. Source: https://w.example/cbn-1" in endless
    assert editors_take.words([endless]) <= 300


def test_an_empty_day_a_lone_witness_and_a_day_without_a_quotable_story_are_said_to_be_that() -> None:
    assert editors_take.write(DAY, [], None) == "# Editor's Take: 15 January 2026\n\nNo stories were published on this day.\n"
    lone = editors_take.write(DAY, [brief(1)], None)
    assert "each counted once and copies of one text once. Until then it rests on one witness" in lone
    told = editors_take.write(DAY, [replace(brief(1), quotable=False)], None)
    assert "1 story came in, with text that addresses reading models; none is quoted here." in told
    assert 120 <= editors_take.words([told]) <= 300


def test_the_opening_of_a_brief_is_its_first_paragraph() -> None:
    for markdown in ("# T\r\n\r\nFirst *one*.\r\n\r\nSecond.", "# T\nFirst *one*.\n\nSecond.", "First *one*.\n\n# T"):
        assert editors_take.opening(editors_take.by_hand(DAY, markdown)) == "First *one*."


def test_the_lead_of_a_day_is_the_one_its_brief_began_with() -> None:
    stories = [brief(number, witnesses=2 if number in (2, 3) else 1) for number in range(5)]
    flagged = replace(brief(1, witnesses=3), quotable=False)
    assert editors_take.lead_of([*stories, flagged]) == "cbn-2"
    assert f"**Lead** (2 independent witnesses, consensus 0.50; Industry). {stories[2].cite()}" in editors_take.write(
        DAY, stories, None
    )
    assert editors_take.lead_of([flagged]) is editors_take.lead_of([]) is None
