"""Secrets in addresses: passwords are refused wherever an address is entered, and no token of a feed is ever shown."""

import datetime as dt
import io
import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission, User
from django.core.exceptions import ImproperlyConfigured
from django.core.management import CommandError, call_command
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from pytest_django import Settings

from config import env
from config.errors import InvalidArgument
from config.logs import JsonLines, TextLines
from mcpserver.gateway import resource_policy
from mcpserver.gateway.resource_policy import PolicyError
from sources import fetch, roster
from sources.feed_health import HostNotes
from sources.models import Feed, FeedHealth, Publication
from sources.parse import parse_feed
from tests.factories import DAY, feed_of, served_feed
from tests.feedserver import FeedServer
from tests.mcpserver.asgi import rpc
from tests.wire.archives import line, ndjson, rss, rss_item
from tests.wire.desk import at_desk
from wire.corpora.articles.models import Publisher, Source
from wire.ingest.feed_entries import get_fetch_policy
from wire.ingest.run import run_ingest
from wire.models import Story
from wire.ops.doctor import run_checks

pytestmark = pytest.mark.django_db

CANARY = "qz7canary7zq"
PRIVATE = f"https://reader:{CANARY}@host.example/feed?token=abc"
PASSWORDS = [
    PRIVATE,
    f"https://host.example\\{CANARY}@127.0.0.1/feed",
    f"https://{CANARY}@host.example/feed",
    f"http:\\\\reader:{CANARY}@host.example\\feed",
]
ENDLESS = {"/api/stream", "/api/events"}
FILLED = {"day": str(DAY), "date": str(DAY), "slug": "techcrunch", "category": "launches", "topic": "openai", "number": "0"}


class Recorder(logging.Handler):
    """Records log lines as both formats write them."""

    def __init__(self) -> None:
        super().__init__(logging.DEBUG)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines += [JsonLines().format(record), TextLines().format(record)]


@pytest.fixture
def log_lines() -> Iterator[list[str]]:
    handler, root = Recorder(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(logging.INFO)
    yield handler.lines
    root.removeHandler(handler)
    root.setLevel(level)


@pytest.fixture
def feed(server: FeedServer) -> Feed:
    """TechCrunch's, which asks for a token."""
    server.route("/feed", body=rss(rss_item(0, title="Quince ships")).encode())
    return served_feed(server, "techcrunch", f"/feed?token={CANARY}&lang=en")


def fetch_again(feed: Feed) -> str:
    """Fetch the feed by hand; what its health says of it then."""
    (report,) = run_ingest([Feed.objects.select_related("publication", "health").get(pk=feed.pk)], by_hand=True).reports
    return report.failure


def public_paths(patterns: list[Any], before: str = "/") -> Iterator[str]:
    story = str(Story.objects.first())
    for pattern in patterns:
        path = before + str(pattern.pattern).removeprefix("^").removesuffix("$")
        if isinstance(pattern, URLResolver):
            yield from public_paths(pattern.url_patterns, path)
        elif isinstance(pattern, URLPattern):
            filled = path
            for name, value in {**FILLED, "story_id": story, "event_id": story}.items():
                filled = re.sub(rf"<(?:\w+:)?{name}>", value, filled)
            if "<" not in filled and not set(filled) & set("(?\\[") and filled not in ENDLESS:
                yield filled


def public_answers(client: Client) -> dict[str, str]:
    answers = {}
    for path in sorted(set(public_paths(list(get_resolver(settings.PUBLIC_URLCONF).url_patterns)))):
        answer = client.get(path)
        content = b"" if answer.streaming else answer.content
        answers[path] = f"{answer.status_code} {answer.headers} {content.decode(errors='replace')}"
    return answers


def mcp_answers() -> dict[str, str]:
    """The answer of every tool to its name as each of its arguments, and every resource."""
    answers = {}
    for tool in rpc("tools/list").result["tools"]:
        needed = tool["inputSchema"].get("required", [])
        arguments = dict.fromkeys(needed, "techcrunch") | ({"story_id": str(Story.objects.first())} if "story_id" in needed else {})
        answers[tool["name"]] = rpc("tools/call", {"name": tool["name"], "arguments": arguments}).body.decode()
    for resource in rpc("resources/list").result["resources"]:
        answers[resource["uri"]] = rpc("resources/read", {"uri": resource["uri"]}).body.decode()
    return answers


def command(*words: str, **options: Any) -> str:
    out, err = io.StringIO(), io.StringIO()
    try:
        call_command(*words, stdout=out, stderr=err, **options)
    except CommandError as error:
        err.write(str(error))
    return out.getvalue() + err.getvalue()


def holding(texts: dict[str, str]) -> list[str]:
    return [name for name, text in texts.items() if CANARY in text]


@pytest.mark.slow
def test_a_feeds_token_is_shown_on_no_public_address_and_in_no_tool_answer(feed: Feed, settings: Settings, client: Client) -> None:
    settings.WIRE_RATE_LIMIT = "off"
    assert fetch_again(feed) == ""
    assert Story.objects.live().count() == 1
    answers = public_answers(client)
    assert {"/freshness", "/api/health/feeds.json", "/source/techcrunch", "/"} <= answers.keys()
    assert len(answers) > 40
    assert holding(answers) == []
    assert holding(mcp_answers()) == []
    shown = feed.url.replace(CANARY, "…").replace("lang=en", "lang=…")
    (row,) = [row for row in client.get("/api/health/feeds.json").json()["feeds"] if row["address"].startswith("http://127")]
    assert row["address"] == shown


@pytest.mark.parametrize("kind", ["rss", "json"])
def test_an_item_that_links_to_a_fragment_of_its_feed_takes_no_token_over(kind: str) -> None:
    item = {"id": "a", "title": "Quince ships", "url": "#second"}
    feed = {"version": "https://jsonfeed.org/version/1.1", "title": "TechCrunch", "items": [item]}
    body = json.dumps(feed) if kind == "json" else rss(rss_item(0, link="#second"))
    (entry,) = parse_feed(body.encode(), url=f"https://host.example/feed?token={CANARY}").entries
    assert entry.url == "https://host.example/feed#second"


def test_no_failure_of_fetching_tells_a_token(feed: Feed, server: FeedServer, client: Client, log_lines: list[str]) -> None:
    index = f"<sitemapindex><sitemap><loc>https://a.example/s?token={CANARY}</loc></sitemap></sitemapindex>"
    server.route("/away", status=302, body=b"", headers={"Location": f"/away?token={CANARY}"})
    replies: list[dict[str, Any]] = [
        {"status": 404, "body": b""},
        {"status": 302, "body": b"", "headers": {"Location": f"/away?token={CANARY}"}},
        {"status": 302, "body": b"", "headers": {"Location": f"https://reader:{CANARY}@127.0.0.1/"}},
        {"status": 302, "body": b"", "headers": {"Location": f"ftp://host.example/{CANARY}"}},
        {"body": index.encode()},
        {"drop": True},
    ]
    for reply in replies:
        server.route("/feed", **reply)
        failure = fetch_again(feed)
        assert failure, reply
        assert CANARY not in failure
        assert CANARY not in str(FeedHealth.objects.values_list("failure", flat=True))
        assert CANARY not in client.get("/api/health/feeds.json").content.decode()
    assert log_lines
    assert CANARY not in "".join(log_lines)


def test_a_fault_of_ours_logs_no_token(feed: Feed, monkeypatch: pytest.MonkeyPatch, log_lines: list[str]) -> None:
    def fail(*_args: object, **_kwargs: object) -> None:
        raise RuntimeError(f"It fails at {feed.url}, and at {feed.url}.")

    monkeypatch.setattr("wire.ingest.run.store_drafts", fail)
    fetch_again(feed)
    monkeypatch.undo()
    logging.getLogger("wire.ingest").error("%s", json.dumps({"address": feed.url, "well": True}))
    assert len(log_lines) >= 4
    assert "It fails at http://127.0.0.1" in "".join(log_lines)
    assert CANARY not in "".join(log_lines)
    assert json.loads(json.loads(log_lines[-2])["message"])["well"] is True, "a masked line of JSON stays JSON"


@pytest.mark.usefixtures("feed")
def test_commands_print_no_token(tmp_path: Path) -> None:
    assert CANARY not in command("ingest", publication="techcrunch")
    for file in (tmp_path / "wire" / "raw").rglob("*.gz"):
        file.unlink()
    told = command("rebuild", since=dt.datetime.now(dt.UTC).date(), yes=True)
    assert "cannot be read" in told
    assert CANARY not in told
    assert CANARY not in command("doctor")


@pytest.mark.slow
def test_whoever_only_looks_at_the_desk_sees_no_token_and_its_history_keeps_none(feed: Feed, client: Client) -> None:
    fetch_again(feed)
    FeedHealth.objects.update(moved_to=feed.url)
    editor = Client()
    editor.force_login(User.objects.create_superuser("root"))
    editor.post(f"/admin/sources/feed/{feed.pk}/fetch")
    tested = editor.post(f"/admin/sources/feed/{feed.pk}/test").content.decode()
    onlooker = User.objects.create_user("onlooker", is_staff=True)
    seen = ("view_feed", "view_publication", "view_feedhealth", "view_logentry")
    onlooker.user_permissions.set(Permission.objects.filter(codename__in=seen, content_type__app_label__in=("sources", "admin")))
    client.force_login(onlooker)
    pages = [
        "/admin/sources/feed/",
        f"/admin/sources/feed/{feed.pk}/change/",
        f"/admin/sources/feed/{feed.pk}/history/",
        f"/admin/sources/publication/{feed.publication_id}/change/",
    ]
    answers = {page: client.get(page) for page in pages}
    assert {answer.status_code for answer in answers.values()} == {200}
    assert holding({page: answer.content.decode() for page, answer in answers.items()}) == []
    assert all("token=…" in answer.content.decode() for page, answer in answers.items() if "history" not in page)
    assert holding({page: editor.get(page).content.decode() for page in (pages[0], pages[2])} | {"test": tested}) == []
    assert CANARY in editor.get(pages[1]).content.decode(), "whoever may change the address has it in the form"


@pytest.mark.slow
@pytest.mark.parametrize("address", PASSWORDS)
def test_the_desk_refuses_an_address_with_a_password(address: str) -> None:
    desk, feed = at_desk("publisher"), feed_of("techcrunch")
    page = f"/admin/sources/feed/{feed.pk}/change/"
    opened = desk.get(page).context["adminform"].form.initial["seen"]
    form = {"feed_type": "rss", "url": address, "query": "", "note": "", "active": "on", "seen": opened}
    form |= {"health-TOTAL_FORMS": 0, "health-INITIAL_FORMS": 0}
    assert desk.post(page, form).status_code == 200
    feed.refresh_from_db()
    assert "host.example" not in feed.url


@pytest.mark.parametrize("field", ["homepage", "feed_url"])
def test_a_replacement_with_a_password_in_an_address_is_refused(field: str) -> None:
    form = {
        "retire": Publication.objects.get(slug="engadget").pk,
        **{"name": "The Quill", "slug": "the-quill", "domains": "quill.example", "tier": 2, "homepage": "https://quill.example/"},
        **{"feed_type": "rss", "feed_url": "https://quill.example/rss", "reason": "It closed.", field: PRIVATE},
    }
    answer = at_desk("publisher").post("/admin/sources/publication/replace/", form)
    assert "user name or a password is refused" in answer.content.decode()
    assert not Publication.objects.filter(slug="the-quill").exists()


@pytest.mark.parametrize("place", ["homepage", "feed"])
def test_a_feeds_file_with_a_password_is_refused(place: str) -> None:
    fact = {"slug": "the-quill", "name": "The Quill", "aliases": [], "domains": ["quill.example"], "tier": 2}
    fact |= {"homepage": PRIVATE if place == "homepage" else "https://quill.example/"}
    feeds = [{"feed_type": "rss", "url": PRIVATE if place == "feed" else "https://quill.example/rss", "ai_only": True}]
    with pytest.raises(InvalidArgument, match=r"https://…@host.example/feed\?token=…") as refused:
        roster.replace_publication(Publication.objects.get(slug="engadget"), fact | {"feeds": feeds}, reason="It closed.")
    assert CANARY not in f"{refused.value} {refused.value.hint}"


def test_a_map_with_a_password_is_refused(tmp_path: Path) -> None:
    (tmp_path / "map.json").write_text(json.dumps({PRIVATE: "TechCrunch"}))
    archive = ndjson(tmp_path / "a.ndjson", [line()])
    told = command("loadwire", str(archive), map=tmp_path / "map.json")
    assert "user name or a password is refused" in told
    assert "Nothing was loaded." in told
    assert CANARY not in told


def test_an_upstream_of_the_gateway_with_a_password_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "gateway.toml"
    file.write_text(f'[upstreams.news]\nkind = "http"\naddress = "{PRIVATE}"\n')
    with pytest.raises(PolicyError, match=r"upstreams\.news\.address") as refused:
        resource_policy.load_policy(file)
    assert CANARY not in str(refused.value)


@pytest.mark.parametrize("name", ["homepage", "feed"])
def test_a_publisher_of_articles_with_a_password_is_refused(name: str) -> None:
    options = {"homepage": "https://host.example/", "feed": ["https://host.example/feed"], "domain": ["host.example"]}
    options |= {name: [PRIVATE] if name == "feed" else PRIVATE}
    words = [f"--{key}={value}" for key, values in options.items() for value in (values if isinstance(values, list) else [values])]
    told = command("publishers", "add", "host", "The Host", *words, "--consent-note=By letter.", "--consented-on=2026-01-01")
    assert "user name or a password" in told
    assert CANARY not in told
    assert not Publisher.objects.filter(slug="host").exists()


def test_a_source_of_a_publisher_is_listed_masked(client: Client) -> None:
    publisher = Publisher.objects.create(
        slug="host",
        name="The Host",
        homepage="https://host.example/",
        domains=["host.example"],
        consent_note="By letter.",
        consented_on=dt.date(2026, 1, 1),
    )
    source = Source.objects.create(publisher=publisher, kind="feed", url=f"https://host.example/feed?token={CANARY}")
    told = command("publishers", "list")
    assert "https://host.example/feed?token=…" in told
    onlooker = User.objects.create_user("onlooker", is_staff=True)
    seen = Permission.objects.filter(codename__in=("view_source", "view_publisher"), content_type__app_label="articles")
    onlooker.user_permissions.set(seen)
    client.force_login(onlooker)
    pages = ["/admin/articles/source/", f"/admin/articles/source/{source.pk}/change/"]
    pages += [f"/admin/articles/publisher/{publisher.pk}/change/", "/publishers/host", "/api/articles/publishers.json"]
    assert holding({"list": told} | {page: client.get(page).content.decode() for page in pages}) == []


@pytest.mark.parametrize("name", ["WIRE_SITE_URL", "FACTCHECKS_EMBEDDING_URL"])
def test_a_setting_with_a_password_is_refused_without_showing_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, PRIVATE)
    with pytest.raises(ImproperlyConfigured) as refused:
        env.web_address(name, "")
    assert CANARY not in str(refused.value)


def test_a_feed_that_had_a_password_before_is_masked_never_asked_and_named_by_the_doctor(client: Client) -> None:
    Feed.objects.filter(pk=(feed := feed_of("techcrunch")).pk).update(url=PRIVATE)
    feed.refresh_from_db()
    failure = fetch_again(feed)
    assert failure == "The address cannot be fetched: it contains a user name or a password; correct it."
    (finding,) = [finding for finding in run_checks(dt.datetime.now(dt.UTC)) if finding.name == "addresses"]
    assert "https://…@host.example/feed?token=… of TechCrunch" in str(finding)
    texts = {"doctor": str(finding), "page": client.get("/freshness").content.decode(), "failure": failure}
    assert holding(texts) == []


@pytest.mark.parametrize(
    "address", [*PASSWORDS, f"https://reader:{CANARY}/x@host.example/feed", f"https://reader:{CANARY}@host℀.example/"]
)
def test_fetching_refuses_a_password_and_its_words_quote_none(address: str) -> None:
    ((_, outcome),) = fetch.fetch_all([fetch.Ask(0, address)], get_fetch_policy(), HostNotes())
    assert isinstance(outcome, fetch.Failed)
    assert CANARY not in outcome.message
