"""Reading again what was fetched, with newer rules: shown first, done then, and never against an editor."""

import datetime as dt
import io
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.core.management import CommandError, call_command
from django.db.models import F

from sources import job_lock, raw_store
from sources.models import Feed, FeedHealth, IngestLease, RawFetch
from tests.factories import entry, feed_of, publish, second_feed, see, served_feed
from tests.feedserver import FeedServer
from tests.wire.archives import dump, everything, rss, rss_item, verifywire
from tests.wire.desk import at_desk, run_at_once, words
from wire.admin import commands
from wire.ingest import article_pages, corrections, rebuild
from wire.ingest.run import run_ingest
from wire.models import LexiconTerm, Story, StoryRevision, WireState
from wire.text.choices import Category, Topic

pytestmark = pytest.mark.django_db

URL = "https://techcrunch.com/2026/01/15/item-0"
REASON = "Read again with newer rules."


@pytest.fixture(autouse=True)
def few_terms(db: None) -> None:  # noqa: ARG001
    """Two terms stand for the shipped lexicon, which takes a second to be made anew with each newer rule."""
    LexiconTerm.objects.all().delete()
    newer_rule("relevance", "ai", "AI", 3)
    newer_rule("category", "launches", "ships", 1)


def yesterday() -> dt.date:
    return dt.datetime.now(dt.UTC).date() - dt.timedelta(days=1)


@pytest.fixture
def feed(server: FeedServer) -> Feed:
    """TechCrunch's, which is about AI alone."""
    return served_feed(server, "techcrunch")


@pytest.fixture
def mixed(server: FeedServer) -> Feed:
    """Another of TechCrunch's, which brings all kinds of news."""
    served_feed(server, "engadget")  # whose robots.txt is known from then on
    return second_feed("techcrunch", url=server.url("/mixed"), ai_only=False)


def ingest(server: FeedServer, feed: Feed, *items: dict[str, str]) -> None:
    """The feed shows these items now, and a run takes them in."""
    dated = [{"pubDate": f"{dt.datetime.now(dt.UTC):%a, %d %b %Y} 00:00:00 GMT"} | item for item in items]
    server.route("/feed" if feed.url.endswith("/feed") else "/mixed", body=rss(*dated).encode())
    (report,) = run_ingest([Feed.objects.select_related("publication", "health").get(pk=feed.pk)], by_hand=True).reports
    assert report.result == "taken", report


def item(number: int = 0, **values: str) -> dict[str, str]:
    made = rss_item(number, **values)
    del made["pubDate"]
    return made


def command(**options: Any) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    call_command("rebuild", since=yesterday(), stdout=out, stderr=err, **options)
    return out.getvalue(), err.getvalue()


def newer_rule(kind: str, target: str, term: str, weight: float = 9) -> None:
    LexiconTerm.objects.create(kind=kind, target=target, term=term, weight=weight)


def latest(url: str = URL) -> StoryRevision:
    return StoryRevision.objects.filter(story__original_url=url).order_by("-revision")[0]


def an_hour_passes() -> None:
    """Since all that was recorded."""
    StoryRevision.objects.update(recorded_at=F("recorded_at") - dt.timedelta(hours=1))
    RawFetch.objects.update(fetched_at=F("fetched_at") - dt.timedelta(hours=1))


def wire_rows() -> dict[str, list[tuple[Any, ...]]]:
    return {name: rows for name, rows in everything().items() if name != "sources.IngestLease"}


@pytest.fixture
def quince(server: FeedServer, feed: Feed) -> Feed:
    """A feed whose one item was taken in, and which a newer rule would put into another category."""
    ingest(server, feed, item(title="Quince ships"))
    newer_rule("category", "funding", "quince")
    return feed


@pytest.mark.usefixtures("quince")
def test_a_changed_lexicon_gives_a_published_revision_that_says_why_and_asks_nobody(server: FeedServer) -> None:
    assert latest().category != "funding"
    newer_rule("topic", "nvidia", "quince")
    asked, health = len(server.requests), list(FeedHealth.objects.values())
    out, _ = command(yes=True)
    assert "Done: 0 added, 1 changed. Published: " in out
    assert (latest().revision, latest().category, latest().topics, latest().reason) == (2, "funding", ["nvidia", "funding"], REASON)
    story = Story.objects.get()
    assert (story.category, story.current, story.pending) == ("funding", latest(), False)
    assert "verify" in verifywire()
    assert "Nothing would change." in command(yes=True)[0]
    assert (len(server.requests), list(FeedHealth.objects.values()), RawFetch.objects.count()) == (asked, health, 1)


@pytest.mark.usefixtures("quince")
def test_at_the_desk_exactly_what_was_shown_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "run_process", run_at_once)
    desk, page = at_desk("editor"), "/admin/wire/lexiconterm/rebuild/"
    before = latest().pk
    shown = desk.post(page, {"since": str(yesterday())}, follow=True)
    assert "1 would change:" in words(shown)
    assert "Nothing was changed." in words(shown)
    assert latest().pk == before
    (before_that,) = re.findall(r'name="confirmed" value="([^"]+)"', shown.content.decode())
    shown = desk.post(page, {"since": str(yesterday()), "final_days": "on"}, follow=True)
    (of_final_days,) = re.findall(r'name="confirmed" value="([^"]+)"', shown.content.decode())
    shown = desk.post(page, {"since": str(yesterday())}, follow=True)
    (confirmed,) = re.findall(r'name="confirmed" value="([^"]+)"', shown.content.decode())
    for other in (before_that, of_final_days):  # each of the same minute
        assert "Nothing was changed: preview again" in words(desk.post(page, {"confirmed": other}, follow=True))
    with monkeypatch.context() as later:
        later.setattr(commands, "CONFIRMABLE", 0.0)
        assert "Nothing was changed: preview again" in words(desk.post(page, {"confirmed": confirmed}, follow=True))
    done = words(desk.post(page, {"confirmed": confirmed, "since": "2020-01-01"}, follow=True))
    assert "What was done" in done
    assert "Done: 0 added, 1 changed. Published: " in done
    assert "1 will change:" in done
    answer = desk.get(page)
    story = latest().story.chatbotnews_id
    assert f'<a href="/admin/wire/story/?q={story}">{story}</a>' in answer.content.decode()
    assert str(answer.context["form"].initial["since"]) == str(yesterday()), "it is not chosen again"
    assert latest().category == "funding"
    assert f"Started manage.py rebuild --since {yesterday()} --yes" in words(desk.get("/admin/admin/logentry/"))
    again = words(desk.post(page, {"confirmed": confirmed}, follow=True))
    assert ") was of something else, or is too old." in again


def test_what_was_refused_before_and_is_not_now_is_added(server: FeedServer, mixed: Feed) -> None:
    ingest(server, mixed, item(title="Quince ships", description="It is out."))
    assert not Story.objects.exists()
    newer_rule("relevance", "ai", "quince")
    out, _ = command(yes=True)
    assert "1 will be added:\n  'Quince ships'" in out
    assert "Done: 1 added, 0 changed. Published: " in out
    assert Story.objects.live().get().original_url == URL


def test_what_would_be_refused_today_is_listed_and_stays(server: FeedServer, mixed: Feed) -> None:
    ingest(server, mixed, item(title="AI quince ships", description="It is out."))
    newer_rule("relevance", "ai", "quince", -9)
    newer_rule("category", "funding", "quince")
    before = wire_rows()
    out, _ = command(yes=True)
    assert f"1 would be refused today and stay; withdraw them in the admin if they must go:\n  {Story.objects.get()} " in out
    assert wire_rows() == before
    assert Story.objects.live().exists()


def test_an_editors_correction_stands_however_often_it_is_rebuilt_and_through_the_next_fetch(
    server: FeedServer, quince: Feed
) -> None:
    corrections.correct_texts(Story.objects.get().chatbotnews_id, headline="Quince does not ship", reason="It did not.")
    for target, weight in (("funding", 9), ("analysis", 99)):
        LexiconTerm.objects.update_or_create(kind="category", target=target, term="quince", defaults={"weight": weight})
        command(yes=True)
        assert (latest().headline, latest().status, latest().category) == ("Quince does not ship", "corrected", target)
    an_hour_passes()
    ingest(server, quince, item(title="Quince ships"), item(1))
    assert latest().headline == "Quince does not ship"


@pytest.mark.usefixtures("quince")
def test_an_editors_category_and_topics_stand() -> None:
    story_id = Story.objects.get().chatbotnews_id
    corrections.classify_story(story_id, category=Category.ANALYSIS, topics=[Topic.XAI], reason="It is an essay.")
    newer_rule("topic", "nvidia", "quince")
    before = wire_rows()
    assert "Nothing would change." in command(yes=True)[0]
    assert wire_rows() == before


@pytest.mark.usefixtures("quince")
def test_a_withdrawn_story_stays_withdrawn() -> None:
    corrections.withdraw_story(Story.objects.get().chatbotnews_id, reason="Retracted.")
    assert "Nothing would change." in command(yes=True)[0]
    assert Story.objects.get().status == "withdrawn"


def test_a_page_is_read_again_though_its_sitemap_came_later() -> None:
    feed, now = feed_of("anthropic-blog"), dt.datetime.now(dt.UTC)
    url = f"{feed.publication.homepage}/whistle"
    page = b"<title>Quince ships</title><meta property='article:published_time' content='2026-01-15'>"
    see(feed, *article_pages.parse_article_page(feed, page, url=url))
    sitemap = f"<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>{url}</loc></url></urlset>".encode()
    for body, where, is_page in ((page, url, True), (sitemap, feed.url, False)):
        RawFetch.objects.create(feed=feed, fetched_at=now, sha256=raw_store.save(body), url=where, is_page=is_page)
    newer_rule("category", "funding", "quince")
    plan = rebuild.plan_rebuild(yesterday(), final_days=True)
    assert (plan.refused, [change.becomes for change in plan.changed]) == ([], [{"category": "funding", "topics": ["funding"]}])


def test_with_the_same_rules_nothing_would_change(server: FeedServer, feed: Feed) -> None:
    ingest(server, feed, item(0), item(1))
    before = wire_rows()
    out, err = command(yes=True)
    assert (out, err) == ("1 fetches read again.\nNothing would change.\n", "")
    assert wire_rows() == before


@pytest.mark.usefixtures("quince")
def test_the_change_is_shown_before_it_is_done_and_without_a_terminal_or_yes_nothing_is_written(tmp_path: Path) -> None:
    before, rows, was = dump(tmp_path / "before"), wire_rows(), latest().category
    assert [change.becomes for change in rebuild.plan_rebuild(yesterday()).changed] == [
        {"category": "funding", "topics": ["funding"]}
    ]
    out, _ = command()
    assert "1 fetches read again." in out
    assert "1 would change:" in out
    assert f"'Quince ships': category '{was}' -> 'funding'" in out
    assert out.endswith("Nothing was changed. Give --yes to do it.\n")
    assert (dump(tmp_path / "after"), wire_rows()) == (before, rows)


def kept(feed: Feed) -> Path:
    digest = RawFetch.objects.get(feed=feed).sha256
    return Path(django_settings.WIRE_DATA_DIR) / "raw" / digest[:2] / f"{digest}.gz"


@pytest.mark.slow
@pytest.mark.parametrize("how", ["gone", "cut off", "not gzip", "of another body"])
def test_bytes_that_are_gone_or_damaged_are_named(server: FeedServer, feed: Feed, how: str) -> None:
    ingest(server, feed, item())
    file = kept(feed)
    content = file.read_bytes()
    if how == "gone":
        file.unlink()
    elif how == "of another body":
        other = raw_store.save(b"something else")
        file.write_bytes((file.parents[1] / other[:2] / f"{other}.gz").read_bytes())
    else:
        file.write_bytes(content[:-9] if how == "cut off" else b"plain")
    out, err = command(yes=True)
    assert err.startswith(f"cannot be read: {feed.url} ")
    assert file.stem in err
    assert "Nothing would change." in out


def test_damaged_bytes_do_not_hinder_the_rest(server: FeedServer, feed: Feed, mixed: Feed) -> None:
    ingest(server, feed, item(title="Quince ships"))
    ingest(server, mixed, item(1, title="AI gherkin ships"))
    kept(mixed).unlink()
    newer_rule("category", "funding", "quince")
    out, err = command(yes=True)
    assert "1 changed" in out
    assert err.count("cannot be read") == 1


def test_an_older_headline_in_an_older_fetch_does_not_come_back(server: FeedServer, feed: Feed) -> None:
    ingest(server, feed, item(title="A quince"))
    ingest(server, feed, item(title="B quince"))
    newer_rule("category", "funding", "quince")
    command(yes=True)
    assert [(r.headline, r.category == "funding") for r in StoryRevision.objects.order_by("revision")] == [
        ("A quince", False),
        ("B quince", False),
        ("B quince", True),
    ]


def test_an_item_that_left_the_feed_is_read_from_the_fetch_that_had_it_last(server: FeedServer, feed: Feed) -> None:
    ingest(server, feed, item(0, title="Quince ships"), item(1, title="Gherkin ships"))
    ingest(server, feed, item(1, title="Gherkin ships"))
    newer_rule("category", "funding", "quince")
    newer_rule("category", "funding", "gherkin")
    out, _ = command(yes=True)
    assert "2 fetches read again." in out
    assert "2 changed" in out


def test_every_item_of_a_page_is_read_from_the_fetch_that_had_it_last(server: FeedServer, feed: Feed) -> None:
    page = {"link": "https://techcrunch.com/changelog", "description": "It is out."}
    fruits = [item(0, **page, title=f"{fruit} ships", guid=fruit) for fruit in ("Quince", "Gherkin", "Radish")]
    ingest(server, feed, *fruits[:2])
    ingest(server, feed, *fruits[1:])
    for word in ("quince", "gherkin", "radish"):
        newer_rule("category", "funding", word)
    assert "3 changed" in command(yes=True)[0]
    assert set(Story.objects.values_list("category", flat=True)) == {"funding"}
    assert "Nothing would change." in command(yes=True)[0]


def test_an_older_headline_of_an_item_of_a_page_does_not_come_back(server: FeedServer, feed: Feed) -> None:
    page = {"link": "https://techcrunch.com/changelog", "description": "It is out."}
    other = item(0, **page, title="Gherkin ships", guid="g")
    ingest(server, feed, item(0, **page, title="A quince ships", guid="q"), other)
    an_hour_passes()
    ingest(server, feed, item(0, **page, title="B quince ships", guid="q"), other)
    newer_rule("category", "funding", "quince")
    command(yes=True)
    quinces = StoryRevision.objects.filter(story__guid="q").order_by("revision")
    assert [revision.headline for revision in quinces] == ["A quince ships", "B quince ships", "B quince ships"]


@pytest.mark.usefixtures("quince")
def test_only_what_was_fetched_since_the_day_is_read() -> None:
    RawFetch.objects.update(fetched_at=dt.datetime.now(dt.UTC) - dt.timedelta(days=2))
    assert "0 fetches read again." in command(yes=True)[0]
    assert latest().revision == 1


@pytest.mark.usefixtures("quince")
def test_a_rebuild_during_an_ingest_says_so_and_changes_nothing() -> None:
    with job_lock.acquire(), pytest.raises(CommandError, match="Another ingest is running"):
        command(yes=True)
    assert latest().revision == 1
    command(yes=True)
    assert latest().revision == 2
    assert IngestLease.objects.get().holder == ""


def test_stories_of_these_days_that_no_fetch_has_are_counted(server: FeedServer, feed: Feed) -> None:
    today = dt.datetime.now(dt.UTC).replace(microsecond=0)
    ingest(server, feed, item())
    publish(entry(title="Quince from an archive", published_at=f"{today:%Y-%m-%dT00:00:00Z}"), now=today)
    assert "1 of these days' stories cannot be rebuilt and stay: loaded from an archive" in command(yes=True)[0]


@pytest.mark.usefixtures("quince")
def test_the_sample_wire_is_refused() -> None:
    WireState.objects.update(is_sample=True)
    with pytest.raises(CommandError, match="sample wire"):
        command(yes=True)
