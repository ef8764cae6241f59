"""The brief as a function: what it says, its citations, and that it renders as what it says."""

import datetime as dt
import html
import random
import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from citations.format.citation_statement import Statement, StatementKind
from citations.sentence_boundaries import split_sentences
from wire.publishing import editors_take
from wire.text.choices import Category
from wire.text.filters import find_genre

DAY = dt.date(2026, 1, 15)
AT = dt.datetime(2026, 1, 15, 10, tzinfo=dt.UTC)
plain_words = st.text("abcdefgh&;#_*[]<>()|~`\\\\!1é語", min_size=1, max_size=12)
summaries = st.lists(plain_words, min_size=1, max_size=80).map(lambda words: " ".join(words)[:160])
headlines = st.lists(plain_words, min_size=1, max_size=60).map(lambda words: " ".join(words)[:400])


def brief(
    number: int,
    headline: str = "Quince ships",
    category: str = "industry",
    sources: int = 1,
    event: str | None = None,
    quotable: bool = True,
    summary: str = "It has shipped a robot",
) -> editors_take.Brief:
    story = f"cbn-{number}"
    said = summary or headline
    citation = f"According to Publisher {number % 7}, as summarized by ChatbotNews.ai, {said}. Source: https://w.example/{story}"
    return editors_take.Brief(
        chatbotnews_id=story,
        event_id=event or story,
        headline=headline,
        summary=summary,
        statement=Statement(f"{said}.", StatementKind.SUMMARY if summary else StatementKind.HEADLINE, summary),
        publisher=f"Publisher {number % 7}",
        tier=2,
        topics=("openai",),
        category=category,
        consensus_score=0.5 if sources > 1 else 0.0,
        cross_source_count=sources,
        published_at=AT - dt.timedelta(minutes=number),
        began=AT,
        makers=(),
        makers_of_day=(),
        voices=(f"Publisher {number % 7}", *(f"Newsroom {other}" for other in range(1, sources))),
        voices_of_other_days=(),
        cite=lambda: citation,
        permalink=f"https://w.example/{story}",
        quotable=quotable,
        genre=find_genre(headline),
    )


events = st.sampled_from([None, "cbn-0", "cbn-x"])
rows = st.tuples(headlines, st.sampled_from(list(Category)), st.integers(1, 12), events, st.booleans(), st.just("") | summaries)
briefs = (
    st.lists(rows, min_size=1, max_size=24)
    .map(lambda told: [brief(number, *row) for number, row in enumerate(told)])
    .filter(lambda stories: any(story.quotable for story in stories))
)
befores = st.none() | st.builds(editors_take.Before, st.just(DAY - dt.timedelta(days=1)), st.sampled_from([None, "cbn-0", "cbn-x"]))
NAMES = ["Quince", "Heron", "Pomelo", "Walrus", "Bramble", "Turnip", "Ocelot", "Zephyr", "Cobalt", "Juniper", "Lantern", "Fjord"]
YESTERDAY = DAY - dt.timedelta(days=1)


def paragraphs(markdown: str) -> list[str]:
    return markdown.strip().split("\n\n")


def render_text(markdown: str) -> str:
    """Return what a reader sees, spaces folded."""
    page = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"]).render(markdown)
    return " ".join(html.unescape(re.sub(r"<[^>]*>", "", page)).split())


def has_link(story: editors_take.Brief, markdown: str) -> bool:
    return f"]({story.permalink})" in markdown


@given(briefs, befores)
def test_a_brief_is_short_and_says_that_rules_wrote_it(
    stories: list[editors_take.Brief], before: editors_take.Before | None
) -> None:
    markdown = editors_take.write_take_of_day(DAY, stories, before)
    assert editors_take.count_words([markdown]) <= editors_take.MOST_WORDS
    assert len(paragraphs(markdown)) <= 4
    assert paragraphs(markdown)[1] == "*Written by rules from this day's stories.*"


@given(briefs, befores, st.randoms())
def test_the_same_stories_give_the_same_brief(
    stories: list[editors_take.Brief], before: editors_take.Before | None, dice: random.Random
) -> None:
    told = editors_take.write_take_of_day(DAY, stories, before)
    dice.shuffle(stories)
    assert editors_take.write_take_of_day(DAY, stories, before) == told


@given(briefs, befores)
def test_headlines_and_citations_read_as_the_story_has_them_and_stand_whole(
    stories: list[editors_take.Brief], before: editors_take.Before | None
) -> None:
    markdown = editors_take.write_take_of_day(DAY, stories, before)
    seen = render_text(markdown)
    linked = [story for story in stories if has_link(story, markdown) or f"Source: {story.permalink}\n" in markdown]
    assert linked
    for story in linked:
        assert story.quotable
        first_sentence = next(split_sentences(story.statement.news), story.statement.text)  # what it adds to another's report
        told = [story.headline, story.statement.text.rstrip("."), first_sentence.rstrip("."), f"is reported by {story.publisher}"]
        assert any(" ".join(text.split()) in seen for text in told)


@given(briefs, befores)
def test_no_headline_is_told_twice(stories: list[editors_take.Brief], before: editors_take.Before | None) -> None:
    stories = [replace(story, headline=f"{story.headline} number {at}") for at, story in enumerate(stories)]
    markdown = editors_take.write_take_of_day(DAY, stories, before)
    links = re.findall(r"“\[(?:\\.|[^\]])*\]\((\S+)\)”", markdown)
    assert len(links) == len(set(links))


@given(briefs, befores)
def test_its_summary_is_its_first_sentence_whole(stories: list[editors_take.Brief], before: editors_take.Before | None) -> None:
    markdown = editors_take.write_take_of_day(DAY, stories, before)
    summary = editors_take.extract_detail(markdown).summary
    assert " ".join(summary.removesuffix(".").split()) in render_text(markdown)
    assert len(summary) <= 160
    assert "Written by" not in summary


def test_the_lead_is_told_with_its_sources_and_what_each_adds() -> None:
    lead = brief(1, "Quince ships a robot", sources=2, event="q", summary="Quince has shipped a robot that weighs 3 kilos")
    lead = replace(lead, voices=("Publisher 2", "Publisher 1"))
    other = brief(2, "Quince ships its robot", sources=2, event="q", summary="Quince sells it to Marmot")
    stories = [brief(0, "Marmot opens its doors"), lead, replace(other, voices=lead.voices)]
    told = paragraphs(editors_take.write_take_of_day(DAY, stories, None))
    sentence = (
        "The day's main story is “[Quince ships its robot](https://w.example/cbn-2)”, reported by Publisher 2 and Publisher 1."
    )
    cited = stories[2].cite()
    added = "[Publisher 1](https://w.example/cbn-1) adds: “Quince has shipped a robot that weighs 3 kilos.”"
    assert told[2].split("\n") == [sentence, cited, added]
    assert told[3] == "In other news, Publisher 0 reports “[Marmot opens its doors](https://w.example/cbn-0)”."
    shown = editors_take.extract_opening(editors_take.write_take_of_day(DAY, stories, None))
    assert paragraphs(shown) == [f"{sentence} {added}", told[3]], "a page shows no address of a citation"
    assert editors_take.extract_detail("\n\n".join(told)).summary == render_text(sentence)


def test_words_that_only_follow_from_the_headline_are_quoted_and_what_repeats_it_is_left_out() -> None:
    after = Statement("Quince ships a robot. It costs $300.", StatementKind.BOTH, "It costs $300.")
    lead = replace(brief(0, "Quince ships a robot", sources=2), statement=after)
    told = editors_take.write_take_of_day(DAY, [lead, brief(1)], None)
    assert "Newsroom 1.\nPublisher 0 adds: “It costs $300.”\n" in told
    assert "According to" not in told
    told = editors_take.write_take_of_day(DAY, [brief(0, "Quince ships a robot", summary="a robot is what quince ships")], None)
    assert paragraphs(told)[2:] == [
        "The day's one story is “[Quince ships a robot](https://w.example/cbn-0)”, reported by Publisher 0."
    ]


def test_newsrooms_are_named_as_far_as_that_is_short() -> None:
    told = editors_take.write_take_of_day(DAY, [brief(0), brief(1, "Marmot opens", sources=3)], None)
    assert "”, reported by Publisher 1, Newsroom 1 and Newsroom 2.\n" in told
    told = editors_take.write_take_of_day(DAY, [brief(0), brief(1, "Marmot opens", sources=6)], None)
    assert "”, reported by Publisher 1, Newsroom 1, Newsroom 2 and three other newsrooms.\n" in told
    told = editors_take.write_take_of_day(DAY, [brief(0), brief(1, "Marmot opens a door " * 6, sources=2, summary="")], None)
    assert paragraphs(told)[2].endswith("\nIt is reported by Publisher 1 and Newsroom 1.")


def test_newsrooms_that_reported_on_other_days_are_told_apart() -> None:
    lead = replace(brief(1, "Marmot opens", sources=2), voices=("Publisher 1",), voices_of_other_days=("Newsroom 1",))
    assert "”, reported by Publisher 1 and, on another day, Newsroom 1.\n" in editors_take.write_take_of_day(DAY, [lead], None)
    lead = replace(lead, voices_of_other_days=("Newsroom 1", "Newsroom 2"))
    assert "”, reported by Publisher 1 and, on other days, Newsroom 1 and Newsroom 2.\n" in editors_take.write_take_of_day(
        DAY, [lead], None
    )


def test_a_lead_that_one_newsroom_reports_is_no_main_story() -> None:
    told = editors_take.write_take_of_day(DAY, [brief(0, "Who needs quinces?", summary=""), brief(1)], None)
    assert "One of the day's stories is “[Quince ships](https://w.example/cbn-1)”, reported by Publisher 1." in told
    assert "quinces?" not in told, "no headline that only asks is told as other news"
    lead = replace(brief(1, sources=2), voices=("Publisher 1",), voices_of_other_days=("Newsroom 1",))
    assert "One of the day's stories is “[Quince ships]" in editors_take.write_take_of_day(DAY, [lead, brief(2)], None)


def test_the_next_events_are_those_of_several_newsrooms_and_then_the_weightiest() -> None:
    stories = [brief(number, f"{name} ships") for number, name in enumerate(("Quince", "Heron", "Pomelo", "Walrus"))]
    stories.append(brief(4, "Quince 4 raises $2 billion"))
    told = editors_take.write_take_of_day(
        DAY, [*stories, brief(10, "Marmot opens", sources=3), brief(11, "Marmot closes", sources=2)], None
    )
    number_of = re.findall(r"/cbn-(\d+)\)”", told)
    assert number_of == ["10", "11", "4", "0"], "three newsrooms, two, billions, the newest"


def test_a_full_day_says_what_kind_of_day_it_was() -> None:
    categories = [Category.FUNDING] * 5 + [Category.LAUNCHES] * 5 + [Category.ANALYSIS] * 2
    stories = [
        brief(number, f"{name} ships", category) for number, (name, category) in enumerate(zip(NAMES, categories, strict=True))
    ]
    told = editors_take.write_take_of_day(DAY, stories, None)
    assert "\n\nIt was a day of launches and funding: 12 stories from seven publications. In other" in told
    assert "It was" not in editors_take.write_take_of_day(DAY, stories[:11], None)
    mixed = [replace(story, category=Category.ANALYSIS) for story in stories]
    assert "It was a mixed day: 12 stories from seven publications." in editors_take.write_take_of_day(DAY, mixed, None)


def test_announcements_of_makers_stand_apart() -> None:
    own = replace(brief(1, "Marmot opens its doors"), tier=1, makers=("Publisher 1",), makers_of_day=("Publisher 1",), voices=())
    told = editors_take.write_take_of_day(DAY, [brief(0), own], None)
    assert told.endswith("From the companies themselves: “[Marmot opens its doors](https://w.example/cbn-1)” (Publisher 1).\n")


def test_one_happening_that_grouping_split_is_told_once() -> None:
    stories = [
        brief(0, "Marmot opens", sources=3),
        brief(1, "Quince raises $13B Series F at $183B valuation"),
        brief(2, "Quince is now valued at $183 billion"),
        brief(3, "Pomelo Labs unveils a tiny model for gardens"),
        brief(4, "Pomelo Labs unveils a tiny model for garden owners"),
    ]
    told = editors_take.write_take_of_day(DAY, stories, None)
    assert sum("valu" in line for line in re.findall(r"“\[[^\]]*\]", told)) == 1
    assert told.count("[Pomelo Labs unveils") == 1


@pytest.mark.parametrize(
    "headline",
    [
        "Open-source skills can save your career when AI comes knocking",
        "Personal context is Google’s big advantage in AI",
        "Companies should audit their chatbots",
    ],
)
def test_advice_and_comment_of_one_newsroom_are_no_news_beside_the_lead(headline: str) -> None:
    told = editors_take.write_take_of_day(
        DAY, [brief(0, "Marmot opens", sources=3), brief(1, headline), brief(2, "Quince ships")], None
    )
    assert headline not in render_text(told)
    assert "Quince ships" in told


def test_what_went_before_is_nothing_that_a_newsroom_adds() -> None:
    summary = "For years, Heron Labs trained on the photos of 3 billion Marmot users."
    told = editors_take.write_take_of_day(DAY, [brief(0, "Quince ships", sources=2, summary=summary)], None)
    assert "For years" not in told


def test_what_began_before_is_told_again_only_if_several_report_it_on_the_day() -> None:
    old = replace(brief(1, "Quince ships", sources=2), began=AT - dt.timedelta(days=1), voices=("Publisher 1",))
    lead = brief(0, "Marmot opens", sources=3)
    assert "Quince ships" not in editors_take.write_take_of_day(DAY, [lead, old], None)
    assert "Quince ships" in editors_take.write_take_of_day(DAY, [lead, replace(old, voices=("Publisher 1", "Newsroom 1"))], None)


def test_advice_on_yesterdays_news_does_not_lead_a_day() -> None:
    advice = brief(1, "Marmot users get a free year of Marmot Pro", sources=2)
    advice = replace(advice, began=AT - dt.timedelta(hours=20), voices=advice.voices[:1], voices_of_other_days=advice.voices[1:])
    news = brief(2, "OpenAI sues the Times")
    assert "is “[OpenAI sues the Times" in editors_take.write_take_of_day(DAY, [advice, news], None)


def test_a_headline_without_an_action_is_told_only_as_the_lead_or_for_billions() -> None:
    lead = brief(1, "OpenAI sues the Times", sources=3)
    view, news = brief(2, "Gemini’s task automation is here and it’s wild"), brief(3, "Google buys Wiz for two billion")
    amount = brief(4, "Sam Altman says OpenAI has a $20B run rate")
    text = editors_take.write_take_of_day(DAY, [lead, view, news, amount], None)
    assert "Google buys Wiz" in text
    assert "$20B run rate" in text
    assert "wild" not in text


def test_a_maker_that_posted_on_another_day_is_not_said_to_report() -> None:
    lead = brief(1, "OpenAI sues the Times", sources=3)
    later = replace(brief(2, "Google sells its plan in 40 countries", sources=2), makers=("Google AI Blog",))
    assert "Google AI Blog" not in editors_take.write_take_of_day(DAY, [lead, later], None)


def test_a_round_up_neither_leads_nor_is_told_beside_other_news() -> None:
    stories = [brief(0, "The Download: quinces, and more"), brief(1), brief(2, "Morning brief"), brief(3, "Marmot opens")]
    told = editors_take.write_take_of_day(DAY, stories, None)
    assert [has_link(story, told) for story in stories] == [False, True, False, True]
    assert editors_take.find_lead_event(DAY, stories) == "cbn-1"
    assert has_link(stories[0], editors_take.write_take_of_day(DAY, stories[:1], None))


def test_it_says_whether_the_lead_of_the_day_before_is_still_reported() -> None:
    stories = [brief(0, sources=3), brief(1, "Marmot opens", sources=2)]
    for lead, told in [
        ("cbn-0", "main story, as on 14 January, is “[Quince"),
        ("cbn-1", "Still in the news from 14 January: “[Marmot"),
    ]:
        assert told in editors_take.write_take_of_day(DAY, stories, editors_take.Before(YESTERDAY, lead))
    for before in (None, editors_take.Before(YESTERDAY, None), editors_take.Before(YESTERDAY, "cbn-x")):
        assert "14 January" not in editors_take.write_take_of_day(DAY, stories, before)


def test_what_is_too_long_is_left_out_and_never_cut() -> None:
    stories = [brief(0, "quince " * 40, sources=2), brief(1, "marmot " * 40, "funding")]
    told = editors_take.write_take_of_day(DAY, stories, None)
    assert "[The day's main story](https://w.example/cbn-0) is reported by Publisher 0 and Newsroom 1.\n" in told
    assert stories[0].cite() in told
    assert "quince " not in told.replace("quinces", "")
    assert not has_link(stories[1], told)
    endless = editors_take.write_take_of_day(DAY, [brief(1, "a " * 495, summary="")], None)
    assert paragraphs(endless)[2] == "[The day's one story](https://w.example/cbn-1) is reported by Publisher 1."


def test_an_empty_day_and_a_day_without_a_quotable_story_are_said_to_be_that() -> None:
    assert (
        editors_take.write_take_of_day(DAY, [], None)
        == "# Editor's Take: 15 January 2026\n\nNo stories were published on this day.\n"
    )
    for number, said in [
        (1, "The text of the day's one story addresses language models, so nothing is quoted here."),
        (2, "The texts of all the day's stories address language models, so nothing is quoted here."),
    ]:
        told = editors_take.write_take_of_day(DAY, [replace(brief(n), quotable=False) for n in range(number)], None)
        assert editors_take.extract_detail(told).summary == paragraphs(told)[2] == said


def test_a_take_of_an_earlier_release_is_read_as_it_was() -> None:
    opening = "1 story from 1 publication on 1 event, which rests on one witness alone so far."
    old = f"# Editor's Take: 15 January 2026\n\n{opening}\n\n**Lead** (one witness so far; Launches). According to …\n"
    assert editors_take.extract_detail(old) == editors_take.TakeDetail("Editor's Take: 15 January 2026", opening)
    assert editors_take.extract_opening(old) == opening


def test_the_opening_of_a_brief_is_its_first_paragraph() -> None:
    for markdown in ("# T\r\n\r\nFirst *one*.\r\n\r\nSecond.", "# T\nFirst *one*.\n\nSecond.", "First *one*.\n\n# T"):
        assert editors_take.extract_opening(editors_take.label_own_take(DAY, markdown)) == "First *one*."


def test_the_lead_of_a_day_is_the_one_its_brief_began_with() -> None:
    stories = [brief(number, f"Quince {number}", sources=2 if number in (2, 3) else 1) for number in range(5)]
    flagged = replace(brief(1, sources=3), quotable=False)
    assert editors_take.find_lead_event(DAY, [*stories, flagged]) == "cbn-2"
    assert has_link(stories[2], editors_take.extract_opening(editors_take.write_take_of_day(DAY, stories, None)))
    assert editors_take.find_lead_event(DAY, [flagged]) is editors_take.find_lead_event(DAY, []) is None


@pytest.mark.parametrize(
    ("tier", "newsrooms", "makers", "told"),
    [
        (2, 3, 0, "Publisher 0, Newsroom 1 and Newsroom 2"),
        (2, 1, 1, "Publisher 0 and Maker 0"),
        (2, 3, 1, "Publisher 0, Newsroom 1, Newsroom 2 and Maker 0"),
        (2, 1, 2, "Publisher 0 and two companies"),
        (1, 1, 2, "Publisher 0, Newsroom 1 and Maker 1"),
    ],
)
def test_a_maker_is_no_independent_source(tier: int, newsrooms: int, makers: int, told: str) -> None:
    own = ("Publisher 0",) if tier == 2 else ()
    voices = (*own, *(f"Newsroom {other}" for other in range(1, newsrooms + (tier == 1))))[:newsrooms]
    lead = replace(brief(0, "Quince ships a robot", summary=""), cross_source_count=newsrooms + makers)
    names = [f"Maker {number}" for number in range(makers)]
    posted = ("Publisher 0", *names[1:]) if tier == 1 else tuple(names)
    lead = replace(lead, makers=posted, makers_of_day=posted, tier=tier, voices=voices)
    assert f"”, reported by {told}." in render_text(editors_take.write_take_of_day(DAY, [lead, brief(1)], None))
