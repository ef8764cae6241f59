"""Replacing a publication in two steps: what is asked, what is shown, and what is refused."""

import re
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from sources import roster
from sources.models import Feed, Publication, RosterRevision
from tests.factories import entry, publish
from tests.wire.archives import everything
from tests.wire.desk import at_desk, words
from wire.vocabulary import NEWER_RULES

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
        "domains": "gazette.example, gazette.example.org",
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


def test_step_one_asks(desk: Client) -> None:
    leaves = Publication.objects.get(slug="fortune").pk
    page = desk.get(f"/admin/sources/publication/{leaves}/replace/", follow=True).content.decode()
    assert "Step 1 of 2" in page
    assert f'<option value="{leaves}" selected>' in page


def test_step_two_shows_what_changes_and_changes_nothing(desk: Client) -> None:
    publish(entry())
    before = everything()
    answer = desk.post(PAGE, answers())
    shown = words(answer)
    assert everything() == before
    for told in (
        "Step 2 of 2",
        "Fortune",
        "The Gazette of Examples",
        "gazette.example, gazette.example.org",
        "1 → 2",
        "It closed.",
    ):
        assert told in shown
    assert roster.current().fingerprint in shown
    assert "<input" in answer.content.decode()


def test_its_reason_is_kept_without_what_nobody_can_see(desk: Client) -> None:
    pasted = {"reason": "\u202eIt closed,\x0b\x01\r\nas Word has it."}
    assert "It closed, as Word has it." in words(desk.post(PAGE, answers(**pasted)))
    desk.post(PAGE, answers(confirmed=proposal(desk, **pasted), **pasted))
    assert roster.current().reason == LogEntry.objects.get().get_change_message() == "It closed, as Word has it."


@pytest.mark.parametrize("reason", ["\u202e", "\x01\x0b", NEWER_RULES])
def test_a_reason_that_nobody_can_see_or_use_replaces_nothing(desk: Client, reason: str) -> None:
    assert b"confirmed" not in desk.post(PAGE, answers(reason=reason)).content
    assert roster.current().number == 1


def test_what_was_confirmed_is_done_with_the_fingerprint_that_was_shown(desk: Client) -> None:
    confirmed = proposal(desk)
    answer = desk.post(PAGE, answers(confirmed=confirmed), follow=True)
    assert f"The fingerprint is now {roster.current().fingerprint}" in words(answer)
    assert confirmed == f"2 {roster.current().fingerprint}"
    assert roster.problem() is None
    assert Feed.objects.get(publication__slug="the-gazette").url == "https://gazette.example/feed"


def test_a_replacement_is_in_the_history_with_its_reason(desk: Client) -> None:
    desk.post(PAGE, answers(confirmed=proposal(desk)))
    log = LogEntry.objects.get()
    assert (log.get_edited_object(), log.change_message, log.user.get_username()) == (roster.current(), "It closed.", "publisher")


def test_going_back_keeps_the_answers(desk: Client) -> None:
    page = desk.post(PAGE, answers(back="1")).content.decode()
    assert "Step 1 of 2" in page
    assert 'value="The Gazette of Examples"' in page


def test_what_changed_after_it_was_shown_is_shown_again(desk: Client) -> None:
    confirmed = proposal(desk)
    roster.replace(
        Publication.objects.get(slug="axios"),
        {
            **{"slug": "other", "name": "Quince Post", "aliases": [], "domains": ["quince.example"], "tier": 3},
            **{"homepage": "https://quince.example/", "feeds": []},
        },
        reason="Meanwhile.",
    )
    shown = words(desk.post(PAGE, answers(confirmed=confirmed)))
    assert "nothing was replaced" in shown
    assert "2 → 3" in shown
    assert RosterRevision.objects.count() == 2


def test_other_facts_than_those_confirmed_replace_nothing(desk: Client) -> None:
    assert "Step 2 of 2" in words(desk.post(PAGE, answers(confirmed=proposal(desk), tier=2)))
    assert RosterRevision.objects.count() == 1


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("retire", "", "This field is required"),
        ("retire", "99999", "Select a valid choice"),
        ("name", "", "This field is required"),
        ("name", "Wired", "Another publication has this name"),
        ("name", "The Wired", "is read as Wired"),
        ("name", "TechСrunch", "TechСrunch resembles TechCrunch."),
        ("name", "Тhe Verge", "CYRILLIC CAPITAL LETTER TE"),
        ("name", "Bloomberg Law", "resembles Bloomberg"),
        ("name", "\u202eGazette", "is no name"),
        ("slug", "wired", "in the roster already"),
        ("slug", "not a slug", "valid “slug”"),
        ("aliases", "Gazette, Tech Crunch", "Tech Crunch is read as TechCrunch"),
        ("aliases", "Gazette, Wlred", "Wlred resembles Wired"),
        ("aliases", "x" * 121, "is no name"),
        ("domains", "techcrunch.co", "techcrunch.co resembles TechCrunch"),
        ("domains", "x" * 113 + ".example", "is no name"),
        ("domains", "https://gazette.example", "not a host name"),
        ("domains", "gazette", "not a host name"),
        ("domains", ",", "at least one host name"),
        ("domains", "www.wired.com", "is read as Wired"),
        ("tier", "9", "Select a valid choice"),
        ("homepage", "nowhere", "valid URL"),
        ("feed_url", "", "needs its address"),
        ("feed_url", "https://gazette.example/" + "x" * 500, "at most 500"),
        ("reason", "", "This field is required"),
    ],
)
def test_a_refusal_names_the_field(desk: Client, field: str, value: str, told: str) -> None:
    answer = desk.post(PAGE, answers(**{field: value}))
    assert list(answer.context["form"].errors) == [field]
    assert told in words(answer)
    assert RosterRevision.objects.count() == 1


def test_a_query_feed_needs_its_search(desk: Client) -> None:
    answer = desk.post(PAGE, answers(feed_type="query", feed_url=""))
    assert list(answer.context["form"].errors) == ["feed_query"]


def test_a_search_that_nobody_sees_is_refused(desk: Client) -> None:
    answer = desk.post(PAGE, answers(feed_type="query", feed_url="", feed_query="AI\u202esnihc"))
    assert list(answer.context["form"].errors) == ["feed_query"]


def test_who_left_may_come_back_and_only_by_its_name(desk: Client) -> None:
    desk.post(PAGE, answers(confirmed=proposal(desk)))
    back = {"retire": Publication.objects.get(slug="axios").pk, "slug": "fortune", "aliases": "", "domains": "fortune.com"}
    refused = desk.post(PAGE, answers(**back, name="Other Fortune Times"))
    assert list(refused.context["form"].errors) == ["slug"]
    assert "Readmitted Fortune" in words(desk.post(PAGE, answers(**back, name="Fortune")))


def test_editors_do_not_replace() -> None:
    desk = at_desk("editor")
    assert desk.get(PAGE).status_code == 403
    assert desk.post(PAGE, answers()).status_code == 403
    assert RosterRevision.objects.count() == 1


def test_there_is_no_way_round_the_two_steps(desk: Client) -> None:
    assert desk.post("/admin/sources/rosterrevision/add/", answers()).status_code == 403
    assert RosterRevision.objects.count() == 1


def test_a_past_replacement_can_be_read(desk: Client) -> None:
    desk.post(PAGE, answers(confirmed=proposal(desk)))
    for revision in RosterRevision.objects.all():
        assert revision.fingerprint in words(desk.get(f"/admin/sources/rosterrevision/{revision.pk}/change/"))
