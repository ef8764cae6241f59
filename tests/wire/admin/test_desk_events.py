"""An event's page at the desk: its reports, and merging, splitting, pinning and choosing which of them leads."""

import datetime as dt
import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.test import Client

from sources.entries import Entry
from tests.factories import entry, publish, story_of
from tests.wire.desk import at_desk, person, words
from wire.models import Event, Story

pytestmark = pytest.mark.django_db
LIST = "/admin/wire/event/"
WIRED = {"publisher": "Wired", "summary": "", "published_at": "2026-01-15T11:00:00Z"}
AXIOS = {"publisher": "Axios", "summary": "", "published_at": "2026-01-15T12:00:00Z"}


@pytest.fixture
def desk() -> Client:
    return at_desk("editor")


@pytest.fixture
def purchase() -> list[Entry]:
    """One event of two reports, TechCrunch's first, and another event that tells of the same in other words."""
    made = [
        entry(title="Marmot Cloud buys Gherkin Robotics"),
        entry(title="Marmot Cloud buys Gherkin Robotics, filing says", url="https://www.wired.com/story/marmot", **WIRED),
        entry(title="Antitrust lawyers study a deal for Gherkin", url="https://www.axios.com/2026/01/15/gherkin", **AXIOS),
    ]
    publish(*made)
    assert event_of(made[0]) == event_of(made[1]) != event_of(made[2])
    return made


def event_of(made: Entry) -> str:
    return str(story_of(made).event_id)


def page_of(made: Entry) -> str:
    return f"{LIST}{event_of(made)}/change/"


def do(desk: Client, made: Entry, **form: object) -> str:
    """What is said after a form of the event's page was sent."""
    return words(desk.post(page_of(made), form, follow=True))


def history() -> list[tuple[str, str]]:
    return [(log.object_repr, log.get_change_message()) for log in LogEntry.objects.order_by("pk")]


@pytest.mark.slow
def test_the_list_has_events_of_several_reports_by_their_lead_newest_first(desk: Client, purchase: list[Entry]) -> None:
    later = [
        entry(title="Quince ships thermostats at last", published_at="2026-01-15T13:00:00Z"),
        entry(title="Quince ships thermostats at last, we tried", url="https://www.wired.com/story/quince", **WIRED),
    ]
    publish(*later)
    shown = words(desk.get(LIST))
    assert shown.index("Quince ships thermostats at last 2 2") < shown.index("Marmot Cloud buys Gherkin Robotics 2 2")
    assert "Antitrust lawyers study a deal for Gherkin" not in shown
    assert "15 Jan 2026 13:00 UTC" in shown
    for query in ("filing says", event_of(purchase[0]), story_of(purchase[1]).chatbotnews_id):
        found = words(desk.get(LIST, {"q": query}))
        assert ("Marmot" in found, "thermostats" in found) == (True, False), query
    assert "Nothing here matches the search and filters." in words(desk.get(LIST, {"q": "nobody wrote this"}))


def test_all_events_are_offered_only_where_the_list_leaves_some_out(desk: Client, purchase: list[Entry]) -> None:
    assert "Show all" not in words(desk.get(LIST))
    for query in ({"q": story_of(purchase[0]).chatbotnews_id}, {"queue": "low-agreement"}):
        assert "Show all" in words(desk.get(LIST, query)), query


def test_an_events_page_tells_its_reports_in_the_order_of_time(desk: Client, purchase: list[Entry]) -> None:
    shown = words(desk.get(page_of(purchase[0])))
    assert "2 reports by 2 publications · 2 independent sources" in shown
    first = shown.index("Marmot Cloud buys Gherkin Robotics TechCrunch Tier 2 15 Jan 2026 10:00 UTC")
    assert first < shown.index("filing says Wired Tier 2 15 Jan 2026 11:00 UTC")
    assert "Antitrust lawyers study a deal for Gherkin Axios, 15 Jan 2026 12:00 UTC · similarity 0." in shown
    assert desk.get(f"{LIST}cbn-000000000000/change/").status_code == 404


@pytest.mark.slow
def test_two_events_are_merged_by_choice_by_id_and_by_address(desk: Client, purchase: list[Entry]) -> None:
    other = story_of(purchase[2])
    event = event_of(purchase[0])
    said = do(desk, purchase[0], do="merge", other=other.event_id, reason="One purchase.")
    both = "“Marmot Cloud buys Gherkin Robotics” and “Antitrust lawyers study a deal for Gherkin”"
    assert f"Events merged: {both}. Their event now: “ Marmot Cloud buys Gherkin Robotics ”." in said
    assert " Published: 15 Jan 2026 (revision 2). Reason: One purchase. Automatic grouping" in said
    assert event_of(purchase[2]) == event
    purchase_, deal = "“Marmot Cloud buys Gherkin Robotics”", "“Antitrust lawyers study a deal for Gherkin”"
    became = f"{purchase_} with 2 reports, {deal} with 1 report → {purchase_} with 3 reports"
    assert history()[-1][1] == f"Events merged: One purchase. ({became})"
    assert len(history()) == 3
    shown = words(desk.get(f"{LIST}{other.chatbotnews_id}/change/", follow=True))
    assert "That event was merged into this one." in shown
    for text in (other.chatbotnews_id, f"https://wire.example/story/{other.chatbotnews_id}"):
        do(desk, purchase[2], do="split", story=other.chatbotnews_id, reason="Two after all.")
        assert event_of(purchase[2]) != event
        do(desk, purchase[0], do="merge", other_id=text, reason="One purchase.")
        assert event_of(purchase[2]) == event, text


@pytest.mark.slow
def test_a_merge_without_another_event_or_without_a_reason_changes_nothing(desk: Client, purchase: list[Entry]) -> None:
    before = dict(Story.objects.values_list("pk", "event"))
    own = story_of(purchase[1]).chatbotnews_id
    for form, why in (
        ({}, "Nothing was merged: no other event was chosen."),
        ({"other_id": "cbn-nowhere"}, "no event was found for “cbn-nowhere”."),
        ({"other_id": "cbn-000000000000"}, "no event was found"),
        ({"other_id": own}, f"Nothing was merged: “{own}” leads to this event."),
        ({"other": "cbn-000000000000"}, "There is no event"),
        ({"other": event_of(purchase[2]), "reason": "\u202e"}, "A reason is missing."),
    ):
        page = desk.post(page_of(purchase[0]), {"do": "merge", "reason": "One.", **form})
        assert why in words(page), form
        typed = {"other_id": "", "reason": "One.", **form}
        for name in ("other_id", "reason"):
            field = re.search(rf'<input id="(?:other-id|merge-reason)" name="{name}".*?>', page.content.decode())
            assert field, name
            assert f'value="{typed[name]}"' in field[0], "nobody types it again"
        assert (page.content.decode().count(" checked") == 1) == (form.get("other") == event_of(purchase[2])), form
    assert dict(Story.objects.values_list("pk", "event")) == before
    assert history() == []


@pytest.mark.slow
def test_ticked_reports_are_split_off(desk: Client, purchase: list[Entry]) -> None:
    wired = story_of(purchase[1])
    refused = desk.post(page_of(purchase[0]), {"do": "split", "reason": "Two purchases."})
    assert "Nothing was split: tick at least one report, and leave at least one unticked." in words(refused)
    assert 'value="Two purchases."' in refused.content.decode()  # nobody types it again
    refused = desk.post(page_of(purchase[0]), {"do": "split", "story": wired.chatbotnews_id})
    assert "A reason is missing." in words(refused)
    assert refused.content.decode().count(" checked") == 1
    form = {"do": "split", "story": wired.chatbotnews_id, "reason": "Two purchases."}
    answer = desk.post(page_of(purchase[0]), form, follow=True)
    title = "Marmot Cloud buys Gherkin Robotics, filing says"
    assert f"Split off into an event of their own: “ {title} ” (Wired). Open their event ." in words(answer)
    assert " Published: 15 Jan 2026 (revision 2). " in words(answer)
    assert event_of(purchase[0]) != event_of(purchase[1]) == wired.chatbotnews_id
    for address in (page_of(purchase[1]), f"/event/{wired.chatbotnews_id}"):
        assert f'<a href="{address}">' in answer.content.decode()
    moved = f"“Marmot Cloud buys Gherkin Robotics” with 2 reports → “{title}” with 1 report"
    said = f"Split off into an event of their own: Two purchases. ({moved})"
    assert history() == [(wired.chatbotnews_id, said)]


def test_a_split_of_the_first_report_shows_the_event_that_the_others_stay_in(desk: Client, purchase: list[Entry]) -> None:
    form = {"do": "split", "story": story_of(purchase[0]).chatbotnews_id, "reason": "Two purchases."}
    assert desk.post(page_of(purchase[0]), form)["Location"] == page_of(purchase[1])


def test_another_report_is_made_the_lead(desk: Client, purchase: list[Entry]) -> None:
    story = story_of(purchase[1])
    assert "Leads , chosen by the rules" in words(desk.get(page_of(purchase[0])))
    said = do(desk, purchase[0], do="lead", story=story.chatbotnews_id, reason="It has the filing.")
    assert "filing says ” (Wired) leads this event now." in said
    assert "no day is published again. See the public page ." in said
    assert "Leads , chosen by an editor" in said
    assert Story.objects.get(leads_event=True) == story
    assert "filing says 2 2" in words(desk.get(LIST))
    was = "Marmot Cloud buys Gherkin Robotics"
    lead = f"Chosen to lead its event: It has the filing. (lead: “{was}” → “{was}, filing says”)"
    assert history() == [(story.chatbotnews_id, lead)]
    said = do(desk, purchase[0], do="lead", rules="1", reason="Too early.")
    assert f"The rules chose the lead: “{was}”. Readers see it within a minute" in said
    assert "Leads , chosen by the rules" in said
    assert not Story.objects.filter(leads_event=True).exists()
    assert (story.chatbotnews_id, "No longer chosen to lead its event: Too early.") in history()


def test_its_stories_are_pinned_and_unpinned_together(desk: Client, purchase: list[Entry]) -> None:
    for what, number in (("pin", 2), ("unpin", 0)):
        assert what in do(desk, purchase[0], do=what, reason="Sure.").lower()
        assert Story.objects.filter(event_pinned=True).count() == number
        assert f"Nothing was changed: {what}ned already." in do(desk, purchase[0], do=what)
    assert [why for _, why in history()] == ["Pinned: Sure.", "Pinned: Sure.", "Unpinned: Sure.", "Unpinned: Sure."]


@pytest.mark.slow
def test_a_report_of_another_event_or_an_unknown_form_changes_nothing(desk: Client, purchase: list[Entry]) -> None:
    other = story_of(purchase[2]).chatbotnews_id
    for form in ({"do": "lead", "story": other}, {"do": "lead"}, {"do": "burn"}, {}):
        assert "Nothing was changed" in do(desk, purchase[0], **form), form
    assert not Story.objects.filter(leads_event=True).exists()


def test_an_events_page_says_which_days_are_final_and_where_a_reason_becomes_public(desk: Client, purchase: list[Entry]) -> None:
    page = words(desk.get(page_of(purchase[0])))
    assert page.count("final day") >= 2
    assert "Final: 15 Jan 2026. If a merge or a split changes a final day, that day is published again, and the reason" in page
    now = dt.datetime.now(dt.UTC).replace(microsecond=0)
    publish(fresh := entry(title="Okapi sails", published_at=now - dt.timedelta(minutes=1)), now=now)
    page = words(desk.get(page_of(fresh)))
    assert "No day of this event is final." in page


def test_headlines_that_ask_are_followed_by_no_second_mark(desk: Client) -> None:
    made = [entry(title="Will Okapi sail?"), entry(title="Why does Marmot Cloud rain?", **WIRED)]
    publish(*made)
    merged = desk.post(page_of(made[0]), {"do": "merge", "other": event_of(made[1]), "reason": "One?"}, follow=True)
    split = do(desk, made[0], do="split", story=story_of(made[1]).chatbotnews_id, reason="Two")
    for said in (words(merged), split):
        assert not re.search(r"[?.] ?[.;]", said.partition("Reports, oldest")[0]), said
    assert "Reason: Two. Automatic grouping" in split


def test_who_only_looks_is_shown_the_event_and_no_form(purchase: list[Entry]) -> None:
    looker, client = person("looker"), Client()
    looker.user_permissions.set(Permission.objects.filter(codename__in=("view_story", "view_event")))
    client.force_login(looker)
    page = client.get(page_of(purchase[0])).content.decode()
    assert "Reports, oldest first" in page
    assert 'name="do"' not in page
    assert client.post(page_of(purchase[0]), {"do": "pin"}).status_code == 403
    assert at_desk().get(page_of(purchase[0])).status_code == 403


def test_an_event_whose_reports_were_all_withdrawn_says_so(desk: Client) -> None:
    publish(made := entry())
    Story.objects.update(status="withdrawn")
    page = words(desk.get(page_of(made)))
    assert "Readers see no report of this event" in page
    assert "Merge with another event" not in page
    assert Event.objects.count() == 1


@pytest.mark.slow
def test_a_search_for_an_event_with_one_report_leads_to_its_story(desk: Client, purchase: list[Entry]) -> None:
    publish(lone := entry(title="Okapi sails"), entry(title="Tax on quince and okapi fur rises again"))
    story = story_of(lone)
    for text in (story.chatbotnews_id, "okapi sails"):
        answer = desk.get("/admin/wire/event/", {"q": text}, follow=True)
        assert answer.redirect_chain == [(f"/admin/wire/story/{story.pk}/change/", 302)], text
        assert "What you searched for has only one." in words(answer)
    assert desk.get("/admin/wire/event/", {"q": "Okapi"}, follow=True).redirect_chain == [("/admin/wire/story/?q=Okapi", 302)]
    assert "matches the search" in words(desk.get("/admin/wire/event/", {"q": "nothing at all"}))
    assert desk.get("/admin/wire/event/", {"q": event_of(purchase[0])}).status_code == 200
    assert at_desk().get("/admin/wire/event/", {"q": "Marmot"}).status_code == 403
