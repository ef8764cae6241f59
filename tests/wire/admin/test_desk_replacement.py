"""Names at the desk: aliases, and replacing a publication in two steps: what is asked, what is shown, and what is refused."""

import html
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.management import call_command
from django.test import Client

from sources import roster
from sources.models import Feed, Publication, RosterRevision
from tests.factories import entry, publish
from tests.wire.archives import everything
from tests.wire.desk import at_desk, save, words
from wire.text.choices import NEWER_RULES

pytestmark = pytest.mark.django_db

PAGE = "/admin/sources/publication/replace/"


@pytest.fixture
def desk() -> Client:
    return at_desk("publisher")


def answers(**changes: object) -> dict[str, Any]:
    form = {
        "retire": Publication.objects.get(slug="fortune").pk,
        "slug": "the-gazette",
        "name": "The Gazette of Examples",
        "aliases": "Gazette of Examples",
        "domains": "gazette.example\ngazette.example.org",
        "tier": 3,
        "homepage": "https://gazette.example/",
        "feed_type": "rss",
        "feed_url": "https://gazette.example/feed",
        "reason": "It closed.",
    }
    return form | changes


def proposal(desk: Client, **changes: object) -> str:
    """What step two asks to confirm."""
    found = re.search(r'name="confirmed" value="([^"]+)"', desk.post(PAGE, answers(**changes)).content.decode())
    assert found is not None
    return found[1]


def test_step_one_asks_and_going_back_to_it_keeps_the_answers(desk: Client) -> None:
    leaves = Publication.objects.get(slug="fortune").pk
    page = desk.get(f"/admin/sources/publication/{leaves}/replace/", follow=True).content.decode()
    assert "Step 1 of 2" in page
    assert f'<option value="{leaves}" selected>' in page
    page = desk.post(PAGE, answers(back="1")).content.decode()
    assert "Step 1 of 2" in page
    assert 'value="The Gazette of Examples"' in page


@pytest.mark.slow
def test_step_two_shows_what_changes_and_changes_nothing(desk: Client) -> None:
    publish(entry())
    before = everything()
    answer = desk.post(PAGE, answers())
    shown = words(answer)
    assert everything() == before
    told = ("Step 2 of 2", "Fortune", "The Gazette of Examples", "gazette.example, gazette.example.org", "1 → 2", "It closed.")
    assert [part for part in (*told, roster.get_current_roster().fingerprint) if part not in shown] == []
    assert "<input" in answer.content.decode()


@pytest.mark.slow
def test_its_reason_is_kept_without_what_nobody_can_see_and_with_nothing_else_it_is_none(desk: Client) -> None:
    for reason in ("\u202e", "\x01\x0b", NEWER_RULES):
        assert b"confirmed" not in desk.post(PAGE, answers(reason=reason)).content
    assert roster.get_current_roster().number == 1
    pasted = {"reason": "\u202eIt closed,\x0b\x01\r\nas Word has it."}
    assert "It closed, as Word has it." in words(desk.post(PAGE, answers(**pasted)))
    desk.post(PAGE, answers(confirmed=proposal(desk, **pasted), **pasted))
    assert roster.get_current_roster().reason == LogEntry.objects.get().get_change_message() == "It closed, as Word has it."


@pytest.mark.slow
def test_what_was_confirmed_is_done_with_the_fingerprint_that_was_shown_and_stays_readable(desk: Client) -> None:
    shown = desk.post(PAGE, answers(aliases="Gazette of Examples\nThe Examples")).content.decode()
    hidden = {name: html.unescape(value) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', shown) if name != "back"}
    confirmed = hidden["confirmed"]
    answer = desk.post(PAGE, hidden, follow=True)
    assert Publication.objects.get(slug="the-gazette").aliases == ["Gazette of Examples", "The Examples"]
    assert f"The roster's fingerprint is now {roster.get_current_roster().fingerprint}" in html.unescape(words(answer))
    assert confirmed == f"2 {roster.get_current_roster().fingerprint}"
    assert roster.find_problem() is None
    assert Feed.objects.get(publication__slug="the-gazette").url == "https://gazette.example/feed"
    log = LogEntry.objects.get()
    assert (log.get_edited_object(), log.change_message, log.user.get_username()) == (
        roster.get_current_roster(),
        "It closed.",
        "publisher",
    )
    for revision in RosterRevision.objects.all():
        assert revision.fingerprint in words(desk.get(f"/admin/sources/rosterrevision/{revision.pk}/change/"))


def test_what_changed_after_it_was_shown_is_shown_again(desk: Client) -> None:
    confirmed = proposal(desk)
    assert "Step 2 of 2" in words(desk.post(PAGE, answers(confirmed=confirmed, tier=2)))
    assert RosterRevision.objects.count() == 1
    quince: dict[str, Any] = {"slug": "other", "name": "Quince Post", "aliases": [], "domains": ["quince.example"], "tier": 3}
    quince |= {"homepage": "https://quince.example/", "feeds": []}
    roster.replace_publication(Publication.objects.get(slug="axios"), quince, reason="Meanwhile.")
    shown = words(desk.post(PAGE, answers(confirmed=confirmed)))
    assert "nothing was replaced" in shown
    assert "2 → 3" in shown
    assert RosterRevision.objects.count() == 2


REFUSED = [
    *(
        ("retire", "", "This field is required"),
        ("retire", "99999", "Select a valid choice"),
        ("tier", "9", "Select a valid choice"),
    ),
    *(("name", "", "This field is required"), ("name", "Wired", "Another publication has this name")),
    *(("name", "The Wired", "already means Wired"), ("name", "TechСrunch", "TechСrunch resembles TechCrunch.")),
    *(("name", "Тhe Verge", "CYRILLIC CAPITAL LETTER TE"), ("name", "Bloomberg Law", "resembles Bloomberg")),
    *(
        ("name", "\u202eGazette", "is not a name"),
        ("slug", "wired", "in the roster already"),
        ("slug", "not a slug", "valid “slug”"),
    ),
    ("aliases", "Gazette\nTech Crunch", "Tech Crunch already means TechCrunch"),
    *(("aliases", "Gazette\nWlred", "Wlred resembles Wired"), ("aliases", "x" * 121, "is not a name")),
    ("domains", "techcrunch.co", "techcrunch.co resembles TechCrunch"),
    *(("domains", "x" * 113 + ".example", "is not a name"), ("domains", "https://gazette.example", "not a host name")),
    *(("domains", "gazette", "not a host name"), ("domains", " \n", "This field is required")),
    *(
        ("domains", "www.wired.com", "already means Wired"),
        ("homepage", "nowhere", "valid URL"),
        ("feed_url", "", "needs its address"),
    ),
    *(("feed_url", "https://gazette.example/" + "x" * 500, "at most 500"), ("reason", "", "This field is required")),
]


@pytest.mark.slow
def test_a_refusal_names_the_field(desk: Client) -> None:
    for field, value, told in REFUSED:
        answer = desk.post(PAGE, answers(**{field: value}))
        assert list(answer.context["form"].errors) == [field], value
        assert told in words(answer), value
    for query in ("", "AI\u202esnihc"):
        answer = desk.post(PAGE, answers(feed_type="query", feed_url="", feed_query=query))
        assert list(answer.context["form"].errors) == ["feed_query"], query
    assert RosterRevision.objects.count() == 1


def test_who_left_may_come_back_and_only_by_its_name(desk: Client) -> None:
    desk.post(PAGE, answers(confirmed=proposal(desk)))
    back = {"retire": Publication.objects.get(slug="axios").pk, "slug": "fortune", "aliases": "", "domains": "fortune.com"}
    refused = desk.post(PAGE, answers(**back, name="Other Fortune Times"))
    assert list(refused.context["form"].errors) == ["slug"]
    assert "Readmitted Fortune" in words(desk.post(PAGE, answers(**back, name="Fortune")))


def test_editors_do_not_replace_and_publishers_have_no_way_round_the_two_steps(desk: Client) -> None:
    editor = at_desk("editor")
    assert editor.get(PAGE).status_code == 403
    assert editor.post(PAGE, answers()).status_code == 403
    assert desk.post("/admin/sources/rosterrevision/add/", answers()).status_code == 403
    assert RosterRevision.objects.count() == 1


def save_aliases(desk: Client, aliases: str) -> Any:
    """The answer to TechCrunch's form with these aliases."""
    page = f"/admin/sources/publication/{Publication.objects.get(slug='techcrunch').pk}/change/"
    return save(desk, page, {"aliases": aliases, "feeds-TOTAL_FORMS": 0, "feeds-INITIAL_FORMS": 0})


@pytest.mark.slow
def test_an_alias_never_names_another_publication_so_that_no_look_alike_is_vouched_for(desk: Client) -> None:
    for aliases, said in {
        "Reuters\nOpenAI": "Reuters already means Reuters.",
        "TC\nТhe Verge": "Тhe Verge resembles The Verge.",
        "Rcuters": "Rcuters resembles Reuters: one would be mistaken for the other.",
        "W1red": "W1red resembles Wired",
    }.items():
        answer = save_aliases(desk, aliases)
        assert answer.status_code == 200
        assert said in answer.content.decode(), aliases
    assert not desk.get("/api/verify-source.json", {"publication_name": "Тhe Verge"}).json()["in_roster"]
    assert Publication.objects.get(slug="techcrunch").aliases == []


@pytest.mark.slow
def test_an_alias_that_no_page_or_dump_can_show_is_refused(desk: Client, tmp_path: Path) -> None:
    for alias in ("a\x00b", "\u202esretueR", "T\u200bC", "x" * 121, "x" * 10_000):
        answer = save_aliases(desk, alias)
        assert "is not a name: use at most 120 visible characters" in answer.content.decode(), alias
        assert f"{alias}</textarea>" in answer.content.decode(), "it is not typed again"
    call_command("dumpwire", str(tmp_path / "dump.jsonl"))
    assert Publication.objects.get(slug="techcrunch").aliases == []


def test_a_publication_that_is_saved_without_a_change_says_so(desk: Client) -> None:
    publication = Publication.objects.get(slug="techcrunch")
    form: dict[str, object] = {"owner": publication.owner, "owner_since": publication.owner_since or "", "_continue": "1"}
    form |= {"feeds-TOTAL_FORMS": 0, "feeds-INITIAL_FORMS": 0}
    said = words(save(desk, f"/admin/sources/publication/{publication.pk}/change/", form, follow=True))
    assert "Nothing was changed." in said
    assert "Readers see the change" not in said
    assert not LogEntry.objects.exists()


def test_the_members_of_a_roster_are_shown_one_a_line(desk: Client) -> None:
    page = desk.get(f"/admin/sources/rosterrevision/{RosterRevision.objects.get().pk}/change/").content.decode()
    assert "TechCrunch, tier 2, techcrunch.com<br>" in page


def test_domains_are_shown_one_a_line(desk: Client) -> None:
    Publication.objects.filter(slug="techcrunch").update(domains=["techcrunch.com", "tcrn.ch"])
    page = desk.get(f"/admin/sources/publication/{Publication.objects.get(slug='techcrunch').pk}/change/").content.decode()
    assert "techcrunch.com<br>tcrn.ch" in page


def test_an_alias_of_ones_own_may_be_added(desk: Client) -> None:
    assert save_aliases(desk, "Tech Crunch\r\n\r\n TCrunch ").status_code == 302
    assert Publication.objects.get(slug="techcrunch").aliases == ["Tech Crunch", "TCrunch"]


def test_a_publications_page_says_why_some_of_it_is_fixed_and_who_may_change_the_rest() -> None:
    page = f"/admin/sources/publication/{Publication.objects.get(slug='techcrunch').pk}/change/"
    shown = words(at_desk("publisher").get(page))
    assert "Fixed These are the roster&#x27;s public record" in shown.replace("'", "&#x27;")
    assert "Only the group" not in shown
    assert ("URL" in shown, "AI only" in shown, "Url" in shown, "Ai only" in shown) == (True, True, False, False)
    assert "Only the group “publisher” may change these." in words(at_desk("editor").get(page))
