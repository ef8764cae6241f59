"""One run of ingest over real HTTP: what is taken in, what a failure costs, and what the next run finds."""

import datetime as dt
import json
import logging
import os
import signal
import subprocess
import sys
import time
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db.models import F
from django.test import Client
from django.utils import timezone

from config.errors import Busy, InvalidArgument
from sources import job_lock, raw_store
from sources.choices import FeedType
from sources.models import Feed, FeedHealth, FetchHost, IngestLease, RawFetch
from tests.clients.server import free_port
from tests.factories import second_feed
from tests.feedserver import FeedServer
from tests.wire.ingesting import feed_at, item, rss, run
from tests.wire.installation import install_sqlite
from wire.ingest import feed_entries
from wire.ingest import run as collecting
from wire.ingest.feed_entries import list_feeds
from wire.ingest.run import run_ingest
from wire.models import Snapshot, Story, StoryRevision, WireState

pytestmark = pytest.mark.django_db


def state() -> tuple[Any, ...]:
    """All that a run which finds nothing new must leave alone."""
    revisions = list(StoryRevision.objects.order_by("pk").values())
    return revisions, list(Story.objects.order_by("pk").values()), WireState.objects.get().version, Snapshot.objects.count()


def pass_time(hours: float) -> None:
    """Let what was recorded so far be older."""
    StoryRevision.objects.update(recorded_at=F("recorded_at") - dt.timedelta(hours=hours))


def test_takes_in_and_publishes_what_a_feed_holds(server: FeedServer, client: Client) -> None:
    server.route("/feed.xml", body=rss(item(1), item(2)))
    done = run(feed_at(server.url("/feed.xml")))
    assert done.reports[0].counts == {"accepted": 2}
    assert done.published
    (found,) = client.get("/api/search.json", {"query": "number 2"}).json()["stories"][:1]
    assert found["headline"] == "AI story number 2"
    assert found["original_publisher"] == "TechCrunch"


@pytest.mark.parametrize("etag", ['"one"', ""])
def test_what_is_unchanged_by_its_validator_or_its_bytes_leaves_everything_alone(server: FeedServer, etag: str) -> None:
    server.route("/feed.xml", body=rss(item(1)), etag=etag)
    feed = feed_at(server.url("/feed.xml"))
    run(feed)
    before = state()
    assert [report.result for report in run(feed).reports] == ["unchanged"]
    assert server.seen("/feed.xml")[-1].headers.get("if-none-match", "") == etag
    assert state() == before
    assert RawFetch.objects.count() == 1


def test_a_charset_that_had_to_be_guessed_is_named_in_the_log(server: FeedServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "wire.ingest")
    for title, words in (
        ("AI story", None),
        ("Модель ИИ компании учится читать старые рукописи", "The document declares no charset"),
    ):
        server.route("/feed.xml", body=rss(item(1, title)).decode().encode("cp1251"), content_type="application/xml")
        run(feed_at(server.url("/feed.xml")))
        line = json.loads(caplog.messages[-1])
        assert line["result"] == "taken"
        assert line.get("charset", "").startswith(words or "") is True
        assert ("charset" in line) == (words is not None)


@pytest.mark.slow
@pytest.mark.parametrize("etag", ['"three"', ""])
def test_a_second_change_within_the_hour_is_taken_after_it_though_the_bytes_are_the_same(server: FeedServer, etag: str) -> None:
    feed = feed_at(server.url("/feed.xml"))
    for title in ("AI quince", "AI gherkin"):
        server.route("/feed.xml", body=rss(item(1, title), item(2)))
        run(feed)
        pass_time(hours=2 if title == "AI quince" else 0.2)
    server.route("/feed.xml", body=rss(item(1, "AI damson"), item(2)), etag=etag)
    for _ in range(2):
        assert [report.counts for report in run(feed).reports] == [{"postponed": 1, "duplicate": 1}]
        assert "if-none-match" not in server.seen("/feed.xml")[-1].headers
    pass_time(hours=1)
    assert [report.counts for report in run(feed).reports] == [{"revised": 1, "duplicate": 1}]
    assert [report.result for report in run(feed).reports] == ["unchanged"]
    assert list(StoryRevision.objects.filter(story__guid="g1").order_by("revision").values_list("headline", flat=True)) == [
        *("AI quince", "AI gherkin", "AI damson")
    ]


def test_an_item_that_left_the_feed_stays_and_an_empty_feed_is_no_failure(server: FeedServer) -> None:
    feed = feed_at(server.url("/feed.xml"))
    for items in ([item(1)], [item(2)], []):
        server.route("/feed.xml", body=rss(*items))
        assert not run(feed).reached_nothing
    assert Story.objects.live().count() == 2


def test_a_fault_of_our_own_in_one_feed_is_noted_and_costs_the_others_nothing(
    server: FeedServer, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    server.route("/feed.xml", body=rss(item(1)))
    bad, good = feed_at(server.url("/feed.xml", "127.0.0.2"), "wired"), feed_at(server.url("/feed.xml", "127.0.0.3"))
    real = feed_entries.parse_feed_body

    def fails(feed: Feed, *rest: Any) -> Any:
        if feed.pk == bad.pk:
            raise ZeroDivisionError
        return real(feed, *rest)

    monkeypatch.setattr(feed_entries, "parse_feed_body", fails)
    done = run(bad, good)
    assert {report.feed.pk: report.code for report in done.reports} == {bad.pk: "internal_error", good.pk: ""}
    assert "ZeroDivisionError" in caplog.text
    health = FeedHealth.objects.get(feed=bad)
    assert health.failures == 1
    assert not health.etag


def test_a_failing_feed_is_left_alone_until_its_next_try_unless_asked_by_hand_and_is_well_as_soon_as_it_works(
    server: FeedServer,
) -> None:
    server.route("/feed.xml", status=500)
    feed = feed_at(server.url("/feed.xml"))
    assert run(feed, by_hand=False).reached_nothing
    assert run(feed, by_hand=False).waiting == 1
    assert len(server.seen("/feed.xml")) == 1
    assert run(feed, by_hand=True).reached_nothing
    assert FeedHealth.objects.get(feed=feed).failures == 2
    server.route("/feed.xml", body=rss(item(1)))
    run(feed)
    health = FeedHealth.objects.get(feed=feed)
    assert (health.failures, health.failure, health.next_try_at) == (0, "", None)


def test_a_feed_that_is_gone_is_switched_off_and_the_editor_told(server: FeedServer, admin_client: Client) -> None:
    server.route("/feed.xml", status=410)
    feed = feed_at(server.url("/feed.xml"))
    run(feed)
    feed.refresh_from_db()
    assert not feed.active
    assert feed not in list_feeds()
    page = admin_client.get("/admin/sources/feed/").content.decode()
    assert "removed this feed for good (410)" in page


def test_retry_after_keeps_a_host_alone_also_in_the_next_run(server: FeedServer) -> None:
    server.route("/feed.xml", status=429, headers={"Retry-After": "3600"})
    feed = feed_at(server.url("/feed.xml"))
    run(feed)
    assert FeedHealth.objects.get(feed=feed).next_try_at > timezone.now() + dt.timedelta(minutes=55)  # type: ignore[operator]
    run(feed, by_hand=True)
    assert len(server.seen("/feed.xml")) == 1
    assert FetchHost.objects.exclude(not_before=None).exists()


def test_robots_txt_is_obeyed_and_asked_for_once_a_day(server: FeedServer) -> None:
    server.route("/robots.txt", body=b"User-agent: *\nDisallow: /feed", content_type="text/plain")
    server.route("/feed.xml", body=rss(item(1)))
    feed = feed_at(server.url("/feed.xml"))
    assert run(feed).reports[0].code == "robots"
    assert run(feed).reports[0].code == "robots"
    assert not server.seen("/feed.xml")
    assert len(server.seen("/robots.txt")) == 1


def test_what_a_killed_run_stored_is_published_by_the_next_though_nothing_is_new(
    server: FeedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.route("/feed.xml", body=rss(item(1)), etag='"one"')
    feed = feed_at(server.url("/feed.xml"))

    def killed(**_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(collecting, "publish_pending", killed)
        with pytest.raises(KeyboardInterrupt):
            run(feed)
    assert not Snapshot.objects.exists()
    done = run(feed)
    assert [report.result for report in done.reports] == ["unchanged"]
    assert len(done.published) == 1


def test_the_fetched_bytes_are_kept_once_however_often_they_come(server: FeedServer) -> None:
    feed = feed_at(server.url("/feed.xml"))
    bodies = [rss(item(1)), rss(item(2)), rss(item(1))]
    for body in bodies:
        server.route("/feed.xml", body=body)
        run(feed)
    kept = list(RawFetch.objects.order_by("id").values_list("sha256", flat=True))
    assert [raw_store.read(digest) for digest in kept] == bodies
    assert len(set(kept)) == 2


def test_bytes_are_forgotten_after_thirty_days_unless_they_came_again_or_still_come(tmp_path: Path, settings: Any) -> None:
    settings.WIRE_DATA_DIR = tmp_path
    feed = feed_at("https://feeds.example/feed.xml")
    now = timezone.now()
    shared, lone, current = raw_store.save(b"shared"), raw_store.save(b"lone"), raw_store.save(b"current")
    FeedHealth.objects.create(feed=feed, address=feed.url, body_sha256=current)
    for digest, age in ((shared, 31), (shared, 1), (lone, 31), (current, 31)):
        RawFetch.objects.create(feed=feed, fetched_at=now - dt.timedelta(days=age), sha256=digest, url=feed.url)
    for file in tmp_path.glob("raw/??/*"):
        os.utime(file, (time.time() - 7200,) * 2)
    raw_store.delete_expired(now)
    assert (raw_store.read(shared), raw_store.read(current)) == (b"shared", b"current")
    with pytest.raises(FileNotFoundError):
        raw_store.read(lone)


def test_a_moved_feed_is_told_to_the_editor(server: FeedServer) -> None:
    server.route("/old.xml", status=301, headers={"Location": "/new.xml"})
    server.route("/new.xml", body=rss(item(1)))
    feed = feed_at(server.url("/old.xml"))
    assert run(feed).reports[0].counts == {"accepted": 1}
    assert FeedHealth.objects.get(feed=feed).moved_to == server.url("/new.xml")


def test_the_sample_wire_never_takes_real_news(server: FeedServer) -> None:
    WireState.objects.update(is_sample=True)
    with pytest.raises(InvalidArgument):
        run(feed_at(server.url("/feed.xml")))


def test_a_second_ingest_leaves_with_a_status_that_cron_can_tell(server: FeedServer) -> None:
    server.route("/feed.xml", body=rss(item(1)))
    feed_at(server.url("/feed.xml"))
    with job_lock.acquire(), pytest.raises(CommandError, match="Another ingest is running") as refused:
        call_command("ingest", publication="techcrunch", stdout=StringIO())
    assert refused.value.returncode == 75
    assert not server.seen("/feed.xml")


def test_a_lease_that_ran_out_is_taken_over_and_its_old_holder_may_write_no_more() -> None:
    with job_lock.acquire() as first:
        IngestLease.objects.update(expires_at=timezone.now() - dt.timedelta(seconds=1))
        with job_lock.acquire(), pytest.raises(Busy):
            first.renew()


def test_the_lease_of_a_process_that_died_here_is_free_at_once_and_another_machines_is_waited_for() -> None:
    dead = subprocess.Popen(["true"])
    dead.wait()
    holder = f"{job_lock._identify_machine()}/{dead.pid}/x"
    kept = IngestLease.objects.create(pk=1, holder=holder, expires_at=timezone.now() + job_lock.TERM)
    with job_lock.acquire():
        pass
    kept.holder = f"elsewhere/{dead.pid}/x"
    kept.save()
    with pytest.raises(Busy), job_lock.acquire():
        pass


def test_the_command_fails_if_not_one_feed_answers_or_there_is_no_such_publication(server: FeedServer) -> None:
    server.route("/bad.xml", status=500)
    feed_at(server.url("/bad.xml"))
    with pytest.raises(CommandError, match="No feed answered") as failed:
        call_command("ingest", publication="techcrunch", stdout=StringIO())
    assert failed.value.returncode == 1
    server.route("/good.xml", body=rss(item(1)))
    second_feed("techcrunch", url=server.url("/good.xml"))
    call_command("ingest", publication="techcrunch", stdout=StringIO())
    with pytest.raises(CommandError, match="'tech-crunch'"):
        call_command("ingest", publication="tech-crunch")


def test_without_a_network_one_line_says_so_instead_of_one_for_each_feed(
    server: FeedServer, caplog: pytest.LogCaptureFixture
) -> None:
    assert server.url("/")  # loopback may be fetched from
    closed = f"http://127.0.0.1:{free_port()}"
    feed_at(f"{closed}/one.xml")
    second_feed("techcrunch", url=f"{closed}/two.xml")
    told = StringIO()
    with pytest.raises(CommandError, match="No feed answered"):
        call_command("ingest", publication="techcrunch", stdout=told)
    lines = [record.getMessage() for record in caplog.records if record.name == "wire.ingest"]
    assert lines == ["2 of 2 feeds unreachable: no network?"]
    assert "Feeds:" not in told.getvalue()


def test_each_feed_is_one_line_of_json_in_the_log(server: FeedServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, logger="wire.ingest")
    server.route("/feed.xml", body=rss(item(1), item(2, "")))
    feed = feed_at(server.url("/feed.xml"))
    run(feed)
    server.route("/feed.xml", status=503)
    run(feed)
    lines = [json.loads(record.message) for record in caplog.records if record.name == "wire.ingest"]
    assert lines[0] == {"publication": "techcrunch", "feed": feed.pk, "result": "taken", "accepted": 2}
    assert lines[1]["result"] == "failed"
    assert lines[1]["code"] == "http_503"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_every_goes_on_until_it_is_told_to_stop(server: FeedServer, tmp_path: Path) -> None:
    env = os.environ | {"DJANGO_SETTINGS_MODULE": "config.settings", "WIRE_DATA_DIR": str(tmp_path), "DATABASE_URL": ""}
    env["WIRE_FETCH_ALLOW"] = "127.0.0.0/8"
    manage = [sys.executable, "manage.py"]
    install_sqlite(tmp_path)
    server.route("/feed.xml", body=rss(item(1)))
    point = (
        "from sources.models import Feed, Publication; Feed.objects.all().delete(); Feed.objects.create("
        f"publication=Publication.objects.get(slug='techcrunch'), feed_type='rss', url='{server.url('/feed.xml')}', ai_only=True)"
    )
    subprocess.run([*manage, "shell", "--no-imports", "-c", point], env=env, check=True)
    process = subprocess.Popen([*manage, "ingest", "--every", "1s"], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 30
        while len(server.seen("/feed.xml")) < 3 and time.monotonic() < deadline:
            time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        told, _ = process.communicate(timeout=10)
    finally:
        process.kill()
    assert process.returncode == 0
    assert told.count(b"Feeds: ") >= 3
    assert b"1 accepted" in told


def test_a_feed_that_breaks_off_is_asked_for_the_rest(server: FeedServer) -> None:
    feed = feed_at(server.url("/feed.xml"))
    whole = rss(item(1), item(2), item(3))
    server.route("/feed.xml", body=whole[: whole.index(b"<item>", whole.index(b"</item>")) + 20], etag='"same"')
    assert run(feed).reports[0].counts == {"accepted": 1}
    server.route("/feed.xml", body=whole, etag='"same"')
    assert run(feed).reports[0].counts == {"accepted": 2, "duplicate": 1}


def test_another_address_starts_over(server: FeedServer) -> None:
    feed = feed_at(server.url("/old.xml"))
    server.route("/old.xml", body=rss(item(1)), etag='"same"')
    run(feed)
    server.route("/old.xml", status=500)
    run(feed)
    server.route("/new.xml", body=rss(item(2)), etag='"same"')
    Feed.objects.filter(pk=feed.pk).update(url=server.url("/new.xml"))
    (report,) = run(feed, by_hand=False).reports
    assert report.counts == {"accepted": 1}
    assert "if-none-match" not in server.seen("/new.xml")[0].headers


def test_a_host_that_asked_to_be_left_alone_is_no_failure_of_its_other_feeds(server: FeedServer) -> None:
    server.route("/first.xml", status=429, headers={"Retry-After": "600"})
    server.route("/second.xml", body=rss(item(1)))
    first, second = feed_at(server.url("/first.xml")), feed_at(server.url("/second.xml"), "wired")
    results = {report.feed.pk: report.result for report in run(first, second).reports}
    assert results == {first.pk: "failed", second.pk: "waiting"}
    health = FeedHealth.objects.get(feed=second)
    assert (health.failures, health.failure) == (0, "")
    assert run(second, by_hand=False).waiting == 1


@pytest.mark.django_db(transaction=True)
def test_a_feed_that_is_deleted_meanwhile_costs_the_others_nothing(server: FeedServer) -> None:
    doomed, good = feed_at(server.url("/feed.xml", "127.0.0.2"), "wired"), feed_at(server.url("/feed.xml", "127.0.0.3"))
    server.route("/feed.xml", body=rss(item(1)))
    feeds_then = list(Feed.objects.filter(pk__in=[doomed.pk, good.pk]).select_related("publication", "health"))
    Feed.objects.filter(pk=doomed.pk).delete()
    assert {report.feed.pk: report.result for report in run_ingest(feeds_then, by_hand=True).reports} == {
        doomed.pk: "failed",
        good.pk: "taken",
    }


def test_a_picture_with_an_impossible_address_is_left_out(server: FeedServer) -> None:
    body = b'{"version": "https://jsonfeed.org/version/1.1", "title": "F", "items": [{"id": "1", "title": "AI ships", '
    body += b'"url": "https://publisher.example/1", "image": "https://publisher.example/a\\u0000b.jpg"}]}'
    server.route("/feed.json", body=body, content_type="application/feed+json")
    assert run(feed_at(server.url("/feed.json"), feed_type=FeedType.JSON)).reports[0].counts == {"accepted": 1}
    assert Story.objects.get().image_url == ""


def test_stop_ends_a_run_after_the_feed_at_hand_and_publishes_what_was_taken_in(server: FeedServer) -> None:
    server.route("/feed.xml", body=rss(item(1)))
    made = [feed_at(server.url("/feed.xml", f"127.0.0.{n}"), slug) for n, slug in enumerate(("wired", "zdnet", "axios"), start=2)]
    rows = list(Feed.objects.filter(pk__in=[f.pk for f in made]).select_related("publication", "health"))
    done = run_ingest(rows, by_hand=True, stop=Story.objects.exists)
    assert len(done.reports) == 1
    assert len(done.published) == 1
