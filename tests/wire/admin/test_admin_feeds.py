"""The editors' pages about feeds: how they fare, trying one, fetching one by hand."""

import datetime as dt
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client

from sources import job_lock
from sources.models import Feed, FeedHealth, RawFetch
from tests.factories import feed_of, served_feed
from tests.feedserver import FeedServer
from tests.wire.archives import everything, rss, rss_item
from tests.wire.desk import save
from wire.models import Snapshot, Story

pytestmark = pytest.mark.django_db

LIST = "/admin/sources/feed/"


@pytest.fixture
def desk(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("editor"))
    return client


@pytest.fixture
def onlooker(client: Client) -> Client:
    """Somebody who may look at feeds, and no more."""
    user = User.objects.create_user("onlooker", is_staff=True)
    user.user_permissions.add(Permission.objects.get(codename="view_feed"))
    client.force_login(user)
    return client


@pytest.fixture
def feed(server: FeedServer) -> Feed:
    """It shows two items which can be taken in and one that cannot."""
    items = [rss_item(0, title="Quince ships"), rss_item(1), rss_item(2, title="Bad &lt;b&gt;link", link="javascript:alert(1)")]
    server.route("/feed", body=rss(*items).encode())
    return served_feed(server, "techcrunch")


def address(feed: Feed, page: str = "change/") -> str:
    return f"{LIST}{feed.pk}/{page}"


def words(client: Client, method: str, where: str) -> str:
    """What a page says, tags and white space aside."""
    answer = getattr(client, method)(where, follow=True)
    assert answer.status_code == 200, (where, answer.status_code)
    return " ".join(re.sub("<[^>]*>", " ", answer.content.decode()).split())


def know(feed: Feed, **values: object) -> None:
    FeedHealth.objects.create(feed=feed, **values)


def test_the_list_shows_every_feed_and_how_it_fares(desk: Client) -> None:
    now = dt.datetime.now(dt.UTC)
    well = {"tried_at": now, "succeeded_at": now, "usual_gap": dt.timedelta(hours=1)}
    know(feed_of("wired"), **well, newest_item_at=now, items=17)
    know(feed_of("zdnet"), **well, newest_item_at=now - dt.timedelta(days=2))
    again = now + dt.timedelta(hours=1)
    know(feed_of("axios"), tried_at=now, failures=4, failure="The server answered 503.", next_try_at=again)
    shown = words(desk, "get", LIST)
    assert f"{Feed.objects.count()} feeds" in shown
    assert "not fetched yet" in shown
    assert " fine " in shown
    assert " silent " in shown
    assert f"failing (4 in a row), tried again after {again:%-d %b %Y %H:%M} UTC: The server answered 503." in shown


def test_the_list_is_found_by_publication_and_by_what_is_switched_off(desk: Client) -> None:
    shown = desk.get(LIST, {"q": "Engadget"}).content.decode()
    assert (feed_of("engadget").url in shown, feed_of("wired").url in shown) == (True, False)
    gone = feed_of("wired")
    Feed.objects.filter(pk=gone.pk).update(active=False)
    know(gone, tried_at=dt.datetime.now(dt.UTC), failures=1, failure_code="gone", failure="It is gone for good (410).")
    rows = desk.get(LIST, {"active__exact": "0"}).content.decode()
    assert ("It is gone for good (410)." in rows, feed_of("zdnet").url in rows) == (True, False)
    assert desk.get(f"{LIST}add/").status_code == 403, "a feed is not added here"


def test_the_page_of_a_feed_shows_its_health_to_read_only_and_both_buttons(desk: Client) -> None:
    feed = feed_of("wired")
    know(feed, tried_at=dt.datetime.now(dt.UTC), items=17, outcomes={"rejected:no_date": 3}, moved_to="https://moved.example/rss")
    page = desk.get(address(feed)).content.decode()
    told = (
        "3 rejected: no date",
        "An inactive feed is not fetched.",
        "https://moved.example/rss",
        "17",
        'form="test-feed"',
        'form="fetch-feed"',
    )
    forms = (f'action="{address(feed, "test")}"', f'action="{address(feed, "fetch")}"')
    assert [part for part in (*told, *forms) if part not in page] == []
    assert "`" not in words(desk, "get", address(feed))
    assert not re.search(r'<input[^>]+name="health-0-(?!feed|TOTAL|INITIAL)', page)


def test_a_test_shows_what_would_become_of_each_item_as_text_and_writes_nothing(desk: Client, feed: Feed, tmp_path: Path) -> None:
    before = everything()
    page = desk.post(address(feed, "test")).content.decode()
    assert "2 accepted, 1 rejected:bad_url. Nothing was stored." in page
    rows = re.findall(r"<tr><td>(.*?)</td><td class=\"when\">(.*?)</td><td>(.*?)</td><td>(.*?)</td></tr>", page, re.DOTALL)
    assert [re.sub("<.*?>", "", row[0].partition("<br>")[0]) for row in rows] == ["accepted", "accepted", "rejected:bad_url"]
    assert rows[0][2:] == ("Quince ships", "https://techcrunch.com/2026/01/15/item-0/")
    assert rows[2][3] == "javascript:alert(1)"
    assert "The address cannot be used" in rows[2][0]
    assert "Bad &lt;b&gt;link" in page
    assert "javascript:" not in "".join(re.findall(r'(?:href|src)="[^"]*"', page))
    assert "Nothing was stored." in page
    assert everything() == before
    assert not (tmp_path / "wire" / "raw").exists()


def test_a_test_of_a_feed_that_fails_says_why_and_leaves_it_as_it_is(desk: Client, feed: Feed, server: FeedServer) -> None:
    page = {"body": b"<!doctype html><title>Sign in</title>", "content_type": "text/html"}
    failures: list[tuple[dict[str, Any], str]] = [({"status": 503, "body": b""}, "503"), ({"status": 410, "body": b""}, "410")]
    failures.append((page, "The feed cannot be read. The address answers with a web page, not a feed."))
    for reply, told in failures:
        server.route("/feed", **reply)
        shown = words(desk, "post", address(feed, "test"))
        assert told in shown
        assert "Nothing was stored." in shown
    feed.refresh_from_db()
    assert feed.active
    assert not FeedHealth.objects.exists()


def test_fetching_takes_in_publishes_and_reports_and_again_finds_nothing_new(desk: Client, feed: Feed) -> None:
    shown = words(desk, "post", address(feed, "fetch"))
    assert "Taken: 2 accepted, 1 rejected:bad_url. Published: 15 Jan 2026 (revision 1)." in shown
    assert Story.objects.live().count() == 2
    assert (Snapshot.objects.count(), RawFetch.objects.count()) == (1, 1)
    assert FeedHealth.objects.get(feed=feed).items == 3
    assert "Unchanged: nothing new. " in words(desk, "post", address(feed, "fetch"))


def test_fetching_tells_of_a_failure_and_loses_nothing(desk: Client, feed: Feed, server: FeedServer) -> None:
    desk.post(address(feed, "fetch"))
    server.route("/feed", status=503, body=b"")
    shown = words(desk, "post", address(feed, "fetch"))
    assert "The feed could not be read: The publisher&#x27;s server reported an error (503)" in shown
    assert "What was stored before stays." in shown
    assert "snapshots published" not in shown
    assert Story.objects.live().count() == 2
    assert FeedHealth.objects.get(feed=feed).failures == 1


def test_fetching_while_an_ingest_is_at_work_is_told_and_asks_nobody(desk: Client, feed: Feed, server: FeedServer) -> None:
    with job_lock.acquire():
        shown = words(desk, "post", address(feed, "fetch"))
    assert "Another ingest is running" in shown
    assert server.seen("/feed") == []
    assert not Story.objects.exists()


@pytest.mark.parametrize("page", ["test", "fetch"])
def test_who_may_only_look_is_refused_and_a_stranger_sent_to_the_login_and_nobody_is_asked(
    onlooker: Client, feed: Feed, server: FeedServer, page: str
) -> None:
    assert onlooker.get(address(feed)).status_code == 200
    assert onlooker.post(address(feed, page)).status_code == 403
    answer = Client().post(address(feed, page))
    assert (answer.status_code, answer["Location"].partition("?")[0]) == (302, "/admin/login/")
    assert server.requests == []


@pytest.mark.parametrize("page", ["test", "fetch"])
def test_a_link_alone_does_neither(desk: Client, feed: Feed, server: FeedServer, page: str) -> None:
    assert desk.get(address(feed, page)).status_code == 405
    assert desk.post(f"{LIST}999999/{page}").status_code == 404
    assert server.requests == []


@pytest.mark.parametrize("page", ["test", "fetch"])
def test_a_form_of_another_site_does_neither(feed: Feed, server: FeedServer, page: str) -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_superuser("editor"))
    assert strict.post(address(feed, page)).status_code == 403
    assert server.requests == []


def feed_form(feed: Feed, **changes: object) -> dict[str, object]:
    counts = {f"health-{name}_FORMS": 0 for name in ("TOTAL", "INITIAL")}
    facts = {name: getattr(feed, name) for name in ("feed_type", "url", "query", "note")}
    return {**facts, "active": "on", **counts, **changes}


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{"url": "https://quince.example/feed"}, {"url": "", "query": "quince", "feed_type": "query"}])
def test_a_publication_has_no_feed_twice_and_what_nobody_sees_is_refused(desk: Client, changes: dict[str, str]) -> None:
    feed = feed_of("techcrunch")
    other = Feed.objects.create(publication=feed.publication, **{"feed_type": "rss", "query": "", **changes})
    answer = save(desk, address(feed), feed_form(feed, **changes, **({} if "query" in changes else {"query": ""})))
    assert answer.status_code == 200
    assert "TechCrunch already has a feed with this address and search" in answer.content.decode()
    assert save(desk, address(other), feed_form(other, note="Once.")).status_code == 302
    assert save(desk, address(feed_of("wired")), feed_form(feed_of("wired"), **changes)).status_code == 302
    for field in ("query", "note"):
        answer = save(desk, address(feed), feed_form(feed, **{field: "AI\u202esnihc"}))
        assert list(answer.context["adminform"].form.errors) == [field]


def test_the_same_feed_twice_is_told_at_its_publication_too(desk: Client) -> None:
    feed = feed_of("techcrunch")
    page = f"/admin/sources/publication/{feed.publication_id}/change/"
    rows = {f"feeds-0-{name}": getattr(feed, name) for name in ("feed_type", "url", "query", "note", "id")}
    new = {f"feeds-1-{name}": getattr(feed, name) for name in ("feed_type", "url", "query")}
    counts = {"feeds-TOTAL_FORMS": 2, "feeds-INITIAL_FORMS": 1, "feeds-0-publication": feed.publication_id}
    answer = save(desk, page, {"aliases": "", **rows, **new, **counts})
    assert answer.status_code == 200
    assert Feed.objects.filter(publication=feed.publication).count() == 1


TRIAL = "/admin/sources/feed/trial/"


@pytest.mark.slow
def test_any_address_is_tried_by_the_rules_of_a_publication_and_nothing_is_stored(
    desk: Client, feed: Feed, server: FeedServer
) -> None:
    server.route("/other", body=rss(rss_item(7, title="Quince ships")).encode())
    before = everything()
    answer = desk.post(TRIAL, {"url": server.url("/other"), "publication": feed.publication_id})
    page = " ".join(re.sub("<[^>]*>", " ", answer.content.decode()).split())
    assert "Quince ships" in page
    assert "Currently:" not in page
    assert "Nothing was stored." in page
    assert "If this looks right, open TechCrunch , choose “Add another Feed”" in page
    assert everything() == before
    gone = desk.post(TRIAL, {"url": server.url("/none"), "publication": feed.publication_id})
    assert "Nothing was stored." in gone.content.decode()


@pytest.mark.slow
@pytest.mark.parametrize("url", ["", "no address", "/etc/passwd", "file:///etc/passwd", "https://ada:secret@example.com/feed"])
def test_what_is_no_web_address_is_not_tried(desk: Client, feed: Feed, server: FeedServer, url: str) -> None:
    asked = len(server.requests)
    answer = desk.post(TRIAL, {"url": url, "publication": feed.publication_id})
    assert answer.context["form"].errors.keys() == {"url"}
    assert len(server.requests) == asked


def test_who_may_not_try_a_feed_tries_no_address(onlooker: Client) -> None:
    assert onlooker.get(TRIAL).status_code == 403
