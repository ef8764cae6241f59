"""The site: pages for people, safe whatever a publisher wrote; health; keys."""

import datetime as dt
import re
from html.parser import HTMLParser
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from tests.contract import BRIEFLY, SHARED
from tests.factories import DAY, NOW, entry, publish, story_of
from wire import editorial, queries
from wire.models import EditorTake, WireState
from wire.templatetags.wire_site import when
from wire.vocabulary import Category, Topic

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
        harmless = {("type", "application/ld+json"), ("src", "/static/wire/site.js")}  # data that no browser runs, and our own
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


def test_the_home_page_of_a_wire_without_news_says_so(client: Client) -> None:
    assert "Nothing is published yet" in page(client, "/").text


def test_a_story_page_shows_the_story_and_its_six_citations(client: Client) -> None:
    made = entry(author="Ada Quill")
    publish(made)
    story = client.get(f"/api/stories/{story_of(made).chatbotnews_id}.json").json()
    answer = client.get(f"/story/{story['chatbotnews_id']}")
    found = Page(answer.content.decode())
    assert made.title in found.text
    assert "Ada Quill" in found.text
    assert all(citation in found.text for citation in story["citation_objects"].values())
    assert story["original_url"] in found.links
    assert answer["Cache-Control"] == BRIEFLY


def test_the_page_of_a_withdrawn_story_says_so_and_cites_nothing(client: Client) -> None:
    made = entry()
    publish(made)
    story_id = story_of(made).chatbotnews_id
    editorial.withdraw(story_id, reason="Retracted by its publisher.", now=NOW)
    found = page(client, f"/story/{story_id}")
    assert f"Withdrawn: {made.title}" in found.text
    assert "According to" not in found.text
    assert "@misc" not in found.text
    assert "Cite it" not in found.text


def test_the_sources_page_lists_the_24_by_tier(client: Client) -> None:
    found = page(client, "/sources")
    names = [source["name"] for source in client.get("/api/sources.json").json()["sources"]]
    assert len(names) == 24
    assert all(name in found.text for name in names)
    assert [f"Tier {n}: " in found.text for n in (1, 2, 3, 4)] == [True] * 4


def test_an_editors_take_page_shows_the_rendered_brief(client: Client) -> None:
    publish(entry(summary="Quinces are golden."))
    found = page(client, "/editor-take/2026-01-15")
    assert "Editor's Take: 15 January 2026" in found.text
    assert "Quinces are golden" in found.text
    assert "strong" in found.tags


@pytest.mark.parametrize(
    "address", ["/nowhere", "/story/cbn-000000000000", "/story/x", "/editor-take/2026-01-20", "/editor-take/today"]
)
def test_what_is_not_there_is_a_404_page(client: Client, address: str) -> None:
    assert "There is no such page" in page(client, address, 404).text


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_what_a_publisher_wrote_is_text_and_never_markup(client: Client, hostile: str) -> None:
    made = entry(title=f"Quince {hostile}", summary=f"Golden {hostile}.", author=f"Ada {hostile}")
    publish(made)
    (story,) = client.get("/api/today.json").json()["stories"]
    shown = {
        "/": story["headline"],
        f"/story/{story['chatbotnews_id']}": story["headline"],
        "/editor-take/2026-01-15": story["citation_objects"]["layered_ready"],
    }
    for address, text in shown.items():
        found = page(client, address)
        assert text in found.text
        assert {"script", "img", "b", "iframe"}.isdisjoint(found.tags)
        assert not [name for name, _ in found.attributes if name.startswith("on")]
        own = ("/", "#", "http://localhost:8000/", "https://techcrunch.com/", "https://creativecommons.org/")
        assert all(link.startswith(own) for link in found.links)


def test_an_editors_own_markdown_cannot_carry_a_script(client: Client) -> None:
    EditorTake.objects.create(wire_date=DAY, markdown="# Ripe\n\n<script>alert(1)</script> [x](javascript:alert(1))", author="Ada")
    publish(entry())
    found = page(client, "/editor-take/2026-01-15")
    assert "script" not in found.tags
    assert not [link for link in found.links if link.startswith("javascript")]


def test_the_sample_wire_has_a_banner_on_every_page(client: Client) -> None:
    call_command("loadsample", stdout=StringIO())
    story_id = client.get("/api/today.json").json()["stories"][0]["chatbotnews_id"]
    for address in ("/", "/sources", f"/story/{story_id}", "/editor-take/2026-10-15", "/nowhere"):
        assert BANNER in client.get(address).content.decode(), address
    assert client.get("/api/today.json").json()["meta"]["sample"] is True


def test_the_sample_wire_says_that_it_asks_no_feeds_and_where_the_real_ones_are_told_of(client: Client) -> None:
    call_command("loadsample", stdout=StringIO())
    told = client.get("/api/health/feeds.json").json()
    assert told["note"].startswith("The sample wire asks no feeds.")
    assert "manage.py doctor" in told["note"]
    shown = client.get("/freshness").content.decode()
    assert ("The sample wire asks no feeds." in shown, "manage.py doctor" in shown) == (True, True)
    assert ("Never asked." in shown, "Not asked yet." in shown) == (True, False)


def test_the_live_wire_has_nothing_to_add_about_its_feeds(client: Client) -> None:
    publish(entry())
    assert client.get("/api/health/feeds.json").json()["note"] is None
    shown = client.get("/freshness").content.decode()
    assert ("asks no feeds" in shown, "Not asked yet." in shown) == (False, True)


def test_the_live_wire_has_no_such_banner(client: Client) -> None:
    publish(entry())
    assert not WireState.objects.get().is_sample
    for address in PAGES:
        assert BANNER not in client.get(address).content.decode(), address


@pytest.mark.parametrize("address", [*PAGES, "/healthz", "/readyz", "/.well-known/wire-keys.json"])
def test_pages_are_only_ever_read(client: Client, address: str) -> None:
    publish(entry())
    assert client.head(address).status_code == client.get(address).status_code
    assert client.head(address).content == b""
    if address != "/nowhere":
        assert client.post(address)["Allow"] == "GET, HEAD"


def test_the_keys_that_ever_signed_are_public(client: Client) -> None:
    assert client.get("/.well-known/wire-keys.json").json() == {"keys": []}
    publish(entry())
    answer = client.get("/.well-known/wire-keys.json")
    assert answer["Access-Control-Allow-Origin"] == "*"  # a page elsewhere verifies a day, too
    (key,) = answer.json()["keys"]
    assert list(key) == ["key_id", "algorithm", "public_key", "created_at", "retired_at"]
    assert (key["algorithm"], key["retired_at"]) == ("Ed25519", None)


def test_healthz_answers_though_nothing_is_published(client: Client) -> None:
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json(), answer["Cache-Control"]) == (200, {"status": "ok"}, "no-store")


def test_readyz_waits_for_a_first_day(client: Client) -> None:
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


def test_a_time_reads_the_same_all_day(monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages are kept until the day ends or something is published."""
    moment = dt.datetime(2026, 1, 15, 0, 5, tzinfo=dt.UTC)
    told = []
    for minutes in (0, 1, 90, 23 * 60, 24 * 60):
        monkeypatch.setattr(timezone, "now", lambda minutes=minutes: moment + dt.timedelta(minutes=minutes))
        told.append(when(moment))
    assert told == ["00:05 UTC"] * 4 + ["15 Jan 2026"]
    assert when(moment.astimezone(dt.timezone(dt.timedelta(hours=-5)))) == "15 Jan 2026"


def test_a_story_of_several_authors_names_each_to_indexers(client: Client) -> None:
    made = entry(author="Mark Bergen, Dina Bass")
    publish(made)
    page = client.get(f"/story/{story_of(made).chatbotnews_id}").content.decode()
    assert re.findall('name="citation_author" content="(.*?)"', page) == ["Mark Bergen", "Dina Bass"]


def test_what_is_shared_of_a_withdrawn_story_says_so_and_tells_it_no_more(client: Client) -> None:
    made = entry(summary="Quince was never made.")
    publish(made)
    editorial.withdraw(story_of(made).chatbotnews_id, reason="It never happened.", now=NOW)
    head, _, _ = client.get(f"/story/{story_of(made).chatbotnews_id}").content.decode().partition("<body")
    assert f"<title>Withdrawn: {made.title}" in head
    assert f'property="og:title" content="Withdrawn: {made.title}"' in head
    assert "This story was withdrawn; it is not to be cited." in head
    assert "never made" not in head
    assert '<meta name="robots" content="noindex">' in head


def test_the_lead_says_who_is_credited_and_that_it_was_corrected(client: Client) -> None:
    made = entry(publisher="Google News", url="https://news.google.com/articles/x", credited_source="Quince Gazette")
    publish(made)
    editorial.correct(story_of(made).chatbotnews_id, headline="OpenAI says otherwise", reason="Wrong.", now=NOW)
    page = client.get("/day/2026-01-15").content.decode()
    lead = page[page.index('class="lead"') : page.index('class="take"')]
    assert "crediting <bdi>Quince Gazette</bdi>" in lead
    assert '<a href="/corrections">corrected</a>' in lead


def test_what_is_put_into_another_category_after_a_correction_is_not_corrected_again() -> None:
    made = entry()
    publish(made)
    story_id = story_of(made).chatbotnews_id
    editorial.correct(story_id, headline="OpenAI says otherwise", reason="Wrong.", now=NOW)
    editorial.classify(story_id, category=Category.ANALYSIS, topics=[Topic.OPENAI], reason="It is analysis.", now=NOW)
    editorial.withdraw(story_id, reason="It never happened.", now=NOW)
    assert [told.what for told in queries.corrections(9)[0]] == ["Withdrawn", "Reclassified", "Corrected"]
