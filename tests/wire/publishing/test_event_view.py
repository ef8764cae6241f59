"""Which report stands for an event, in what words it is said how widely it is reported, and which event leads a day."""

import datetime as dt
from typing import Any

import pytest
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from sources.roster import Houses
from tests.factories import NOW, entry, publish, story_of
from wire import queries
from wire.ingest import corrections
from wire.publishing.event_view import EventView, build_event_view, choose_leading_event, find_figures, sort_by_weight
from wire.schemas.story import StoryOut
from wire.text.choices import Category, Topic

DAY = dt.date(2026, 1, 15)
WORDINGS = {
    "OpenAI Blog": "Introducing the lamp reader",
    "TechCrunch": "OpenAI introduces a lamp reader for $90",
    "Wired": "OpenAI lamp reader introduced, for $90",
    "Reuters": "OpenAI introduces lamp reader",
    "Axios": "Lamp reader introduced by OpenAI",
}
TIERS = {"OpenAI Blog": 1, "TechCrunch": 2, "Wired": 2, "Reuters": 3, "Axios": 3, "NVIDIA Blog": 1}
NAMES = ("pears", "a submarine", "sheet music", "tiny trains", "curtains", "lighthouses")
_ids = iter(range(10**6))


def story(publisher: str = "TechCrunch", hour: int = 10, **values: Any) -> StoryOut:
    usual: dict[str, Any] = {
        "chatbotnews_id": f"cbn-{next(_ids):012d}",
        "headline": WORDINGS.get(publisher, publisher),
        "original_publisher": publisher,
        "original_publisher_tier": TIERS[publisher],
        "published_at": dt.datetime(2026, 1, 15, hour, tzinfo=dt.UTC),
        "original_url": f"https://{publisher.replace(' ', '').lower()}.example/lamp",
        "summary_medium": f"{publisher} wrote this.",
        "author": None,
        "untrusted_instructions": False,
        "published_at_estimated": False,
        "consensus_score": 0.0,
        "cross_source_count": 1,
        "category": Category.LAUNCHES,
        "topics": [Topic.OPENAI],
    }
    return StoryOut.model_construct(None, **(usual | values))


def event(*stories: StoryOut, score: float = 0.5) -> EventView:
    """As a publish leaves it: every story with the figures of all."""
    count = len({one.original_publisher for one in stories})
    for one in stories:
        one.consensus_score, one.cross_source_count = (score, count) if count > 1 else (0.0, 1)
    return build_event_view(stories[0].chatbotnews_id, stories, Houses({}))


def test_a_makers_own_post_lifts_no_report_above_weightier_news() -> None:
    announced = event(story("OpenAI Blog", 8), story("TechCrunch", 11))
    billions = event(story("Wired", 9, headline="OpenAI has raised $40 billion"))
    assert choose_leading_event(sort_by_weight([announced, billions], DAY), DAY) == billions


def test_a_newsroom_stands_before_the_maker_whoever_was_first() -> None:
    maker, newsroom = story("OpenAI Blog", 8), story("Reuters", 12)
    assert event(maker, newsroom).lead is newsroom


def test_among_newsrooms_the_lower_tier_stands_first_then_the_earliest() -> None:
    words = "OpenAI introduces a lamp reader"
    late, early, wire = (story(name, at, headline=words) for name, at in (("TechCrunch", 12), ("Wired", 9), ("Reuters", 8)))
    assert event(late, early, wire).lead is early


def test_an_early_report_about_something_beside_the_event_does_not_stand_for_it() -> None:
    aside = story("Wired", 2, headline="Claude 4.1 dominates coding tests days before GPT-5 arrives")
    core = story("TechCrunch", 12, headline="OpenAI’s GPT-5 is here")
    rest = [story("Reuters", 13, headline="OpenAI’s GPT-5 is here, now what?"), story("Axios", 14, headline="GPT-5 is here")]
    assert event(aside, core, *rest).lead is core


def test_text_that_addresses_the_model_stands_for_no_event_that_has_another_report() -> None:
    marked, maker = story("TechCrunch", untrusted_instructions=True), story("OpenAI Blog")
    assert event(marked, maker).lead is maker


@pytest.mark.parametrize(
    ("publishers", "score", "words"),
    [
        (["OpenAI Blog"], 0.0, "the company’s own announcement"),
        (["OpenAI Blog", "NVIDIA Blog"], 0.4, "the companies’ own announcements"),
        (["Wired"], 0.0, "one source"),
        (["Wired", "OpenAI Blog"], 0.5, "one source and the company itself"),
        (["Wired", "Reuters"], 0.6, "two independent sources"),
        (["Wired", "Reuters", "OpenAI Blog"], 0.7, "two independent sources and the company itself"),
        (["Wired", "Reuters", "Axios"], 0.8, "widely reported: 3 independent sources"),
        (["Wired", "Reuters"], 0.29, "two sources, low agreement"),
        (["Wired", "Reuters", "Axios"], 0.29, "3 sources, low agreement"),
    ],
)
def test_words_say_how_widely_it_is_reported(publishers: list[str], score: float, words: str) -> None:
    assert event(*map(story, publishers), score=score).agreement == words


@given(st.integers(0, 24), st.integers(0, 7), st.floats(0, 1))
def test_no_words_claim_a_second_source_that_is_none(newsrooms: int, makers: int, score: float) -> None:
    lead = story("Wired").model_copy(update={"consensus_score": score})
    words = EventView("cbn-1", lead, (), newsrooms, max(makers, 1) if not newsrooms else makers).agreement
    assert ("independent" in words) == (newsrooms >= 2 and score >= 0.3)
    assert ("widely" in words) == (newsrooms >= 3 and score >= 0.3)


def test_two_newsrooms_lead_a_day_over_a_makers_post_and_over_what_hardly_agrees() -> None:
    both = event(story("Wired", 3), story("Reuters", 4))
    maker, faint = event(story("OpenAI Blog", 20)), event(story("TechCrunch", 21), story("Axios", 22), score=0.2)
    ranked = sort_by_weight([maker, faint, both], DAY)
    assert ranked[0] is both
    assert choose_leading_event(ranked, DAY) is both


def test_a_makers_post_leads_only_a_day_that_has_nothing_else() -> None:
    maker, newsroom = event(story("OpenAI Blog", 20)), event(story("Wired", 3))
    assert choose_leading_event(sort_by_weight([maker, newsroom], DAY), DAY) is newsroom
    assert choose_leading_event([maker], DAY) is maker
    assert choose_leading_event([], DAY) is None
    assert choose_leading_event([event(story(untrusted_instructions=True))], DAY) is None


OTHER_GENRES = {
    "live": {"headline": "OpenAI introduces a lamp reader – live"},
    "roundup": {"headline": "Week in Review: OpenAI introduces a lamp reader"},
    "podcast": {"original_url": "https://wired.example/podcast/lamp"},
    "newsletter": {"original_url": "https://wired.example/newsletters/lamp"},
    "opinion": {"original_url": "https://wired.example/opinion/lamp"},
    "howto": {"headline": "How to buy OpenAI’s lamp reader"},
    "review": {"headline": "I tried OpenAI’s lamp reader for a week"},
}


@pytest.mark.parametrize("genre", OTHER_GENRES)
def test_another_genre_than_news_leads_an_event_and_a_day_only_where_there_is_nothing_else(genre: str) -> None:
    other, newsroom, maker = story("Wired", 8, **OTHER_GENRES[genre]), story("Reuters", 12), story("OpenAI Blog", 20)
    both = event(other, newsroom)
    assert both.lead is newsroom
    assert both.first is newsroom
    assert [(report.genre, report.independent) for report in both.reports] == [(genre, False), ("news", True)]
    assert event(other, maker).lead is maker
    assert event(other).lead is other
    assert build_event_view(other.chatbotnews_id, [other, newsroom], Houses({}), {other.chatbotnews_id}).lead is other, (
        "an editor chose it"
    )
    ranked = sort_by_weight([event(other), event(maker)], DAY)
    assert choose_leading_event(ranked, DAY) is ranked[0]
    assert ranked[0].lead is maker
    assert choose_leading_event([event(other)], DAY) is not None


def test_newsrooms_of_a_day_are_those_that_report_news_on_it() -> None:
    podcasts = [story(name, 9, original_url=f"https://{name}.example/podcast/lamp") for name in ("TechCrunch", "Wired", "Axios")]
    talk, news = event(*podcasts, story("Reuters", 10)), event(story("TechCrunch", 3), story("Wired", 4))
    for one in talk.reports:
        one.story.cross_source_count = 1  # as a publish weighs it
    assert sort_by_weight([talk, news], DAY) == [news, talk]


def test_what_one_newsroom_reports_stands_by_what_its_headline_says() -> None:
    headlines = {
        "Anthropic wins a fair use victory, a judge rules — but it’s still in trouble": [Topic.ANTHROPIC],
        "How CISOs became the gatekeepers of AI spending at OpenAI": [Topic.OPENAI],
        "Indie developers sell games without AI": [],
    }
    news = [event(story(hour=3, headline=headline, topics=topics)) for headline, topics in headlines.items()]
    analysis = event(story("Wired", 20, headline="This proxy is the best for scraping", category=Category.ANALYSIS))
    assert sort_by_weight([analysis, *reversed(news)], DAY) == [*news, analysis]


def test_what_began_days_ago_comes_after_what_is_new() -> None:
    days_ago = dt.datetime(2026, 1, 10, tzinfo=dt.UTC)
    old = event(story("Wired", published_at=days_ago), story("Reuters", published_at=days_ago), story("Axios", 12))
    new = event(story("TechCrunch", 3))
    assert sort_by_weight([old, new], DAY) == [new, old]


@given(st.permutations(list(WORDINGS)), st.integers(1, 5))
def test_the_order_of_arrival_changes_nothing(publishers: list[str], number: int) -> None:
    stories = [story(name, chatbotnews_id=f"cbn-{list(WORDINGS).index(name):012d}") for name in publishers[:number]]
    found, again = event(*stories), event(*reversed(stories))
    assert (found.lead, found.reports, found.agreement) == (again.lead, again.reports, again.agreement)


def test_figures_are_found_as_they_are_written() -> None:
    text = "It raised $2.5 billion, 40% more than the €900m of 2024, for 700 million users and 12,000 jobs. GPT-5 has 3 modes."
    assert find_figures(text) == ["$2.5 billion", "40%", "€900m", "700 million users", "12,000 jobs"]
    assert find_figures("Valued at $852, and rising. $852, again") == ["$852"]
    assert find_figures("On 15 January 2026, model 4 came") == []


@pytest.mark.django_db
def test_a_day_lists_each_event_once_and_get_event_names_every_report() -> None:
    made = [
        entry(title=WORDINGS[name], publisher=name, url=f"https://{name.replace(' ', '')}.example/lamp", summary=f"By {name}.")
        for name in ("TechCrunch", "Wired", "Reuters")
    ]
    other = entry(title="Marmots sing in Ohio")
    publish(*made, other)
    listed = queries.list_events((DAY, DAY + dt.timedelta(1)))
    assert [one.agreement for one in listed.events] == ["widely reported: 3 independent sources", "one source"]
    first = listed.events[0]
    found = queries.get_event(first.event_id)
    assert {report.chatbotnews_id for report in found.reports} == {story_of(one).chatbotnews_id for one in made}
    assert all(report.layered_ready.startswith(f"According to {report.original_publisher}") for report in found.reports)
    for one in made:
        assert queries.get_event(story_of(one).chatbotnews_id) == found, "any story of it names the event"
    assert (first.lead or first.event_id, first.headline, found.lead) == (found.lead, found.headline, first.lead or first.event_id)


@pytest.mark.django_db
def test_pages_of_a_day_neither_lose_nor_repeat_an_event() -> None:
    publish(*(entry(title=f"Marmot{chr(97 + n)} sings{n}", published_at=f"2026-01-15T{n:02d}:00:00Z") for n in range(12)))
    seen, cursor = [], None
    while True:
        page = queries.list_events((DAY, DAY + dt.timedelta(1)), limit=5, cursor=cursor)
        seen += [one.event_id for one in page.events]
        assert page.total == 12
        if (cursor := page.next_cursor) is None:
            break
    assert len(seen) == len(set(seen)) == 12


@pytest.mark.django_db
def test_an_editor_chooses_which_report_stands_for_an_event() -> None:
    made = [entry(title=WORDINGS[name], publisher=name, url=f"https://{name}.example/lamp") for name in ("TechCrunch", "Reuters")]
    publish(*made)
    chosen = story_of(made[1]).chatbotnews_id
    version = queries.get_wire_version()
    corrections.choose_event_lead(chosen)
    assert queries.list_events((DAY, DAY + dt.timedelta(1))).events[0].headline == WORDINGS["Reuters"]
    assert queries.get_event(chosen).lead == chosen
    assert queries.get_wire_version() > version, "or cached answers would show the other"


@pytest.mark.django_db
def test_a_choice_of_lead_does_not_follow_its_story_into_another_event() -> None:
    made = [entry(title=WORDINGS[name], publisher=name, url=f"https://{name}.example/lamp") for name in ("TechCrunch", "Reuters")]
    other = entry(title="Marmots sing in Ohio", publisher="Wired", url="https://wired.com/marmots")
    publish(*made, other)
    moved = story_of(made[1]).chatbotnews_id
    corrections.choose_event_lead(moved)
    corrections.split_event([moved], reason="Another lamp.", now=NOW)
    corrections.merge_events([str(story_of(made[1]).event_id), str(story_of(other).event_id)], reason="One song.", now=NOW)
    assert queries.get_event(moved).lead == story_of(other).chatbotnews_id, "as the rules choose: the lower tier"


@pytest.mark.django_db
def test_the_brief_leads_with_the_event_that_leads_the_page_though_a_newsroom_repeats_a_makers_words() -> None:
    same = {"title": "OpenAI launches the lamp reader", "published_at": "2026-01-15T20:00:00Z"}
    publish(
        entry(publisher="OpenAI Blog", url="https://openai.com/lamp", **same),
        repeated := entry(url="https://techcrunch.com/lamp", **same),
        entry(title="OpenAI marmots sing in Ohio", published_at="2026-01-15T03:00:00Z"),
    )
    lead = choose_leading_event(queries.list_day_events(DAY), DAY)
    assert lead is not None
    assert lead.lead.chatbotnews_id == story_of(repeated).chatbotnews_id
    assert lead.lead.permalink in queries.get_editor_take(DAY).markdown.partition("Also:")[0]


def test_what_was_written_the_day_before_gives_an_event_no_place_among_a_days() -> None:
    """The brief of a day knows that day's reports alone, and page and brief lead with one event."""
    before = dt.datetime(2026, 1, 14, 12, tzinfo=dt.UTC)
    opinion = story("Wired", headline="Opinion: a lamp reader is folly", published_at=before, consensus_score=0.4)
    shared = build_event_view("cbn-1", [opinion, story("TechCrunch", 9, headline="OpenAI launches a lamp reader")], Houses({}))
    newer = event(story("TechCrunch", 10, headline="OpenAI launches a pear reader"))
    assert choose_leading_event(sort_by_weight([shared, newer], DAY), DAY) == newer


@pytest.mark.django_db
def test_the_page_and_the_brief_lead_with_news_though_a_podcast_is_newer(client: Client) -> None:
    publish(
        news := entry(title="OpenAI marmots sing in Ohio", published_at="2026-01-15T03:00:00Z"),
        podcast := entry(title="OpenAI and the lamp – podcast", publisher="Wired", url="https://wired.com/podcast/lamp"),
        entry(title="Live updates: OpenAI’s lamp keynote", publisher="Reuters", url="https://reuters.com/live/lamp"),
    )
    permalink = str(queries.get_story(story_of(news).chatbotnews_id).permalink)
    assert permalink in queries.get_editor_take(DAY).markdown.partition("Also:")[0]
    lead = choose_leading_event(queries.list_day_events(DAY), DAY)
    assert lead is not None
    assert lead.lead.permalink == permalink
    assert client.get("/api/events.json", {"date": str(DAY)}).json()["events"][0]["headline"] == news.title
    assert podcast.title not in queries.get_editor_take(DAY).markdown


@pytest.mark.django_db
def test_lists_of_events_neither_lose_nor_repeat_one_however_many_reports_it_has() -> None:
    at = "2026-01-15T{:02d}:{}:00Z".format
    many = [
        entry(title=f"OpenAI launches lamp reader number {n}", url=f"https://techcrunch.com/lamp-{n}", published_at=at(n, "30"))
        for n in range(12)
    ]
    lone = [entry(title=f"Anthropic launches {name}", published_at=at(2 * n, "00")) for n, name in enumerate(NAMES)]
    publish(*many, *lone)
    events = {str(story_of(one).event_id) for one in (*many, *lone)}
    seen, cursor = [], None
    while True:
        page = queries.list_category_events(Category.LAUNCHES, 2, cursor)
        seen += [event.event_id for event in page.events]
        if (cursor := page.next_cursor) is None:
            break
    assert sorted(seen) == sorted(events)
    assert page.total == len(many) + len(lone)


def test_nobody_is_named_first_where_only_dates_are_known() -> None:
    first, second = story("TechCrunch", 0), story("Wired", 0)
    assert event(first, second).coverage == "Reported by TechCrunch and Wired."
    assert event(story("TechCrunch", 2), story("Wired", 1)).coverage == "Reported by Wired and TechCrunch; first by Wired."
    assert event(first, story("Wired", 9)).coverage == "Reported by TechCrunch and Wired.", "of the same day, one without a time"
    assert event(first, story("Wired", 9, published_at=dt.datetime(2026, 1, 16, 9, tzinfo=dt.UTC))).is_first_known
    assert event(first, story("TechCrunch", 0)).is_first_known  # one publication's two items of a moment
