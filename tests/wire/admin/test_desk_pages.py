"""The desk as a whole: its name, its navigation, its roles, and that nothing is loaded from elsewhere."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser, Group, Permission, User
from django.contrib.staticfiles import finders
from django.core.exceptions import PermissionDenied
from django.core.management import call_command
from django.test import Client, RequestFactory
from django.urls import get_resolver

from sources.models import Feed, Publication
from tests.factories import DAY, entry, feed_of, publish, story_of
from tests.wire.desk import PASSWORD, at_desk, person, save, words
from wire import permissions
from wire.models import EditorTake, LexiconTerm, Snapshot, WireState
from wire.site.errors import forbidden

pytestmark = pytest.mark.django_db

LISTS = (
    *("wire/story", "wire/event", "wire/editortake", "wire/lexiconterm", "wire/snapshot", "wire/signingkey", "wire/usagecount"),
    *("sources/publication", "sources/feed", "sources/rosterrevision", "admin/logentry"),
)


def allowed(client: Client, *pages: str) -> list[str]:
    return [page for page in pages if client.get(f"/admin/{page}/").status_code == 200]


def test_the_desk_has_its_name_and_its_own_navigation() -> None:
    shown = words(at_desk("publisher").get("/admin/"))
    assert "ChatbotNews.ai desk" in shown
    for title in ("Dashboard", "Stories", "Lexicon", "Feeds", "Roster history", "Replace a publication", "Usage", "History"):
        assert title in shown
    assert "Users" not in shown


def test_every_page_of_the_sample_wire_says_so() -> None:
    desk = at_desk("editor")
    assert "Sample wire" not in words(desk.get("/admin/wire/story/"))
    WireState.objects.update(is_sample=True)
    assert "Sample wire" in words(desk.get("/admin/wire/story/"))


def test_nothing_is_loaded_from_elsewhere() -> None:
    for page, client in (("login/", Client()), ("", desk := at_desk("publisher")), ("wire/story/", desk)):
        loaded = re.findall(r'<(?:link|script|img)\b[^>]*(?:href|src)="([^"]+)"', client.get(f"/admin/{page}").content.decode())
        assert loaded
        for address in loaded:
            assert address.startswith(("/static/", "/admin/")), address
            if address.startswith("/static/") and address.endswith(".css"):
                file = finders.find(address.removeprefix("/static/"))
                assert file is not None, address
                with open(str(file), encoding="utf-8") as sheet:
                    assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", sheet.read()), address


def test_pages_show_without_a_script() -> None:
    page = at_desk("editor").get("/admin/").content.decode()
    (sheet,) = re.findall(r'<noscript><link rel="stylesheet" href="/static/([^"]+)"></noscript>', page)
    file = finders.find(sheet)
    assert file is not None
    assert "html[x-cloak] { display: block !important }" in Path(str(file)).read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("role", ["editor", "publisher"])
def test_editors_and_publishers_see_everything_but_people(role: str) -> None:
    assert allowed(at_desk(role), *LISTS, "auth/user", "auth/group") == list(LISTS)


def test_staff_without_a_group_sees_nothing() -> None:
    desk = at_desk()
    assert allowed(desk, *LISTS, "auth/user", "sources/publication/replace", "sources/publication/export") == []
    shown = words(desk.get("/admin/"))
    assert "no role yet" in shown
    assert "Stories" not in shown


def test_superusers_manage_people() -> None:
    client = Client()
    client.force_login(User.objects.create_superuser("root"))
    pages = ("auth/user", "auth/group", "auth/user/add", "auth/group/add")
    assert allowed(client, *pages) == list(pages)


@pytest.mark.slow
def test_editors_change_news_and_lexicon_but_neither_roster_nor_feeds() -> None:
    publish(made := entry())
    editor, publication = at_desk("editor"), Publication.objects.get(slug="wired").pk
    may = (f"wire/story/{story_of(made).pk}/change", "wire/editortake/add", "wire/lexiconterm/add")
    assert allowed(editor, *may) == list(may)
    assert b'name="_save"' in editor.get(f"/admin/{may[0]}/").content
    for page in (f"sources/publication/{publication}/change", f"sources/feed/{feed_of('wired').pk}/change"):
        assert b'name="_save"' not in editor.get(f"/admin/{page}/").content
        assert editor.post(f"/admin/{page}/", {}).status_code == 403
    assert allowed(editor, "sources/publication/replace", "sources/rosterrevision/add") == []


def test_publishers_tune_aliases_and_feeds() -> None:
    before = WireState.objects.get().version
    wired, feed = Publication.objects.get(slug="wired"), feed_of("wired")
    feeds = {"feeds-TOTAL_FORMS": "2", "feeds-INITIAL_FORMS": "1", "feeds-MIN_NUM_FORMS": "0", "feeds-MAX_NUM_FORMS": "1000"}
    for number, (pk, url) in enumerate(((feed.pk, feed.url), ("", "https://www.wired.com/second"))):
        values = {"id": pk, "publication": wired.pk, "feed_type": "rss", "url": url, "query": "", "active": "on", "note": ""}
        feeds |= {f"feeds-{number}-{name}": str(value) for name, value in values.items()}
    desk = at_desk("publisher")
    answer = save(desk, f"/admin/sources/publication/{wired.pk}/change/", {"aliases": "Wired Mag", **feeds}, follow=True)
    assert answer.redirect_chain, words(answer)
    assert 'See the <a href="/source/wired">public page</a>.' in answer.content.decode()
    wired.refresh_from_db()
    assert wired.aliases == ["Wired Mag"]
    assert WireState.objects.get().version > before, "what is kept of the roster must go"
    assert wired.feeds.filter(url="https://www.wired.com/second").exists()
    form = {"feed_type": feed.feed_type, "url": "https://wired.example/new", "query": "", "active": "on"}
    form |= {"health-TOTAL_FORMS": "0", "health-INITIAL_FORMS": "0"}
    assert save(desk, f"/admin/sources/feed/{feed.pk}/change/", form).status_code == 302
    assert Feed.objects.get(pk=feed.pk).url == "https://wired.example/new"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("owner", "since", "refused"),
    [
        ("Quince House", "2026-01-01", ""),
        ("", "", ""),
        ("", "2026-01-01", "Name the owner, too."),
        ("Quince\u202eHouse", "", "Use visible characters."),
    ],
)
def test_publishers_say_who_owns_a_publication_and_since_when(owner: str, since: str, refused: str) -> None:
    wired = Publication.objects.get(slug="wired")
    form = {"aliases": "", "owner": owner, "owner_since": since, "feeds-TOTAL_FORMS": "0", "feeds-INITIAL_FORMS": "0"}
    answer = save(at_desk("publisher"), f"/admin/sources/publication/{wired.pk}/change/", form)
    wired.refresh_from_db()
    if refused:
        assert refused in words(answer)
        assert wired.owner == "Condé Nast"
    else:
        assert (answer.status_code, wired.owner, str(wired.owner_since or "")) == (302, owner, since)


def test_publishers_do_not_change_who_is_in_a_group() -> None:
    publisher, other = at_desk("publisher"), person("other")
    assert publisher.post(f"/admin/auth/user/{other.pk}/change/", {"username": "other", "groups": "1"}).status_code == 403
    assert not other.groups.exists()


def test_nobody_edits_what_was_published_or_done() -> None:
    publish(entry())
    publisher, root = at_desk("publisher"), Client()
    root.force_login(User.objects.create_superuser("root"))
    snapshot, wired = f"wire/snapshot/{Snapshot.objects.get().pk}", f"sources/publication/{feed_of('wired').publication_id}"
    kinds = ("wire/snapshot", "wire/signingkey", "wire/usagecount", "admin/logentry", "sources/publication")
    added = [f"{kind}/add" for kind in (*kinds, "sources/rosterrevision")]
    for page in (f"{snapshot}/change", f"{snapshot}/delete", f"{wired}/delete", *added):
        for desk in (publisher, root):
            assert desk.post(f"/admin/{page}/", {"post": "yes"}).status_code == 403, page


def test_buttons_to_try_a_feed_are_for_those_who_may() -> None:
    address = f"/admin/sources/feed/{feed_of('wired').pk}/change/"
    assert b'form="test-feed"' in at_desk("editor").get(address).content
    looker = person("looker")
    looker.user_permissions.set(Group.objects.get(name="editor").permissions.filter(codename="view_feed"))
    client = Client()
    client.force_login(looker)
    assert b'form="test-feed"' not in client.get(address).content


def test_founding_the_roles_again_sets_what_they_may() -> None:
    editor = Group.objects.get(name="editor")
    before = set(editor.permissions.values_list("codename", flat=True))
    editor.permissions.clear()
    permissions.create_groups()
    assert set(editor.permissions.values_list("codename", flat=True)) == before
    assert Group.objects.count() == 2
    assert {*permissions.EDITED, "view_story", "view_logentry"} <= before
    assert set(Group.objects.get(name="publisher").permissions.values_list("codename", flat=True)) - before == {
        *permissions.PUBLISHED,
        *("add_apikey", "change_apikey"),
    }


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_an_emptied_database_has_its_roles_again() -> None:
    call_command("flush", interactive=False, verbosity=0)
    assert Group.objects.get(name="editor").permissions.filter(codename="try_feed").exists()
    assert LexiconTerm.objects.exists()


@pytest.mark.slow
def test_nothing_is_saved_over_what_another_editor_saved_meanwhile() -> None:
    wired, desk = Publication.objects.get(slug="wired"), at_desk("publisher")
    feed, page = feed_of("wired"), f"/admin/sources/publication/{wired.pk}/change/"
    seen = desk.get(page).context["adminform"].form.initial["seen"]
    Feed.objects.filter(pk=feed.pk).update(url="https://wired.example/repaired")
    feeds: dict[str, Any] = {"feeds-TOTAL_FORMS": 1, "feeds-INITIAL_FORMS": 1, "feeds-0-id": feed.pk}
    feeds |= {"feeds-0-publication": wired.pk, "feeds-0-feed_type": "rss", "feeds-0-url": feed.url, "feeds-0-active": "on"}
    answer = desk.post(page, {"aliases": "Wired Mag", "seen": seen, **feeds})
    assert answer.status_code == 200
    assert "Somebody else saved this meanwhile. Your change was not saved: reopen this and repeat it." in words(answer)
    assert "Wired Mag</textarea>" in answer.content.decode()
    feed.refresh_from_db()
    assert feed.url == "https://wired.example/repaired"
    assert desk.post(page, {"aliases": "", **feeds}).status_code == 200, "nor by whoever does not say what was opened"


@pytest.mark.slow
def test_whoever_only_looks_is_not_shown_what_a_form_keeps_for_itself() -> None:
    looker = person("looker")
    looker.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    client = Client()
    client.force_login(looker)
    take = EditorTake.objects.create(wire_date=DAY, markdown="# Ours")
    for page in (
        f"sources/publication/{feed_of('wired').publication_id}",
        f"sources/feed/{feed_of('wired').pk}",
        f"wire/lexiconterm/{LexiconTerm.objects.all()[0].pk}",
        f"wire/editortake/{take.pk}",
    ):
        answer = client.get(f"/admin/{page}/change/")
        assert answer.status_code == 200
        assert "Seen" not in words(answer).split(), page


def test_who_logs_in_without_going_anywhere_comes_to_the_desk(client: Client) -> None:
    name = person("boss", "editor").username
    assert client.post("/admin/login/", {"username": name, "password": PASSWORD})["Location"] == "/admin/"
    assert client.get("/admin")["Location"] == "/admin/"


def test_a_form_that_was_opened_before_the_login_says_what_to_do() -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(person("editor", "editor"))
    answer = strict.post("/admin/wire/editortake/add/", {})
    assert answer.status_code == 403
    assert "Nothing was changed" in words(answer)
    assert "reload the page" in words(answer)


def test_what_is_only_read_refuses_all_else_without_asking_for_a_token() -> None:
    for address in ("/", "/robots.txt", "/day/2026-01-15"):
        answer = Client(enforce_csrf_checks=True).post(address)
        assert (answer.status_code, answer["Allow"]) == (405, "GET, HEAD"), address


def test_whoever_lacks_a_permission_is_told_in_the_sites_own_style_what_to_do() -> None:
    answer = at_desk("editor").get("/admin/auth/user/")
    assert answer.status_code == 403
    page = words(answer)
    assert "You do not have permission Nothing was changed. The account editor does not have permission for this page." in page
    assert "Log out" in page
    assert "wire/site.css" in answer.content.decode()


def test_what_is_forbidden_on_the_site_says_where_to_log_in(rf: RequestFactory) -> None:
    request = rf.get("/day/2026-01-15")
    request.user = AnonymousUser()
    answer = forbidden(request, PermissionDenied())
    assert answer.status_code == 403
    assert 'href="/admin/login/?next=/day/2026-01-15"' in answer.content.decode()
    assert "csrfmiddlewaretoken" not in answer.content.decode()


def test_both_address_books_use_the_sites_pages_for_what_is_forbidden() -> None:
    for urlconf in ("config.urls", "config.public_urls"):
        assert get_resolver(urlconf).resolve_error_handler(403) is forbidden


def test_an_expired_form_is_told_in_the_sites_own_style() -> None:
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(person("editor", "editor"))
    page = strict.post("/admin/wire/story/1/withdraw/", {"reason": "No."}).content.decode()
    assert "wire/site.css" in page
    assert "<h1>This form has expired</h1>" in page
