"""Publisher content at the desk: adding, changing, testing and removing, by those who may."""

import datetime as dt
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.test import Client
from pytest_django import Settings

from tests.wire.corpora.articles.publishers import HOSTILE, NOW, count, draft, publisher, store
from tests.wire.corpora.articles.test_payment import PRICE
from tests.wire.desk import at_desk, save, words
from wire.corpora.articles import indexer
from wire.corpora.articles import store as storing
from wire.corpora.articles.models import Article, Publisher, Source
from wire.corpora.articles.x402 import describe_price
from wire.models import WireState

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nobody(db: None) -> None:  # noqa: ARG001
    """No publisher but those that a test makes."""
    Publisher.objects.all().delete()


LIST = "/admin/articles/publisher/"
SOURCES = "/admin/articles/source/"
ARTICLES = "/admin/articles/article/"


@pytest.fixture
def desk() -> Client:
    return at_desk("editor")


@pytest.fixture
def reader() -> Client:
    """Somebody who may look at publisher content, and no more."""
    user = User.objects.create_user("reader", is_staff=True)
    views = Permission.objects.filter(content_type__app_label="articles", codename__startswith="view_")
    user.user_permissions.set(views)
    client = Client()
    client.force_login(user)
    return client


def form(*sources: tuple[str, str], **changes: object) -> dict[str, object]:
    """A publisher's form, filled in, with these new sources."""
    facts: dict[str, object] = {
        **{"name": "Quill", "slug": "quill", "homepage": "https://quill.example/", "domains": "quill.example"},
        **{"consent_note": "By letter.", "consented_on": "2026-03-01", "full_text": "on", "excerpt_length": 600},
        **{"left_out": "", "licence_kind": "none", "licence": "", "may_answer": "on"},
        **{"sources-TOTAL_FORMS": len(sources), "sources-INITIAL_FORMS": 0},
    }
    for number, (kind, url) in enumerate(sources):
        facts |= {f"sources-{number}-kind": kind, f"sources-{number}-url": url}
    return {name: value for name, value in (facts | changes).items() if value is not None}


def change(made: Publisher) -> str:
    return f"{LIST}{made.pk}/change/"


def errors(answer: Any) -> set[str]:
    """The fields that a form was refused for."""
    assert answer.status_code == 200, answer
    return set(answer.context["adminform"].form.errors)


def test_a_publisher_that_is_added_is_served_at_once(desk: Client, client: Client) -> None:
    before = WireState.objects.get().version
    sources = (("feed", "https://quill.example/feed"), ("sitemap", "https://www.quill.example/sitemap.xml"))
    answer = save(desk, f"{LIST}add/", form(*sources, left_out="/private/\n\n/drafts/\n/private/", domains=" Quill.example \n"))
    assert answer.status_code == 302, words(answer)
    made = Publisher.objects.get(slug="quill")
    assert (made.domains, made.left_out, made.may_train) == (["quill.example"], ["/private/", "/drafts/"], False)
    assert list(made.sources.values_list("kind", "url")) == list(sources)
    assert WireState.objects.get().version > before, "what is cached of the list must go"
    assert client.get("/articles/quill").status_code == 200
    assert client.get("/articles/quill/ai.txt").status_code == 200
    assert client.get("/api/articles/quill/recent.json").json()["articles"] == []
    assert "Articles are read by the next ingest" in words(desk.get(LIST))
    assert [one["slug"] for one in client.get("/api/articles/publishers.json").json()["publishers"]] == ["quill"]


def test_changed_terms_show_at_once_and_are_in_the_history(desk: Client, client: Client) -> None:
    quill = publisher("quill", 1)
    assert "User-Agent: *\nDisallow: /" in client.get("/articles/quill/ai.txt").content.decode()
    before = WireState.objects.get().version
    assert save(desk, change(quill), form(slug=None, may_train="on", full_text=None, name="The Quill")).status_code == 302
    quill.refresh_from_db()
    assert (quill.slug, quill.name, quill.may_train, quill.full_text) == ("quill", "The Quill", True, False)
    assert WireState.objects.get().version > before
    assert "User-Agent: *\nAllow: /" in client.get("/articles/quill/ai.txt").content.decode()
    entry = LogEntry.objects.get()
    assert "May train" in entry.get_change_message()
    assert "The Quill" in words(desk.get(f"{LIST}{quill.pk}/history/"))


def test_a_slug_is_made_from_the_name_unless_it_is_given(desk: Client) -> None:
    assert not desk.get(f"{LIST}add/").context["adminform"].prepopulated_fields, "typing would be added to it"
    assert save(desk, f"{LIST}add/", form(slug="", name="The Quill & Co.")).status_code == 302
    assert Publisher.objects.get().slug == "the-quill-co"
    assert errors(save(desk, f"{LIST}add/", form(slug="", name="鹅毛笔"))) == {"slug"}


PRICED = {"price": "0.01", "currency": "USDC on Base", "pay_to": "0x209693Bc6afc0C5328bA36FaF03C514EF312287C"}


def test_without_payments_no_price_is_asked_for(desk: Client) -> None:
    shown = desk.get(f"{LIST}add/")
    assert "Every article is free until the operator sets WIRE_X402_FACILITATOR." in words(shown)
    fields = shown.context["adminform"].form.fields
    assert [fields[name].disabled for name in PRICED] == [True] * 3
    assert save(desk, f"{LIST}add/", form(**PRICED)).status_code == 302
    made = Publisher.objects.get()
    assert made.price == {}
    Publisher.objects.update(price=PRICE)
    shown_price = {"price": "0.01", "currency": "Test money on wire:test", "pay_to": "the-chef"}
    assert errors(save(desk, change(made), form(**shown_price, slug=None))) == {"price"}
    assert save(desk, change(made), form(**shown_price | {"price": ""}, slug=None)).status_code == 302


def test_all_that_is_wrong_is_said_at_once(desk: Client, settings: Settings) -> None:
    settings.WIRE_X402_FACILITATOR = "https://facilitator.example"
    wrong = {"slug": "publishers", "domains": "com\nco.uk", "left_out": "private/", "licence_kind": "cc"}
    answer = save(desk, f"{LIST}add/", form(**wrong, price="much", currency="", pay_to=""))
    assert errors(answer) == {"slug", "domains", "left_out", "licence", "price", "currency", "pay_to"}
    assert all(f"“{domain}”" in words(answer) for domain in ("com", "co.uk"))


@pytest.mark.slow
def test_a_price_is_a_number_and_a_currency(desk: Client, settings: Settings) -> None:
    settings.WIRE_X402_FACILITATOR = "https://facilitator.example"
    assert save(desk, f"{LIST}add/", form(**PRICED)).status_code == 302
    made = Publisher.objects.get()
    assert describe_price(made.price) == "0.01 USD Coin on eip155:8453"
    opened = desk.get(change(made)).context["adminform"].form.initial
    assert {name: opened[name] for name in PRICED} == PRICED
    other = PRICE | {"maxTimeoutSeconds": 99}
    Publisher.objects.update(price=other)  # by the command, in a currency that the desk does not offer
    shown = {"price": "0.01", "currency": "Test money on wire:test", "pay_to": "the-chef"}
    assert save(desk, change(made), form(**shown, slug=None)).status_code == 302
    made.refresh_from_db()
    assert made.price == other
    assert save(desk, change(made), form(**shown | {"price": "0.02"}, slug=None)).status_code == 302
    made.refresh_from_db()
    assert made.price == other | {"amount": "20000"}
    assert save(desk, change(made), form(**shown | {"price": ""}, slug=None)).status_code == 302
    made.refresh_from_db()
    assert made.price == {}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"consent_note": ""}, "consent_note"),
        ({"consented_on": ""}, "consented_on"),
        ({"domains": ""}, "domains"),
        ({"domains": "https://quill.example/"}, "domains"),
        ({"domains": "quill.example\nquill example"}, "domains"),
        ({"domains": "com"}, "domains"),
        ({"domains": "quill.example\nco.uk"}, "domains"),
        ({"domains": "GitHub.io:8443"}, "domains"),
        ({"domains": "kobe.jp"}, "domains"),
        ({"domains": "xn--55qx5d.cn"}, "domains"),
        ({"domains": "quill.example\x00"}, "domains"),
        ({"domains": "*.quill.example"}, "domains"),
        ({"left_out": "private/"}, "left_out"),
        ({"left_out": "/private\n/a b"}, "left_out"),
        ({"left_out": "/\x00"}, "left_out"),
        ({"homepage": "ftp://quill.example/"}, "homepage"),
        ({"homepage": "javascript:alert(1)"}, "homepage"),
        ({"slug": "publishers"}, "slug"),
        ({"slug": "Publishers"}, "slug"),
        ({"slug": "a b"}, "slug"),
        ({"excerpt_length": 5001}, "excerpt_length"),
        ({"licence_kind": "cc"}, "licence"),
        ({"licence_kind": "rsl", "licence": "See our site."}, "licence"),
        ({**PRICED, "price": "-1"}, "price"),
        ({**PRICED, "price": "0.0000001"}, "price"),
        ({**PRICED, "price": "1e30"}, "price"),
        ({**PRICED, "currency": ""}, "currency"),
        ({**PRICED, "currency": "Dollars"}, "currency"),
        ({**PRICED, "pay_to": ""}, "pay_to"),
        ({**PRICED, "pay_to": "the chef"}, "pay_to"),
    ],
)
def test_what_cannot_be_is_refused_at_its_field(desk: Client, changes: dict[str, str], field: str, settings: Settings) -> None:
    settings.WIRE_X402_FACILITATOR = "https://facilitator.example"
    assert errors(save(desk, f"{LIST}add/", form(**changes))) == {field}
    assert not Publisher.objects.exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    "url", ["https://elsewhere.example/feed", "https://notquill.example/feed", "https://quill.example:8443/feed", "not an address"]
)
def test_a_source_on_another_host_is_refused(desk: Client, url: str) -> None:
    answer = save(desk, f"{LIST}add/", form(("feed", url)))
    assert answer.status_code == 200
    assert list(answer.context["inline_admin_formsets"][0].formset.errors[0]) == ["url"]
    host = url.removeprefix("https://").partition("/")[0]
    shown = "Nothing was saved. URL : " + (
        f"This is not on the publisher&#x27;s own hosts: quill.example. If {host} is" if "//" in url else ""
    )
    assert shown in words(answer)
    assert not Publisher.objects.exists()


def test_a_source_twice_is_refused(desk: Client) -> None:
    answer = save(desk, f"{LIST}add/", form(*[("feed", "https://quill.example/feed")] * 2))
    assert answer.status_code == 200
    assert not Source.objects.exists()


@pytest.mark.slow
def test_what_another_editor_saved_meanwhile_is_not_overwritten_and_indexing_disturbs_nobody(desk: Client) -> None:
    quill = publisher("quill")
    seen = desk.get(change(quill)).context["adminform"].form.initial["seen"]
    Publisher.objects.update(indexed_at=NOW)
    assert desk.post(change(quill), form(slug=None, name="One", seen=seen)).status_code == 302
    answer = desk.post(change(quill), form(slug=None, name="Two", seen=seen))
    assert "Somebody else saved this meanwhile" in words(answer)
    quill.refresh_from_db()
    assert quill.name == "One"


@pytest.mark.slow
def test_the_list_and_a_publishers_page_show_how_it_fares(desk: Client) -> None:
    quill = publisher("quill", 3)
    store(quill, draft(quill, 10, title="", markdown=None), draft(quill, 11, title="", markdown=None))
    storing.mark_failed(Article.objects.filter(state="waiting").first() or Article(), "No article on it.", NOW)
    fine = {"kind": "feed", "url": "https://quill.example/feed", "asked_at": NOW, "worked_at": NOW, "found": 3}
    Source.objects.create(publisher=quill, **fine)
    failing = {"kind": "sitemap", "asked_at": NOW, "failures": 4, "error": "The server answered 503."}
    Source.objects.create(publisher=quill, url="https://quill.example/sitemap.xml", **failing)
    publisher("medlar")
    for page in (LIST, change(quill)):
        shown = words(desk.get(page))
        assert "fine: 3 articles on 15 Mar 2026 10:00 UTC" in shown
        assert "failing (4 in a row): The server answered 503." in shown
    assert "Quill quill 3 1 1 0" in words(desk.get(LIST))
    assert "Medlar medlar 0 0 0 0 none" in words(desk.get(LIST))
    assert "3 served 1 waiting: named by a sitemap, page not read yet 1 failed" in words(desk.get(change(quill)))
    assert f'<a href="{SOURCES}{quill.sources.all()[0].pk}/change/">Test…</a>' in desk.get(change(quill)).content.decode()


@pytest.mark.slow
def test_removing_is_a_step_of_its_own_that_leaves_a_tombstone(desk: Client, client: Client) -> None:
    quill = publisher("quill", 2)
    Source.objects.create(publisher=quill, kind="feed", url="https://quill.example/feed")
    count(quill, NOW.date(), "list-recent")
    assert desk.get(f"{LIST}{quill.pk}/delete/").status_code == 403
    assert b"deletelink" not in desk.get(change(quill)).content
    page = f"{LIST}{quill.pk}/remove/"
    shown = words(desk.get(page))
    assert "All of its articles are deleted, including 2 that are served now" in shown
    assert "This cannot be undone." in shown
    assert "This field is required." in words(desk.post(page, {"reason": ""}))
    assert client.get("/articles/quill").status_code == 200
    before = WireState.objects.get().version
    answer = desk.post(page, {"reason": "They asked us to."}, follow=True)
    assert "Removed, with 2 articles. Its addresses now answer that it was removed." in words(answer)
    assert "Remove…" not in words(answer)
    quill.refresh_from_db()
    assert quill.removed_at is not None
    assert [rows.exists() for rows in (Article.objects, quill.sources, quill.counts)] == [False] * 3
    assert WireState.objects.get().version > before
    assert LogEntry.objects.get().change_message == "Removed, with 2 articles. Reason: They asked us to."
    told = f"Quill was removed on {quill.removed_at:%Y-%m-%d} and is no longer served."
    for path in ("/articles/quill", "/articles/quill/asked", "/articles/quill/llms.txt", "/api/articles/quill.json"):
        answer = client.get(path)
        assert answer.status_code == 404
        assert told in answer.content.decode()
    assert b'name="_save"' not in desk.get(change(quill)).content
    assert desk.post(change(quill), form(slug=None)).status_code == 403
    assert "already removed" in words(desk.post(page, {"reason": "Again."}, follow=True))
    assert "already exists" in words(save(desk, f"{LIST}add/", form()))


@pytest.mark.slow
def test_articles_are_found_and_looked_at_with_what_they_said_before_and_never_edited(desk: Client) -> None:
    quill = publisher("quill", 2)
    publisher("medlar", 1)
    store(quill, draft(quill, 0, title="Rewritten", markdown=HOSTILE), draft(quill, 5, title=HOSTILE))
    assert "4 articles" in words(desk.get(ARTICLES))
    assert "Medlar served 15 Mar 2026 10:00 UTC" in words(desk.get(ARTICLES))
    Article.objects.filter(publisher__slug="medlar").update(error="The server answered 503.")
    assert "Medlar served: The server answered 503." in words(desk.get(ARTICLES))
    assert "Rewritten" in words(desk.get(ARTICLES, {"q": "rewritten"}))
    assert "3 articles" in words(desk.get(ARTICLES, {"publisher__id__exact": str(quill.pk), "state__exact": "live"}))
    assert "0 articles" in words(desk.get(ARTICLES, {"state__exact": "gone"}))
    page = f"{ARTICLES}{Article.objects.get(title='Rewritten').pk}/change/"
    shown = desk.get(page).content.decode()
    assert 'href="https://quill.example/article-0"' in shown
    assert "Quince number 0" in shown, "its revision"
    assert "<script>alert(1)" not in shown + desk.get(ARTICLES).content.decode()
    assert b'name="_save"' not in desk.get(page).content
    assert desk.post(page, {"title": "Ours"}).status_code == 403
    assert desk.get(f"{ARTICLES}add/").status_code == 403


@pytest.fixture
def source() -> Source:
    return Source.objects.create(publisher=publisher("quill"), kind="feed", url="https://quill.example/feed")


def test_a_test_shows_what_would_be_stored_and_stores_nothing(
    desk: Client, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    quill = source.publisher
    tried = [draft(quill, 0, title=HOSTILE), draft(quill, 1, markdown=None, title="", published_at=None)]
    monkeypatch.setattr(indexer, "preview_source", lambda one: tried if one == source else [])
    assert b'form="test-source"' in desk.get(f"{SOURCES}{source.pk}/change/").content
    answer = desk.post(f"{SOURCES}{source.pk}/test")
    shown = words(answer)
    assert "1 article with text; 1 without, to be read from its page. A feed’s summaries" in shown
    assert "are not taken for articles. Nothing was stored." in shown
    assert "(none) Ada Quill from its page https://quill.example/article-1" in shown
    assert "&lt;script&gt;alert(1)" in answer.content.decode()
    assert not Article.objects.exists()
    monkeypatch.setattr(indexer, "preview_source", lambda _one: [draft(quill, number) for number in range(150)])
    assert "Only the first 100 are shown." in words(desk.post(f"{SOURCES}{source.pk}/test"))
    monkeypatch.setattr(indexer, "preview_source", lambda _one: [])
    assert "The source lists no articles. Nothing was stored." in words(desk.post(f"{SOURCES}{source.pk}/test"))
    monkeypatch.setattr(indexer, "preview_source", lambda _one: "The server answered <503>.")
    assert "The server answered &lt;503&gt;. Nothing was stored." in words(desk.post(f"{SOURCES}{source.pk}/test"))
    assert desk.get(f"{SOURCES}{source.pk}/test").status_code == 405


def test_readers_look_and_change_nothing(reader: Client, source: Source, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexer, "preview_source", lambda _one: pytest.fail("the publisher was asked"))
    quill = source.publisher
    store(quill, draft(quill, 0))
    for page in (LIST, change(quill), SOURCES, f"{SOURCES}{source.pk}/change/", ARTICLES):
        answer = reader.get(page)
        assert answer.status_code == 200
        assert b'name="_save"' not in answer.content
        assert "Remove…" not in words(answer)
        assert b"test-source" not in answer.content.replace(b'id="test-source"', b"")
    assert "Domains quill.example" in words(reader.get(change(quill)))
    for page in (f"{LIST}add/", f"{LIST}{quill.pk}/remove/"):
        assert reader.get(page).status_code == 403
    for page in (change(quill), f"{LIST}{quill.pk}/remove/", f"{SOURCES}{source.pk}/test"):
        assert reader.post(page, {"reason": "Mine."}).status_code == 403
    assert Article.objects.count() == 1


@pytest.mark.parametrize("role", ["editor", "publisher"])
def test_both_groups_have_it_in_their_menu(role: str) -> None:
    shown = words(at_desk(role).get("/admin/"))
    for title in ("Publisher content", "Publishers", "Publishers' sources", "Publishers' articles"):
        assert title in shown


def test_staff_without_a_group_and_strangers_see_nothing(source: Source) -> None:
    stranger = at_desk()
    for page in (LIST, SOURCES, ARTICLES, change(source.publisher), f"{LIST}{source.publisher_id}/remove/"):
        assert stranger.get(page).status_code == 403
        answer = Client().get(page)
        assert (answer.status_code, answer["Location"].partition("?")[0]) == (302, "/admin/login/")
    assert "Publishers' sources" not in words(stranger.get("/admin/"))


def test_a_form_of_another_site_removes_nobody() -> None:
    quill = publisher("quill", 1)
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(User.objects.create_superuser("root"))
    assert strict.post(f"{LIST}{quill.pk}/remove/", {"reason": "None."}).status_code == 403
    quill.refresh_from_db()
    assert quill.removed_at is None


def test_a_hostile_name_is_text_at_the_desk(desk: Client) -> None:
    quill = publisher("quill", 1, name=HOSTILE[:120], licence=HOSTILE, consent_note=HOSTILE)
    for page in (LIST, change(quill), f"{LIST}{quill.pk}/remove/", ARTICLES, f"{LIST}{quill.pk}/history/"):
        assert "<script>alert(1)" not in desk.get(page).content.decode()


def test_the_day_of_consent_is_a_day(desk: Client) -> None:
    assert errors(save(desk, f"{LIST}add/", form(consented_on="soon"))) == {"consented_on"}
    assert save(desk, f"{LIST}add/", form()).status_code == 302
    assert Publisher.objects.get().consented_on == dt.date(2026, 3, 1)


def test_the_spare_row_of_sources_is_left_out_unless_it_is_filled_in(desk: Client) -> None:
    quill = publisher("quill", 1)
    page = desk.get(change(quill)).content.decode()
    spare = page[page.index('name="sources-0-kind"') :]
    assert spare.index('<option value="" selected>') < spare.index('<option value="feed">')
    kept = form(("", ""), slug=None, name="The Quill")
    assert save(desk, change(quill), kept).status_code == 302
    assert not quill.sources.exists()
