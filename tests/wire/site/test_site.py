"""The site: pages for people, safe whatever a publisher wrote; health; keys."""

import datetime as dt
import re
from html.parser import HTMLParser
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client

from tests.contract import BRIEFLY, SHARED
from tests.factories import DAY, NOW, entry, publish, story_of
from wire import queries
from wire.ingest import corrections
from wire.models import EditorTake, WireState
from wire.templatetags.wire_site import format_moment
from wire.text.choices import Category, Topic

pytestmark = pytest.mark.django_db
PAGES = ["/", "/sources", "/editor-take/2026-01-15", "/nowhere"]
BANNER = "Never cite them as news"
HOSTILE = [
    "&lt;script&gt;alert(1)&lt;/script&gt;",
    '"&gt;&lt;img src=x onerror=alert(1)&gt;',
    "' onmouseover='alert(1)",
    "</title></main><script>alert(1)</script>",
    "[click](javascript:alert(1)) ![x](https://tracker.example/x.png)",
    "<https://evil.example> &lt;b&gt;bold&lt;/b&gt; **loud** `code`",
    "{{ settings.SECRET_KEY }} {% debug %}",
]


class Page(HTMLParser):
    """What a browser would make of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        own = {("src", f"/static/wire/{name}.js") for name in ("site", "times")}
        harmless = {("type", "application/ld+json"), *own}  # data that no browser runs, and our own
        self.tags.append("own" if tag == "script" and harmless & set(attrs) else tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text += data

    @property
    def links(self) -> list[str]:
        return [value for name, value in self.attributes if name in {"href", "src"}]


def page(client: Client, address: str, status: int = 200) -> Page:
    answer = client.get(address)
    assert answer.status_code == status
    assert answer["Content-Type"] == "text/html; charset=utf-8"
    return Page(answer.content.decode())


def test_the_home_page_shows_the_latest_day_by_category(client: Client) -> None:
    made = entry(title="OpenAI launches quince model", summary="Quinces are golden.")
    publish(made, entry(published_at="2026-01-14T10:00:00Z"))
    found = page(client, "/")
    assert "The wire of 15 January 2026" in found.text
    assert "Launches" in found.text
    assert "Quinces are golden." in found.text
    assert f"/story/{story_of(made).chatbotnews_id}" in found.links
    assert client.get("/")["Cache-Control"] == SHARED


def test_a_story_page_shows_the_story_and_its_six_citations(client: Client) -> None:
    made = entry(author="Mark Bergen, Dina Bass")
    publish(made)
    story = client.get(f"/api/stories/{story_of(made).chatbotnews_id}.json").json()
    answer = client.get(f"/story/{story['chatbotnews_id']}")
    found = Page(answer.content.decode())
    assert made.title in found.text
    assert "Mark Bergen, Dina Bass" in found.text
    assert re.findall('name="citation_author" content="(.*?)"', answer.content.decode()) == ["Mark Bergen", "Dina Bass"]
    assert all(citation in found.text for citation in story["citation_objects"].values())
    assert story["original_url"] in found.links
    assert answer["Cache-Control"] == BRIEFLY


def test_the_page_of_a_withdrawn_story_says_so_cites_nothing_and_tells_it_no_more_to_who_shares_it(client: Client) -> None:
    made = entry(summary="Quince was never made.")
    publish(made)
    story_id = story_of(made).chatbotnews_id
    corrections.withdraw_story(story_id, reason="Retracted by its publisher.", now=NOW)
    found = page(client, f"/story/{story_id}")
    assert f"Withdrawn: {made.title}" in found.text
    assert [word for word in ("According to", "@misc", "Cite it") if word in found.text] == []
    head, _, _ = client.get(f"/story/{story_id}").content.decode().partition("<body")
    assert f"<title>Withdrawn: {made.title}" in head
    assert f'property="og:title" content="Withdrawn: {made.title}"' in head
    assert "This story was withdrawn; do not cite it." in head
    assert "never made" not in head
    assert '<meta name="robots" content="noindex">' in head


def test_the_sources_page_lists_the_24_by_tier(client: Client) -> None:
    found = page(client, "/sources")
    names = [source["name"] for source in client.get("/api/sources.json").json()["sources"]]
    assert len(names) == 24
    assert all(name in found.text for name in names)
    assert [f"Tier {n}: " in found.text for n in (1, 2, 3, 4)] == [True] * 4


def test_what_a_publisher_wrote_is_text_and_never_markup(client: Client) -> None:
    publish(*(entry(title=f"Quince {text}", summary=f"Golden {text}.", author=f"Ada {text}") for text in HOSTILE))
    told = client.get("/api/today.json").json()["stories"]
    assert len(told) == len(HOSTILE)
    shown = {f"/story/{story['chatbotnews_id']}": [story["headline"]] for story in told}
    leads = [event["headline"] for event in client.get("/api/events.json?limit=100").json()["events"]]
    shown |= {f"/event/{story['event_id']}": [story["headline"]] for story in told}
    shown |= {"/": leads, "/editor-take/2026-01-15": []}
    for address, texts in shown.items():
        found = page(client, address)
        assert [text for text in texts if text not in found.text] == [], address
        assert {"script", "img", "b", "iframe"}.isdisjoint(found.tags)
        assert not [name for name, _ in found.attributes if name.startswith("on")]
        own = ("/", "#", "?", "http://localhost:8000/", "https://techcrunch.com/", "https://creativecommons.org/")
        assert all(link.startswith(own) for link in found.links)


def test_an_editors_own_markdown_cannot_carry_a_script(client: Client) -> None:
    EditorTake.objects.create(wire_date=DAY, markdown="# Ripe\n\n<script>alert(1)</script> [x](javascript:alert(1))", author="Ada")
    publish(entry())
    found = page(client, "/editor-take/2026-01-15")
    assert "script" not in found.tags
    assert not [link for link in found.links if link.startswith("javascript")]


@pytest.mark.slow
def test_the_sample_wire_has_a_banner_on_every_page_and_says_that_it_asks_no_feeds(client: Client) -> None:
    call_command("loadsample", stdout=StringIO())
    story_id = client.get("/api/today.json").json()["stories"][0]["chatbotnews_id"]
    for address in ("/", "/sources", f"/story/{story_id}", "/editor-take/2026-10-15", "/nowhere"):
        assert BANNER in client.get(address).content.decode(), address
    assert client.get("/api/today.json").json()["meta"]["sample"] is True
    told = client.get("/api/health/feeds.json").json()
    assert told["note"].startswith("The sample wire fetches no feeds.")
    assert "manage.py doctor" in told["note"]
    shown = client.get("/freshness").content.decode()
    assert ("The sample wire fetches no feeds." in shown, "manage.py doctor" in shown) == (True, True)
    assert ("Never fetched." in shown, "Not fetched yet." in shown) == (True, False)


def test_the_live_wire_has_no_such_banner_and_nothing_to_add_about_its_feeds(client: Client) -> None:
    publish(entry())
    assert not WireState.objects.get().is_sample
    for address in PAGES:
        assert BANNER not in client.get(address).content.decode(), address
    assert client.get("/api/health/feeds.json").json()["note"] is None
    shown = client.get("/freshness").content.decode()
    assert ("fetches no feeds" in shown, "Not fetched yet." in shown) == (False, True)


@pytest.mark.slow
def test_pages_are_only_ever_read(client: Client) -> None:
    publish(entry())
    for address in (*PAGES, "/healthz", "/readyz", "/.well-known/wire-keys.json"):
        assert client.head(address).status_code == client.get(address).status_code, address
        assert client.head(address).content == b"", address
        assert address == "/nowhere" or client.post(address)["Allow"] == "GET, HEAD", address


def test_the_keys_that_ever_signed_are_public(client: Client) -> None:
    assert client.get("/.well-known/wire-keys.json").json() == {"keys": []}
    publish(entry())
    answer = client.get("/.well-known/wire-keys.json")
    assert answer["Access-Control-Allow-Origin"] == "*"  # a page elsewhere verifies a day, too
    (key,) = answer.json()["keys"]
    assert list(key) == ["key_id", "algorithm", "public_key", "created_at", "retired_at"]
    assert (key["algorithm"], key["retired_at"]) == ("Ed25519", None)


def test_readyz_waits_for_a_first_day_and_healthz_for_none(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json(), answer["Cache-Control"]) == (200, {"status": "ok"}, "no-store")
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()["status"], answer.json()["what"]) == (503, "not ready", "snapshot")
    assert answer["Cache-Control"] == "no-store"
    publish(entry())
    answer = client.get("/readyz")
    assert answer.status_code == 200
    assert (answer.json()["status"], answer.json()["wire_date"], answer.json()["sequence"]) == ("ready", "2026-01-15", 1)
    assert answer.json()["snapshot_age_seconds"] >= (dt.datetime.now(dt.UTC) - NOW).total_seconds() - 60
    assert answer["Cache-Control"] == "no-store"


def test_readyz_tells_nothing_internal_when_the_database_fails(client: Client) -> None:
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE wire_snapshot RENAME TO lost")
        answer = client.get("/readyz")
        transaction.set_rollback(True)
    assert (answer.status_code, answer.json()["what"]) == (503, "database")
    assert "wire_snapshot" not in answer.content.decode()


def test_a_page_of_a_day_shows_the_time_of_its_own_stories_and_the_date_of_others() -> None:
    day, moment = dt.date(2026, 1, 15), dt.datetime(2026, 1, 15, 0, 5, tzinfo=dt.UTC)
    assert (format_moment(moment, day), format_moment(moment)) == ("00:05", "15 Jan 2026, 00:05 UTC")
    assert format_moment(moment - dt.timedelta(minutes=6), day) == "14 Jan, 23:59"
    assert format_moment(moment.astimezone(dt.timezone(dt.timedelta(hours=-5))), day) == "00:05"


def test_midnight_sharp_is_a_date_without_a_time() -> None:
    midnight = dt.datetime(2026, 1, 15, tzinfo=dt.UTC)
    assert (format_moment(midnight, midnight.date()), format_moment(midnight)) == ("", "15 Jan 2026")


def test_the_lead_says_who_is_credited_and_that_it_was_corrected(client: Client) -> None:
    made = entry(publisher="Google News", url="https://news.google.com/articles/x", credited_source="Quince Gazette")
    publish(made)
    corrections.correct_texts(story_of(made).chatbotnews_id, headline="OpenAI says otherwise", reason="Wrong.", now=NOW)
    page = client.get("/day/2026-01-15").content.decode()
    lead = page[page.index('class="lead"') : page.index('class="take"')]
    assert "crediting <bdi>Quince Gazette</bdi>" in lead
    assert '<a href="/corrections">corrected</a>' in lead


def test_what_is_put_into_another_category_after_a_correction_is_not_corrected_again() -> None:
    made = entry()
    publish(made)
    story_id = story_of(made).chatbotnews_id
    corrections.correct_texts(story_id, headline="OpenAI says otherwise", reason="Wrong.", now=NOW)
    corrections.classify_story(story_id, category=Category.ANALYSIS, topics=[Topic.OPENAI], reason="It is analysis.", now=NOW)
    corrections.withdraw_story(story_id, reason="It never happened.", now=NOW)
    assert [told.what for told in queries.list_corrections(9)[0]] == ["Withdrawn", "Reclassified", "Corrected"]


def test_a_reclassification_shows_the_old_and_the_new_category_and_topics(client: Client) -> None:
    publish(made := entry(title="Quince ships", summary=""))
    category, topics = Category(story_of(made).category).label, story_of(made).current.topic_labels  # type: ignore[union-attr]
    story_id = story_of(made).chatbotnews_id
    corrections.classify_story(story_id, category=Category.ANALYSIS, topics=[Topic.OPENAI], reason="It is analysis.", now=NOW)
    page = re.sub(r"\s+", " ", re.sub("<[^>]*>", " ", client.get("/corrections").content.decode()))
    assert f"Reclassified. It is analysis. Category: {category} → {Category.ANALYSIS.label} " in page
    assert f"Topics: {topics or 'none'} → {Topic.OPENAI.label} " in page
