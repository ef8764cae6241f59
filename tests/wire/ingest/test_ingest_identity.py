"""Which item of a feed is a new story, which a new revision of a known one, and which nothing new at all."""

import datetime as dt
import io
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.management import CommandError, call_command
from django.utils import timezone
from hypothesis import example, given
from hypothesis import strategies as st

from sources.choices import FeedType
from sources.entries import Entry
from sources.models import Feed
from tests.examples import examples
from tests.factories import NOW, entry, feed_of, second_feed, see, story_of
from tests.wire.archives import dump, empty_wire, everything, rss, rss_item
from wire.ingest import corrections
from wire.ingest.draft_comparison import Outcome
from wire.ingest.normalise import Rejected
from wire.models import Snapshot, Story, StoryAlias, StoryRevision
from wire.publishing.publish import publish_pending
from wire.text.choices import Category, Topic

pytestmark = pytest.mark.django_db

HOUR = dt.timedelta(hours=1)
DAY = dt.timedelta(days=1)
ACCEPTED, REVISED, DUPLICATE = Outcome.ACCEPTED, Outcome.REVISED, Outcome.DUPLICATE
ADDRESS = "https://techcrunch.com/2026/01/15/quince"
LINK = "https://news.google.com/rss/articles/CBMiQuince"


@pytest.fixture
def feed() -> Feed:
    return feed_of("techcrunch")


@pytest.fixture
def search() -> Feed:
    """The search of Google News that stands for Reuters."""
    return feed_of("reuters")


@pytest.fixture
def category_wire() -> Feed:
    return feed_of("google-news")


def quince(**values: Any) -> Entry:
    """The same article each time."""
    usual = {"url": ADDRESS, "title": "Quince ships", "summary": "It is out."}
    return entry(**(usual | values))


def by_news(**values: Any) -> Entry:
    """The same article as Google News tells of it."""
    usual = {"url": LINK, "title": "Quince ships", "summary": "", "guid": "CBMiQuince"}
    source = {"credited_source": "TechCrunch", "source_url": "https://techcrunch.com"}
    return entry(**(usual | source | values))


def headlines(url: str = ADDRESS) -> list[str]:
    return list(StoryRevision.objects.filter(story__original_url=url).order_by("revision").values_list("headline", flat=True))


def latest(url: str = ADDRESS) -> StoryRevision:
    return StoryRevision.objects.filter(story__original_url=url).order_by("-revision")[0]


def refusal(outcomes: list[Outcome | Rejected]) -> str:
    (outcome,) = outcomes
    assert isinstance(outcome, Rejected), outcome
    return outcome.code


# Edits


@pytest.mark.parametrize("field", ["title", "summary", "author"])
def test_an_edited_text_is_a_revision(feed: Feed, field: str) -> None:
    assert see(feed, quince(author="Ada Quill")) == [ACCEPTED]
    assert see(feed, quince(**{"author": "Ada Quill", field: "Somebody Else."}), now=NOW + HOUR) == [REVISED]


def test_going_back_to_the_older_headline_is_a_revision_too(feed: Feed) -> None:
    for number, title in enumerate(("A quince", "B quince", "A quince")):
        see(feed, quince(title=title), now=NOW + number * DAY)
    assert headlines() == ["A quince", "B quince", "A quince"]


def test_a_text_that_the_feed_leaves_out_is_kept(feed: Feed) -> None:
    see(feed, quince(author="Ada Quill"))
    assert see(feed, quince(author="", summary=""), now=NOW + HOUR) == [DUPLICATE]
    assert (latest().author, latest().summary_medium) == ("Ada Quill", "It is out.")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dated", "again"),
    [("2026-01-15T10:00:00Z", "2026-01-15T10:00:00Z"), ("2026-01-15T10:00:00Z", "2026-01-16T09:00:00Z"), (None, None)],
    ids=["the same item", "redated by its publisher", "its date estimated"],
)
def test_an_item_with_the_same_text_changes_no_row(feed: Feed, dated: str | None, again: str | None) -> None:
    see(feed, quince(published_at=dated))
    before = everything()
    assert see(feed, quince(published_at=again), now=NOW + 3 * DAY) == [DUPLICATE]
    assert everything() == before


def test_an_edit_that_comes_with_a_new_date_leaves_the_story_on_its_day(feed: Feed) -> None:
    see(feed, quince())
    see(feed, quince(title="Quince ships late", published_at="2026-01-16T09:00:00Z"), now=NOW + HOUR)
    assert (str(story_of(quince()).wire_date), f"{latest().published_at:%d %H}") == ("2026-01-15", "15 10")


def test_an_address_listed_twice_under_two_headlines_is_two_stories_whose_headlines_do_not_take_turns(feed: Feed) -> None:
    twice = (quince(title="Quince ships"), quince(title="Quince, updated"))
    assert [see(feed, *twice, now=NOW + run * HOUR) for run in range(3)] == [[ACCEPTED] * 2, [DUPLICATE] * 2, [DUPLICATE] * 2]
    assert [headlines(f"{ADDRESS}#{mark}") for mark in ("quince-ships", "quince-updated")] == [
        ["Quince ships"],
        ["Quince, updated"],
    ]


def test_an_item_listed_twice_counts_once(feed: Feed) -> None:
    assert see(feed, quince(), quince()) == [ACCEPTED, Outcome.REPEATED]
    assert Story.objects.count() == 1


# Recorded feeds


def replay(directory: Path, publication: str = "techcrunch") -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("ingest", from_files=directory, publication=publication, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue()


def record(directory: Path, **titles: str) -> None:
    for day, title in titles.items():
        (directory / f"2026-01-{day[1:]}.xml").write_text(rss(rss_item(title=title)))


@pytest.mark.parametrize("name", ["{now:%Y-%m-%d}.xml", "{now:%Y-%m-%d}T235959.xml"])
def test_a_file_of_today_is_not_replayed_in_the_future(tmp_path: Path, name: str) -> None:
    now = timezone.now()
    item = rss_item()
    del item["pubDate"]
    (tmp_path / name.format(now=now)).write_text(rss(item))
    replay(tmp_path)
    assert max(Story.objects.get().published_at, Snapshot.objects.get().generated_at) <= timezone.now()


def test_a_file_of_a_day_to_come_is_refused_by_name(tmp_path: Path) -> None:
    name = f"{timezone.now() + DAY:%Y-%m-%d}.xml"
    (tmp_path / name).write_text(rss(rss_item()))
    record(tmp_path, d15="Quince ships")
    with pytest.raises(CommandError, match=f"{name} is dated in the future"):
        replay(tmp_path)
    assert not Story.objects.exists()


def test_recorded_feeds_are_not_replayed_for_ever(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="not allowed with argument"):
        call_command("ingest", "--every", "30m", "--from-files", str(tmp_path))


@pytest.mark.slow
def test_a_headline_that_came_back_is_a_revision_once_however_often_it_is_replayed(tmp_path: Path) -> None:
    record(tmp_path, d15="A quince", d16="B quince", d17="A quince")
    replay(tmp_path)
    assert headlines("https://techcrunch.com/2026/01/15/item-0") == ["A quince", "B quince", "A quince"]
    before = everything()
    said, _ = replay(tmp_path)
    assert "3 duplicate, 0 snapshots" in said
    assert {name: rows for name, rows in everything().items() if name != "sources.IngestLease"} == {
        name: rows for name, rows in before.items() if name != "sources.IngestLease"
    }


def test_each_file_is_taken_in_at_its_own_time_however_that_is_written(tmp_path: Path) -> None:
    record(tmp_path, d16="Late")
    for name, title in (("2026-01-15.xml", "Evening"), ("2026-01-15T0800.xml", "Morning"), ("2026-01-15_12-00-00.xml", "Noon")):
        (tmp_path / name).write_text(rss(rss_item(title=title)))
    replay(tmp_path)
    rows = StoryRevision.objects.order_by("revision").values_list("headline", "recorded_at")
    assert [f"{headline} {moment:%F %T}" for headline, moment in rows] == [
        *("Morning 2026-01-15 08:00:00", "Noon 2026-01-15 12:00:00", "Evening 2026-01-15 23:59:59", "Late 2026-01-16 23:59:59")
    ]


def test_a_file_that_is_broken_or_empty_withdraws_nothing_and_the_broken_one_is_named(tmp_path: Path) -> None:
    record(tmp_path, d15="A quince")
    (tmp_path / "2026-01-16.xml").write_text(rss())
    (tmp_path / "2026-01-17.xml").write_bytes(b"<html>We are sorry</html>")
    (tmp_path / "2026-01-18.xml.gz").write_bytes(b"\x1f\x8b broken")
    _, err = replay(tmp_path)
    assert set(Story.objects.values_list("status", "current__headline")) == {("live", "A quince")}
    assert ["2026-01-16.xml" in err, "2026-01-17.xml" in err, "2026-01-18.xml.gz" in err] == [False, True, True]


def test_an_older_recording_brings_no_old_text_back(tmp_path: Path) -> None:
    record(tmp_path, d15="A quince", d17="C quince")
    replay(tmp_path)
    (tmp_path / "2026-01-17.xml").unlink()
    said, _ = replay(tmp_path)
    assert "1 duplicate" in said
    assert latest("https://techcrunch.com/2026/01/15/item-0").headline == "C quince"


# GUIDs


def test_an_article_that_moved_is_the_same_story_if_its_headline_is_the_same(feed: Feed) -> None:
    moved: dict[str, Any] = {"guid": "g-1", "url": "https://techcrunch.com/moved"}
    see(feed, quince(guid="g-1", title="Quince ships: “at last”"))
    see(feed, quince(**moved, title="QUINCE ships — 'at last'"), now=NOW + HOUR)
    assert (StoryAlias.objects.get().url, StoryAlias.objects.get().story) == (moved["url"], Story.objects.get())
    assert see(feed, quince(**moved, title="Quince ships late"), now=NOW + 2 * HOUR) == [REVISED]
    assert headlines()[-1] == "Quince ships late"


@pytest.mark.parametrize(
    ("publication", "other"),
    [
        ("techcrunch", {"url": "https://techcrunch.com/other", "title": "Gherkin ships"}),
        ("wired", {"url": "https://wired.com/quince"}),
    ],
)
def test_a_known_guid_merges_neither_another_headline_nor_another_publication(
    feed: Feed, publication: str, other: dict[str, str]
) -> None:
    see(feed, quince(guid="g-1"))
    assert see(feed_of(publication), quince(guid="g-1", **other)) == [ACCEPTED]
    assert not StoryAlias.objects.exists()


@pytest.mark.slow
def test_a_guid_that_thirty_items_share_makes_thirty_stories_and_stays_so(feed: Feed) -> None:
    shared = [entry(guid="feed") for _ in range(30)]
    assert see(feed, *shared) == [ACCEPTED] * 30
    before = everything()
    assert see(feed, *shared, now=NOW + HOUR) == [DUPLICATE] * 30
    assert see(feed, *reversed(shared), now=NOW + 2 * HOUR) == [DUPLICATE] * 30
    assert everything() == before


# Two feeds of one publication


@pytest.fixture
def second() -> Feed:
    return second_feed("techcrunch")


def test_the_story_follows_the_feed_that_told_of_it_first(feed: Feed, second: Feed) -> None:
    see(feed, quince())
    before = everything()
    assert see(second, quince(title="Quince, briefly", summary="Another text."), now=NOW + HOUR) == [DUPLICATE]
    assert everything() == before
    assert see(feed, quince(title="Quince ships late"), now=NOW + 2 * HOUR) == [REVISED]
    assert headlines() == ["Quince ships", "Quince ships late"]


@pytest.mark.slow
def test_a_second_feed_fills_in_what_the_first_lacks_and_it_stays_however_often_both_are_read(feed: Feed, second: Feed) -> None:
    see(feed, quince(summary=""))
    filled = quince(title="Quince, briefly", summary="It is out now.", author="Ada Quill")
    see(second, filled, now=NOW + HOUR)
    assert (latest().headline, latest().summary_medium, latest().author) == ("Quince ships", "It is out now.", "Ada Quill")
    assert latest().summary_short == "It is out now."
    before = everything()
    for run in range(2, 5):
        assert see(feed, quince(summary=""), now=NOW + run * HOUR) == [DUPLICATE]
        assert see(second, filled, now=NOW + run * HOUR) == [DUPLICATE]
    assert everything() == before


def test_a_second_feed_takes_over_for_good_when_the_first_is_switched_off(feed: Feed, second: Feed) -> None:
    see(feed, quince())
    Feed.objects.filter(pk=feed.pk).update(active=False)
    assert see(second, quince(title="Quince, briefly"), now=NOW + HOUR) == [REVISED]
    assert Story.objects.get().feed == second
    Feed.objects.filter(pk=feed.pk).update(active=True)
    assert see(feed, quince(title="Quince ships late"), now=NOW + 2 * HOUR) == [DUPLICATE]
    assert headlines() == ["Quince ships", "Quince, briefly"]


# What Google News tells too: its redirects are never followed, so only headline and time say what they lead to


def test_the_publishers_own_item_joins_the_story_that_google_news_told_first_and_has_the_say(
    feed: Feed, category_wire: Feed
) -> None:
    see(category_wire, by_news())
    see(feed, quince(), now=NOW + HOUR)
    assert (Story.objects.get().original_url, StoryAlias.objects.get().url) == (LINK, ADDRESS)
    assert latest(LINK).summary_medium == "It is out."
    assert see(feed, quince(title="Quince ships late"), now=NOW + 2 * HOUR) == [REVISED]
    assert see(category_wire, by_news(title="Quince, says Google"), now=NOW + 3 * HOUR) == [DUPLICATE]
    assert latest(LINK).headline == "Quince ships late"


@pytest.mark.slow
@pytest.mark.parametrize("own_feed_is_active", [True, False])
def test_google_news_is_an_alias_of_a_known_story_and_never_revises_it(
    feed: Feed, category_wire: Feed, own_feed_is_active: bool
) -> None:
    see(feed, quince())
    assert see(category_wire, by_news(title="QUINCE ships!", summary="Says Google."), now=NOW + HOUR) == [Outcome.MERGED]
    assert (Story.objects.get().original_url, StoryAlias.objects.get().url) == (ADDRESS, LINK)
    Feed.objects.filter(pk=feed.pk).update(active=own_feed_is_active)
    before = everything()
    changed = by_news(title="Quince, says Google", summary="Says Google.")
    assert see(category_wire, changed, now=NOW + 2 * HOUR) == [DUPLICATE]
    assert everything() == before


@pytest.mark.parametrize(("hours", "stories"), [(71, 1), (72, 1), (73, 2)])
@pytest.mark.parametrize("first", ["own", "news"])
def test_both_are_one_story_within_72_hours(feed: Feed, category_wire: Feed, hours: int, stories: int, first: str) -> None:
    later = NOW - 100 * HOUR + hours * HOUR
    own, news = (later, NOW - 100 * HOUR) if first == "news" else (NOW - 100 * HOUR, later)
    told = [(feed, quince(published_at=own)), (category_wire, by_news(published_at=news))]
    for where, item in told if first == "own" else reversed(told):
        see(where, item)
    assert Story.objects.count() == stories


def test_another_publications_story_of_the_same_headline_is_not_joined(category_wire: Feed) -> None:
    see(feed_of("wired"), quince(url="https://wired.com/quince"))
    assert see(category_wire, by_news()) == [ACCEPTED]


def test_a_search_and_a_feed_of_one_publication_tell_one_story(search: Feed) -> None:
    own = second_feed("reuters", url="https://www.reuters.com/rss")
    source = {"credited_source": "Reuters", "source_url": "https://www.reuters.com"}
    see(search, by_news(title="AI quince ships", **source))
    see(own, quince(title="AI quince ships", url="https://www.reuters.com/quince"), now=NOW + HOUR)
    edited = quince(title="AI quince ships late", url="https://www.reuters.com/quince")
    assert see(own, edited, now=NOW + 2 * HOUR) == [REVISED]
    assert Story.objects.get().feed == own


# Whose an item is


@pytest.mark.parametrize(
    ("name", "site"),
    [
        ("TechCrunch", "https://techcrunch.com"),
        ("", ""),
        ("Reuters", "https://evil.example"),
        ("Reuters", "https://reuters.com.evil.example"),
    ],
)
def test_a_search_refuses_what_another_outlet_a_look_alike_or_nobody_wrote(search: Feed, name: str, site: str) -> None:
    told = by_news(title="AI quince ships", credited_source=name, source_url=site)
    assert refusal(see(search, told)) == "source_not_this_publication"
    assert not Story.objects.exists()


def test_a_search_takes_the_publications_own_and_says_by_what_way_it_came(search: Feed) -> None:
    source = {"credited_source": "Reuters", "source_url": "https://www.reuters.com"}
    assert see(search, by_news(title="AI quince ships", **source)) == [ACCEPTED]
    assert (latest(LINK).original_publisher, latest(LINK).via, latest(LINK).credited_source) == ("Reuters", "Google News", None)


def test_the_category_wire_gives_an_item_to_the_publication_that_wrote_it_or_credits_whom_it_does_not_know(
    category_wire: Feed,
) -> None:
    see(category_wire, by_news(), by_news(url=f"{LINK}2", credited_source="The Daily Bugle", source_url="https://bugle.example"))
    told = [
        (one.original_publisher, one.original_publisher_tier, one.via, one.credited_source)
        for one in (latest(LINK), latest(f"{LINK}2"))
    ]
    assert told == [("TechCrunch", 2, "Google News", None), ("Google News", 4, None, "The Daily Bugle")]


@pytest.mark.parametrize(
    ("name", "site"),
    [
        ("Reuters", "https://reuters.com.evil.example"),
        ("Reuters", "https://reuters-news.example"),
        ("Reuters", "https://www.techcrunch.com"),
        ("Reuters", "javascript:alert(1)"),
        ("Ｒеuters", "https://evil.example"),
        ("Reuters Wire", "https://rеuters.com"),
    ],
)
def test_a_look_alike_is_never_taken_for_a_publication_of_the_roster(category_wire: Feed, name: str, site: str) -> None:
    see(category_wire, by_news(credited_source=name, source_url=site))
    assert latest(LINK).original_publisher == "Google News"


# Dates


@pytest.mark.parametrize(
    "date",
    [
        *(None, "", "yesterday", "0001-01-01T00:00:00Z", "1970-01-01T00:00:00Z", "1989-12-31", "2026-02-30"),
        *("2026-01-18T13:00:00Z", "9999-12-31T23:59:59Z", "Thu, 15 Jan 0026 10:00:00 GMT", NOW + 5 * HOUR),
    ],
)
def test_a_missing_absurd_or_future_date_becomes_the_time_it_was_first_seen(feed: Feed, date: str | dt.datetime | None) -> None:
    assert see(feed, quince(published_at=date)) == [ACCEPTED]
    assert (latest().published_at, latest().published_at_estimated) == (NOW, True)


@pytest.mark.parametrize(
    ("date", "bound"),
    [
        ("2026-01-15T10:00:00", False),
        ("2026-01-15 10:00", False),
        (dt.datetime(2026, 1, 15, 10), False),  # noqa: DTZ001
        ("2026-01-15T10:00:00Z", True),
    ],
)
def test_a_date_without_a_zone_is_utc_and_a_bound_of_a_sitemap_is_an_estimate(
    feed: Feed, date: str | dt.datetime, bound: bool
) -> None:
    see(feed, quince(published_at=date, published_at_estimated=bound))
    assert (latest().published_at, latest().published_at_estimated) == (dt.datetime(2026, 1, 15, 10, tzinfo=dt.UTC), bound)


@pytest.mark.parametrize(
    ("item", "code"),
    [
        ({"published_at": "2015-12-11T10:00:00Z"}, "date_too_old"),
        ({"url": "https://www.bloomberg.com/news/quince"}, "url_of_another_publication"),
    ],
)
def test_what_is_old_or_of_another_publication_is_refused(feed: Feed, item: dict[str, str], code: str) -> None:
    assert refusal(see(feed, quince(**item))) == code
    assert not Story.objects.exists()


# What editors said


@pytest.fixture
def story_id(feed: Feed) -> str:
    see(feed, quince())
    publish_pending(now=NOW)
    return story_of(quince()).chatbotnews_id


def correct(story_id: str) -> None:
    corrections.correct_texts(story_id, headline="Quince does not ship", reason="It did not.", now=NOW + HOUR)


@pytest.mark.slow
def test_a_correction_survives_every_fetch_until_the_publisher_changes_that_text_itself(feed: Feed, story_id: str) -> None:
    correct(story_id)
    before = everything()
    assert see(feed, quince(), now=NOW + DAY) == [DUPLICATE]
    assert everything() == before
    assert see(feed, quince(summary="It is not out."), now=NOW + 2 * DAY) == [REVISED]
    assert see(feed, quince(summary="It is not out."), now=NOW + 3 * DAY) == [DUPLICATE]
    assert (latest().headline, latest().summary_medium) == ("Quince does not ship", "It is not out.")
    assert latest().status == "corrected"
    assert see(feed, quince(title="Quince is late", summary="It is not out."), now=NOW + 4 * DAY) == [REVISED]
    assert latest().headline == "Quince is late"


def test_an_article_that_moves_after_a_correction_is_still_the_same_story(feed: Feed, story_id: str) -> None:
    Story.objects.filter(chatbotnews_id=story_id).update(guid="quince-1")
    correct(story_id)
    assert see(feed, quince(url=f"{ADDRESS}-moved", guid="quince-1"), now=NOW + DAY) == [Outcome.MERGED]
    assert Story.objects.count() == 1


def test_a_withdrawn_story_stays_withdrawn_whatever_its_feed_or_google_news_says(
    feed: Feed, category_wire: Feed, story_id: str
) -> None:
    corrections.withdraw_story(story_id, reason="Retracted.", now=NOW + HOUR)
    before = everything()
    assert see(feed, quince(title="Quince ships again"), now=NOW + DAY) == [DUPLICATE]
    assert publish_pending(now=NOW + DAY) == []
    assert everything() == before
    assert see(category_wire, by_news(), now=NOW + DAY) == [DUPLICATE]
    assert Story.objects.get().status == "withdrawn"


def test_an_editors_category_and_topics_are_kept_through_the_publishers_edits(feed: Feed, story_id: str) -> None:
    corrections.classify_story(story_id, category=Category.ANALYSIS, topics=[Topic.XAI], reason="So.", now=NOW + HOUR)
    assert see(feed, quince(title="OpenAI raises $40 million in a funding round"), now=NOW + DAY) == [REVISED]
    assert (latest().category, latest().topics) == ("analysis", ["xai"])


OBSERVED = st.fixed_dictionaries(
    {
        "url": st.sampled_from([ADDRESS, f"{ADDRESS}-2", f"{ADDRESS}/?utm_source=x", LINK]),
        "title": st.sampled_from(["Quince ships", "QUINCE ships!", "Quince ships late"]),
        "summary": st.sampled_from(["", "It is out.", "It is not out."]),
        "guid": st.sampled_from(["", "g-1", "g-2"]),
        "published_at": st.sampled_from([None, "2026-01-15T10:00:00Z", "2026-01-10T10:00:00Z"]),
    }
)
FETCHES = st.lists(st.tuples(st.integers(0, 2), st.lists(OBSERVED, min_size=1, max_size=4)), min_size=1, max_size=6)


def seen_item(url: str, title: str, summary: str, guid: str, day: int | None = None) -> dict[str, Any]:
    date = day and f"2026-01-{day}T10:00:00Z"
    return {"url": url, "title": title, "summary": summary, "guid": guid, "published_at": date}


# Once replayed otherwise: an item is like a story that a later item of its document makes, and like an older one; a story's feed
# is another today; an item of a shared page joined the story of Google News although their guids differ, or by its guid
# alone; a later item of the document revises the story that an item was found not to be.
LATER_IN_DOCUMENT: Final = [
    (1, [seen_item(ADDRESS, "QUINCE ships!", "It is out.", "g-2")]),
    (
        0,
        [
            seen_item(ADDRESS, "Quince ships late", "", "g-2", 15),
            seen_item(ADDRESS, "Quince ships", "", "g-1"),
            seen_item(ADDRESS, "Quince ships late", "It is out.", "", 15),
        ],
    ),
]
FEED_TAKES_OVER: Final = [
    (2, [seen_item(ADDRESS, "Quince ships late", "", "g-1", 10)]),
    (2, [seen_item(ADDRESS, "Quince ships", "It is not out.", "g-2", 10)]),
    (0, [seen_item(ADDRESS, "Quince ships late", "", "g-1", 15)]),
]

GOOGLE_NEWS_GUID: Final = [
    (1, [seen_item(LINK, "Quince ships", "", "g-2")]),
    (1, [seen_item(ADDRESS, "Quince ships late", "", "", 15), seen_item(ADDRESS, "Quince ships", "", "g-1", 15)]),
]

THREE_AT_ONE_LINK: Final = [
    (1, [seen_item(ADDRESS, "Quince ships", "", "g-2", 15)]),
    (
        1,
        [
            seen_item(LINK, "Quince ships late", "It is not out.", "g-2", 15),
            seen_item(LINK, "Quince ships late", "It is out.", ""),
            seen_item(LINK, "Quince ships", "", "g-1"),
        ],
    ),
]

OTHER_ITEM_REVISES: Final = [
    (2, [seen_item(ADDRESS, "Quince ships", "", ""), seen_item(LINK, "Quince ships late", "It is out.", "g-2", 15)]),
    (
        2,
        [
            seen_item(LINK, "QUINCE ships!", "It is out.", "g-1", 15),
            seen_item(LINK, "QUINCE ships!", "It is not out.", ""),
            seen_item(f"{ADDRESS}-2", "Quince ships", "It is out.", "g-1", 15),
        ],
    ),
]


@pytest.mark.slow
@given(FETCHES)
@example(OTHER_ITEM_REVISES)
@example(THREE_AT_ONE_LINK)
@example(LATER_IN_DOCUMENT)
@example(GOOGLE_NEWS_GUID)
@example(FEED_TAKES_OVER)
@examples(25)
def test_whatever_feeds_showed_replaying_it_in_order_changes_not_a_byte(
    tmp_path: Path, fetches: list[tuple[int, list[dict[str, Any]]]]
) -> None:
    empty_wire()
    feeds = [feed_of("techcrunch"), second_feed("techcrunch"), feed_of("google-news")]
    source = {"credited_source": "TechCrunch", "source_url": "https://techcrunch.com"}

    def replay() -> bytes:
        for number, (which, items) in enumerate(fetches):
            now, feed = NOW + number * DAY, feeds[which]
            by = source if feed.feed_type == FeedType.QUERY else {}
            see(feed, *(entry(**item, **by) for item in items), now=now)
            publish_pending(now=now)
        return dump(tmp_path / "dump.ndjson")

    assert replay() == replay()


# What reviewers of such rules ask


def test_a_title_used_twice_within_72_hours_stays_two_stories_beside_google_news(feed: Feed, category_wire: Feed) -> None:
    see(category_wire, by_news())
    first, second = quince(), quince(url=f"{ADDRESS}-2", summary="Another day.", published_at="2026-01-15T12:00:00Z")
    see(feed, first, second)
    assert Story.objects.count() == 2
    for order in ((first, second), (second, first)):
        assert see(feed, *order, now=NOW + HOUR) == [DUPLICATE, DUPLICATE]


def test_google_news_that_still_tells_the_older_headline_is_the_same_story(feed: Feed, category_wire: Feed) -> None:
    see(feed, quince())
    see(feed, quince(title="Quince ships late"), now=NOW + HOUR)
    assert see(category_wire, by_news(), now=NOW + 2 * HOUR) == [Outcome.MERGED]
    assert Story.objects.count() == 1


def test_what_an_editor_took_out_is_not_filled_in_by_another_feed(feed: Feed) -> None:
    see(feed, quince(author="Ann Osprey"))
    publish_pending(now=NOW)
    corrections.correct_texts(story_of(quince()).chatbotnews_id, summary="", author="", reason="Untrue.", now=NOW + HOUR)
    second = second_feed("techcrunch")
    assert see(second, quince(author="A. Osprey", summary="Out it is."), now=NOW + DAY) == [DUPLICATE]
    assert latest().summary_medium == ""
