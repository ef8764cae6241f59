"""Which items are one article: what forbids merging two, and what shows that two addresses lead to one."""

import datetime as dt
import random
from collections import Counter
from typing import Any

import pytest
from django.test import Client

from sources.entries import Entry
from sources.models import Feed
from tests.examples import FULL
from tests.factories import NOW, entry, feed_of, see
from tests.wire.archives import empty_wire, everything, verifywire
from wire import queries
from wire.ingest.draft_comparison import Outcome
from wire.ingest.normalise import Rejected
from wire.models import Story, StoryAlias, StoryRevision
from wire.publishing.publish import publish_pending
from wire.text.identity import canonical_url

pytestmark = pytest.mark.django_db

HOUR = dt.timedelta(hours=1)
DAY = dt.timedelta(days=1)
PAGE = "https://techcrunch.com/changelog"
ACCEPTED, REVISED, DUPLICATE = Outcome.ACCEPTED, Outcome.REVISED, Outcome.DUPLICATE
MERGED, POSTPONED = Outcome.MERGED, Outcome.POSTPONED


@pytest.fixture
def feed() -> Feed:
    return feed_of("techcrunch")


def quince(**values: Any) -> Entry:
    usual = {"url": "https://techcrunch.com/2026/01/15/quince-ships", "title": "Quince ships", "summary": "It is out."}
    return entry(**(usual | values))


def addresses() -> list[str]:
    return sorted(Story.objects.values_list("original_url", flat=True))


def headlines() -> list[str]:
    return list(StoryRevision.objects.order_by("revision").values_list("headline", flat=True))


# Items that share an address. These pairs hold for ever: the id of a story is made of its address.


@pytest.mark.parametrize(
    ("item", "address", "story_id"),
    [
        ({"url": f"{PAGE}#2026-01-14", "guid": "c-14"}, f"{PAGE}#2026-01-14", "cbn-2tzs6mwyetxx"),
        ({"url": f"{PAGE}#!/posts/14?tab=2"}, f"{PAGE}#!/posts/14?tab=2", "cbn-ntkvk5wan6xf"),
        ({"url": f"{PAGE}#caf%c3%a9 é"}, f"{PAGE}#caf%C3%A9%20%C3%A9", "cbn-2ahqnftbhc78"),
        ({"url": PAGE, "guid": "tag:techcrunch.com,2026:14 b"}, f"{PAGE}#tag:techcrunch.com,2026:14%20b", "cbn-wth7mysdterv"),
        ({"url": PAGE, "guid": PAGE}, f"{PAGE}#gherkin-ships-at-last", "cbn-s1ynynw5m4cm"),
        ({"url": PAGE}, f"{PAGE}#gherkin-ships-at-last", "cbn-s1ynynw5m4cm"),
        ({"url": PAGE, "title": "…!"}, f"{PAGE}#%E2%80%A6!", "cbn-c2033k2ye1e5"),
        ({"url": PAGE, "guid": "g" * 500}, f"{PAGE}#{'g' * 187}-rqsy7qs8r8ve", "cbn-3v2jc414r1cd"),
    ],
    ids=["fragment", "route", "spelling of a fragment", "guid", "guid that is the page", "headline", "headline of signs", "length"],
)
def test_an_item_that_shares_its_page_has_an_address_made_of_what_is_its_own(
    feed: Feed, item: dict[str, str], address: str, story_id: str
) -> None:
    shared = quince(url=PAGE, guid="other")
    assert see(feed, shared, quince(**{"title": "Gherkin ships: at last", **item})) == [ACCEPTED, ACCEPTED]
    (story,) = Story.objects.exclude(guid="other")
    assert (story.original_url, story.chatbotnews_id) == (address, story_id)


def test_an_item_alone_on_its_page_has_the_pages_address_whatever_its_fragment(feed: Feed) -> None:
    see(feed, quince(url=f"{PAGE}#2026-01-14", guid="c-14"))
    assert addresses() == [PAGE]


@pytest.mark.slow
def test_items_of_one_page_stay_apart_when_fetched_one_by_one(feed: Feed) -> None:
    items = [quince(url=PAGE, guid=f"g-{n}", title=f"Gherkin number {n} ships") for n in range(4)]
    for number, item in enumerate(items):
        assert see(feed, item, now=NOW + number * HOUR) == [ACCEPTED]
    assert addresses() == [PAGE, *(f"{PAGE}#g-{n}" for n in (1, 2, 3))]
    before = everything()
    for shown in (items, items[::-1], items[1:2], items[2:]):
        assert set(see(feed, *shown, now=NOW + DAY)) == {DUPLICATE}
    assert everything() == before


def test_an_item_stays_with_the_story_of_its_headline_when_its_guid_becomes_anothers(feed: Feed) -> None:
    other = quince(url=PAGE, guid="g-1", title="Gherkin ships: at last")
    see(feed, quince(url=PAGE))
    assert see(feed, quince(url=PAGE, guid="g-1"), now=NOW + HOUR) == [DUPLICATE]
    assert see(feed, other, quince(url=PAGE), now=NOW + 2 * HOUR) == [ACCEPTED, DUPLICATE]
    assert see(feed, quince(url=PAGE, guid="g-1"), now=NOW + 3 * HOUR) == [DUPLICATE]


def test_a_fragment_that_is_used_again_for_another_item_makes_another_story(feed: Feed) -> None:
    for day in range(5):
        latest = [quince(url=f"{PAGE}#latest", guid=f"g-{day}", title=f"Gherkin of day {day}"), quince(url=PAGE, guid="about")]
        assert see(feed, *latest, now=NOW + day * DAY)[0] == ACCEPTED
    assert Story.objects.count() == 6
    assert set(Counter(StoryRevision.objects.values_list("story", flat=True)).values()) == {1}


def test_episodes_of_one_title_on_one_page_are_told_apart_by_guid_and_date(feed: Feed) -> None:
    episodes = [quince(url=PAGE, guid=f"e-{day}", published_at=f"2026-01-{day}T10:00:00Z") for day in (13, 14, 15)]
    assert see(feed, *episodes) == [ACCEPTED] * 3
    assert see(feed, *episodes[::-1], now=NOW + HOUR) == [DUPLICATE] * 3
    assert see(feed, quince(url=PAGE, guid="e-16", published_at="2026-01-16T10:00:00Z"), episodes[2], now=NOW + HOUR)[0] == ACCEPTED


def test_a_yearly_column_at_one_address_is_a_story_each_year(feed: Feed) -> None:
    for year in (2024, 2025, 2026):
        now = NOW.replace(year=year)
        column = quince(title=f"The gifts of {year}", guid="gifts", published_at=now - HOUR)
        assert see(feed, column, now=now) == [ACCEPTED]
        assert see(feed, column, now=now + DAY) == [DUPLICATE]
    address = quince().url
    assert addresses() == [address, f"{address}#gifts", f"{address}#the-gifts-of-2026"]


# One article under two addresses


@pytest.mark.slow
@pytest.mark.parametrize(
    "moved",
    [
        {"url": "https://www.techcrunch.com/2026/01/15/quince-ships"},
        {"url": "https://m.techcrunch.com/2026/01/15/quince-ships"},
        {"url": "https://techcrunch.com/2026/01/15/quince-ships/amp/"},
        {"url": "https://techcrunch.com/2026/01/15/quince-ships?amp=1", "summary": "It is out, in short."},
        {"url": "https://techcrunch-com.cdn.ampproject.org/c/s/techcrunch.com/2026/01/15/quince-ships"},
        {"url": "https://go.techcrunch.com/r?id=77"},
        {"url": "https://techcrunch.com/hardware/quince-ships.html", "published_at": "2026-01-15T11:30:00Z", "guid": ""},
        {"url": "https://techcrunch.com/quince-is-out", "guid": "g-1", "published_at": "2026-01-15T12:00:00Z"},
        {"url": "https://techcrunch.com/quince-is-out", "guid": "g-1", "title": "Quince ships late"},
    ],
    ids=["www", "m", "amp", "amp=1", "AMP cache", "redirector", "section", "slug, edited", "slug and headline"],
)
def test_another_address_of_an_article_becomes_an_alias(feed: Feed, moved: dict[str, str]) -> None:
    see(feed, quince(guid="g-1"))
    assert see(feed, quince(**({"guid": "g-2"} | moved)), now=NOW + 2 * HOUR)[0] in (MERGED, REVISED)
    assert (Story.objects.count(), StoryAlias.objects.get().url) == (1, moved["url"].rstrip("/"))


@pytest.mark.parametrize(
    "other",
    [
        {"guid": "g-1", "title": "Gherkin ships", "url": "https://techcrunch.com/gherkin"},
        {"guid": "g-1", "url": "https://techcrunch.com/morning/24", "published_at": "2026-01-14T10:00:00Z", "summary": "Other."},
        {"guid": "g-2", "url": "https://techcrunch.com/b", "published_at": "2026-01-15T12:00:00Z"},
        {"guid": "g-2", "url": "https://techcrunch.com/2026/01/16/quince-ships", "published_at": "2026-01-16T10:00:00Z"},
        {"guid": "g-2", "url": "https://techcrunch.com/quince-ships", "published_at": "2026-01-16T10:00:00Z"},
    ],
    ids=[
        "guid alone",
        "guid and title of a column",
        "title alone",
        "title and slug of two days",
        "title and tail, guid and time differ",
    ],
)
def test_one_agreement_merges_nothing(feed: Feed, other: dict[str, str]) -> None:
    see(feed, quince(guid="g-1"))
    assert see(feed, quince(**other), now=NOW + HOUR) == [ACCEPTED]
    assert not StoryAlias.objects.exists()


def test_two_articles_that_name_only_their_day_are_one_only_with_the_same_summary(feed: Feed) -> None:
    day = "2026-01-15"
    see(feed, quince(published_at=day))
    assert see(feed, quince(url="https://techcrunch.com/b", published_at=day, summary="Another text.")) == [ACCEPTED]
    assert see(feed, quince(url="https://techcrunch.com/c", published_at=day)) == [MERGED]


def test_the_texts_of_an_article_listed_under_two_addresses_are_read_at_its_first(feed: Feed) -> None:
    items = [quince(), quince(url="https://techcrunch.com/2026/01/15/quince-ships/amp", summary="It is out, in short.")]
    assert see(feed, *items) == [ACCEPTED, MERGED]
    before = everything()
    for run, shown in enumerate((items, items[::-1], items)):
        assert DUPLICATE in see(feed, *shown, now=NOW + (2 + run) * HOUR)
    assert everything() == before


# Revisions


@pytest.mark.parametrize(
    ("first", "then"),
    [
        (" Points: 17 Comments: 3", " Points: 26 Comments: 7"),
        (" Points: 12, Comments: 3", " Points: 1,044, Comments: 77"),
        (" It takes 4 min read.", " It takes 5 min read."),
        (" Updated 5 minutes ago.", " Updated an hour ago."),
        (" It  is out.", " It is out. "),
    ],
)
def test_a_counter_makes_no_revision(feed: Feed, first: str, then: str) -> None:
    opening = "The maker of gherkins sold its first robot to a farm on Tuesday."
    see(feed, quince(summary=opening + first))
    assert StoryRevision.objects.get().summary_medium.startswith(opening)
    assert see(feed, quince(summary=opening + then), now=NOW + 2 * HOUR) == [DUPLICATE]


@pytest.mark.slow
def test_headlines_that_take_turns_make_two_revisions_in_a_day(feed: Feed) -> None:
    outcomes = [see(feed, quince(title=f"{'AB'[hour % 2]} quince"), now=NOW + hour * HOUR)[0] for hour in range(24)]
    assert outcomes == [ACCEPTED, REVISED, *[POSTPONED, DUPLICATE] * 11]
    assert headlines() == ["A quince", "B quince"]
    assert see(feed, quince(title="A quince"), now=NOW + 26 * HOUR) == [REVISED]  # a day later it stands


# Dates that the publisher mends


@pytest.mark.slow
@pytest.mark.parametrize(
    ("first", "right"),
    [
        (None, "2026-01-16T08:00:00Z"),
        ("2026-01-16T14:00:00Z", "2026-01-16T11:00:00Z"),
        ("2062-01-16T09:00:00Z", "2026-01-16T09:00:00Z"),
        ("2026-01-14T09:00:00Z", "2026-01-16T09:00:00Z"),
    ],
    ids=["missing", "ahead", "far ahead", "of another day"],
)
def test_a_date_that_is_mended_moves_the_story_in_lists_and_search(
    feed: Feed, client: Client, first: str | None, right: str
) -> None:
    see(feed, quince(published_at=first))
    earlier, later = "2026-01-16T07:00:00Z", "2026-01-16T11:30:00Z"
    see(feed, *(entry(title=f"Quince {when}", published_at=when) for when in (earlier, later)))
    publish_pending(now=NOW)
    day = Story.objects.get(original_url=quince().url).wire_date
    assert see(feed, quince(published_at=right), now=NOW + HOUR) == [REVISED]
    publish_pending(now=NOW + HOUR)
    story = Story.objects.get(original_url=quince().url)
    assert (story.published_at, story.wire_date) == (dt.datetime.fromisoformat(right), day)
    assert [f"{found.published_at:%FT%TZ}" for found in queries.list_stories(3).stories] == [later, right, earlier]
    shown = client.get("/api/search.json", {"query": "quince", "sort": "newest"}).json()["stories"]
    assert [found["published_at"] for found in shown] == [later, right, earlier]
    assert not shown[1]["published_at_estimated"]
    verifywire()
    assert see(feed, quince(published_at=right), now=NOW + DAY) == [DUPLICATE]


def test_dates_that_were_mended_twice_stay_when_the_feeds_are_replayed(feed: Feed) -> None:
    shown = [quince(published_at=date) for date in (None, "2026-01-15T10:00:00Z", "2026-01-13T10:00:00Z")]

    def replay() -> list[Outcome | Rejected]:
        return [see(feed, item, now=NOW + day * DAY)[0] for day, item in enumerate(shown)]

    assert replay() == [ACCEPTED, REVISED, REVISED]
    before = everything()
    assert replay() == [DUPLICATE] * 3
    assert everything() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    ("date", "hours"),
    [("2026-01-16T15:00:00Z", 4), ("2026-01-13T10:00:00Z", 24 * 6), ("2026-01-15T09:00:00Z", 4)],
    ids=["date of the fetch", "final day", "by an hour"],
)
def test_other_dates_change_nothing(feed: Feed, date: str, hours: int) -> None:
    see(feed, quince())
    before = everything()
    assert see(feed, quince(published_at=date), now=NOW + hours * HOUR) == [DUPLICATE]
    assert everything() == before


# Random feeds whose items are one article or several by construction


class Press:
    """A publisher whose articles are numbered, and shown as feeds show them."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.number = 0

    def articles(self) -> list[tuple[str, list[Entry]]]:
        """Return a few articles of one kind: a key each, and the items that show it, the first of which comes first."""
        kinds = [self.shares_page, self.shares_guid, self.moves, self.has_forms, self.recurs, self.is_edited, self.is_renamed]
        return self.random.choice([*kinds, self.names_day_alone, self.shares_slug, self.shares_slug_of_other_days])()

    def late_articles(self) -> list[tuple[str, list[Entry]]]:
        """Return articles at an address that showed another before: the older one first, and the one that took its place."""
        (older, item), (younger, other) = self.article(), self.article()
        if self.random.random() < 0.5:  # of another year, as a list of gifts
            other |= {"guid": item["guid"]}
            item |= {"published_at": other["published_at"] - 200 * DAY}
        return [(older, [entry(**item)]), (younger, [entry(**(other | {"url": item["url"]}))])]

    def article(self, **values: Any) -> tuple[str, dict[str, Any]]:
        self.number += 1
        n = self.number
        moment = NOW - dt.timedelta(minutes=7 * n % 4000 + 1, seconds=n % 60)
        usual = {
            "url": f"https://techcrunch.com/2026/01/{moment.day}/quince-{n}-learns-{n * 7919}",
            "title": f"Quince {n} learns {n * 7919}",
            "summary": f"This is number {n}. There is more in {n * 7919}.",
            "guid": f"guid-{n}",
            "published_at": moment,
        }
        return f"{n}", usual | values

    def shares_page(self) -> list[tuple[str, list[Entry]]]:
        self.number += 1
        page, has_fragment = f"https://techcrunch.com/live/{self.number}", self.random.random() < 0.5
        usual: dict[str, str] = self.random.choice([{}, {"guid": ""}, {"guid": "0"}, {"title": f"Episode of {self.number}"}])
        made = [self.article(url=page, **usual) for _ in range(self.random.randint(2, 4))]
        return [(n, [entry(**(item | ({"url": f"{page}#p-{n}"} if has_fragment else {})))]) for n, item in made]

    def shares_guid(self) -> list[tuple[str, list[Entry]]]:
        guid = self.random.choice(["0", "feed", "https://techcrunch.com/"])
        return [(n, [entry(**item)]) for n, item in (self.article(guid=guid) for _ in range(3))]

    def moves(self) -> list[tuple[str, list[Entry]]]:
        n, item = self.article()
        moved = self.random.choice([f"/hardware/{item['url'].rpartition('/')[2]}", f"/?p={n}"])
        dated_anew = {"guid": "", "published_at": item["published_at"] + dt.timedelta(minutes=30)} if "?" not in moved else {}
        return [
            (n, [entry(**item), entry(**(item | {"url": f"https://techcrunch.com{moved}"} | self.random.choice([{}, dated_anew])))])
        ]

    def has_forms(self) -> list[tuple[str, list[Entry]]]:
        n, item = self.article()
        path = item["url"].removeprefix("https://techcrunch.com")
        forms = [f"https://www.techcrunch.com{path}", f"https://m.techcrunch.com{path}", f"https://techcrunch.com{path}/amp"]
        forms += [f"https://techcrunch.com{path}?amp=1", f"https://go.techcrunch.com/r/{n}"]
        other = item | {"url": self.random.choice(forms), "guid": self.random.choice([item["guid"], "", f"other-{n}"])}
        other |= self.random.choice([{}, {"summary": f"Number {n}, in short."}])
        return [(n, [entry(**item), entry(**other)])]

    def recurs(self) -> list[tuple[str, list[Entry]]]:
        self.number += 1
        title, summary = f"This morning of {self.number}", self.random.choice(["", "All that matters."])
        made = [self.article(title=title, summary=summary or f"Text {n}.") for n in range(3)]
        return [(n, [entry(**item)]) for n, item in made]

    def is_renamed(self) -> list[tuple[str, list[Entry]]]:
        n, item = self.article()
        edited = item | {"title": f"{item['title']} at last", "url": f"https://techcrunch.com/r-{n}"}
        return [(n, [entry(**item), entry(**edited)])]

    def names_day_alone(self) -> list[tuple[str, list[Entry]]]:
        self.number += 1
        day = dt.datetime(2026, 1, self.random.randint(10, 15), tzinfo=dt.UTC)
        usual = {"title": f"Today's pick {self.number}", "guid": "", "published_at": day}
        made = [self.article(**usual) for _ in range(2)]
        return [(n, [entry(**item), entry(**(item | {"url": f"https://go.techcrunch.com/r/{n}"}))]) for n, item in made]

    def shares_slug(self) -> list[tuple[str, list[Entry]]]:
        self.number += 1
        name, title = f"weekly-note-{self.number}", f"Weekly note {self.number}"
        made = [self.article(title=title, url=f"https://techcrunch.com/{section}/{name}") for section in ("ai", "robots")]
        return [(n, [entry(**item)]) for n, item in made]

    def shares_slug_of_other_days(self) -> list[tuple[str, list[Entry]]]:
        self.number += 1
        name, usual = f"daily-note-{self.number}", {"title": f"Daily note {self.number}", "guid": ""}
        made = [self.article(**usual, url=f"https://techcrunch.com/2026/01/{day}/{name}") for day in (13, 14)]
        return [(n, [entry(**item)]) for n, item in made]

    def is_edited(self) -> list[tuple[str, list[Entry]]]:
        n, item = self.article()
        return [(n, [entry(**item), entry(**(item | {"title": f"{item['title']} at last", "url": f"{item['url']}/"}))])]


def follow_feed(seed: int) -> int:
    """Show a random feed several times, and compare its stories with its articles; return the number of items."""
    empty_wire()
    feed, press = feed_of("techcrunch"), Press(seed)
    articles = [article for _ in range(60) for article in press.articles()]
    replaced = [press.late_articles() for _ in range(8)]
    articles += [older for older, _ in replaced]
    first = [shown[0] for _, shown in articles]
    press.random.shuffle(first)
    outcomes = see(feed, *first)
    assert not [outcome for outcome in outcomes if isinstance(outcome, Rejected)]
    assert told_stories() == Counter((shown[0].title, shown[0].published_at) for _, shown in articles), seed
    before = everything()
    press.random.shuffle(first)
    assert set(see(feed, *first, now=NOW + HOUR)) == {DUPLICATE}
    assert everything() == before
    again = [press.random.choice(shown) for _, shown in articles[: -len(replaced)]] + [shown[0] for _, (_, shown) in replaced]
    press.random.shuffle(again)
    see(feed, *again, now=NOW + 2 * HOUR)
    before = everything()
    assert Story.objects.count() == len(articles) + len(replaced), seed
    own = {canonical_url(item.url): canonical_url(shown[0].url) for _, shown in articles for item in shown}
    assert all(own[url] == address for url, address in StoryAlias.objects.values_list("url", "story__original_url")), seed
    press.random.shuffle(again)
    assert set(see(feed, *again, now=NOW + 4 * HOUR)) == {DUPLICATE}
    assert everything() == before
    return 2 * (len(first) + len(again))


def told_stories() -> Counter[tuple[str, dt.datetime]]:
    return Counter(StoryRevision.objects.values_list("headline", "published_at"))


@pytest.mark.slow
def test_of_the_items_of_a_random_feed_none_is_lost_and_none_merged_wrongly() -> None:
    follow_feed(0)


@pytest.mark.slow
def test_of_thousands_of_items_none_is_lost_and_none_merged_wrongly() -> None:
    least, seeds = (20_000, 43) if FULL else (4_000, 10)
    assert sum(follow_feed(seed) for seed in range(1, seeds)) >= least
