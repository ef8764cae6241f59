"""A story's page for review, and the history of what editors did."""

import datetime as dt
import re

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.test import Client

from sources.models import Publication
from tests.factories import entry, publish, published, story_of
from tests.wire.desk import at_desk, person, run_at_once, save, story_form, words
from wire import queries
from wire.admin import commands
from wire.admin.stories import get_headline
from wire.ingest import corrections
from wire.models import EditorTake, Snapshot, Story
from wire.publishing.story_json import get_permalink
from wire.text.choices import NEWER_RULES

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> Client:
    return at_desk("editor")


def page_of(story: Story) -> str:
    return f"/admin/wire/story/{story.pk}/change/"


def withdraw(desk: Client, story: Story, reason: str) -> str:
    """What is said after the confirmation of a withdrawal."""
    return words(save(desk, f"/admin/wire/story/{story.pk}/withdraw/", {"reason": reason}, follow=True))


def history() -> list[tuple[str, str]]:
    """(what, why) of the history, oldest first."""
    return [(log.object_repr, log.get_change_message()) for log in LogEntry.objects.order_by("pk")]


def test_a_story_leads_to_its_public_page_and_a_withdrawn_one_can_still_be_read(desk: Client) -> None:
    story = published(title="Quince ships")
    corrections.withdraw_story(story.chatbotnews_id, reason="Retracted.")
    answer = desk.get(page_of(story))
    assert f'href="/story/{story.chatbotnews_id}"' in answer.content.decode()
    assert "Save" not in words(answer)
    assert "0 reports Corroboration none: a withdrawn story is not counted" in words(answer)


def test_markup_in_what_a_publisher_wrote_is_shown_as_text(desk: Client) -> None:
    story = published(title="Tags such as &lt;script&gt;alert(1)&lt;/script&gt; explained")
    page = desk.get(page_of(story)).content.decode()
    assert "<script>alert(1)" not in page
    address = story.original_url
    assert f'<a href="{address}" rel="noopener noreferrer">{address}</a>' in page, "it tells nobody where it was"


def test_a_correction_leaves_who_what_and_why(desk: Client) -> None:
    story = published()
    form = story_form(story, headline="What it <b>really</b> said", topics=["nvidia"], reason="It was garbled.")
    saved = desk.post(page_of(story), form, follow=True).content.decode()
    see = f'See the <a href="/story/{story.chatbotnews_id}">public page</a>.'
    assert f'Saved: “<a href="{page_of(story)}">What it really said</a>”. {see}' in saved
    told = story.revisions.latest("revision")
    assert (told.headline, told.status, told.reason) == ("What it really said", "corrected", "It was garbled.")
    log = LogEntry.objects.get()
    assert (log.user.get_username(), log.object_repr) == ("editor", story.chatbotnews_id)
    assert story.current is not None
    was = f"Headline: “{story.current.headline}” → “What it really said”; Topics: “none” → “NVIDIA”"
    assert log.change_message == f"Corrected headline; classified: It was garbled. ({was})"


@pytest.mark.slow
def test_a_reason_that_readers_take_for_a_rebuilds_or_that_nobody_can_see_is_refused(desk: Client) -> None:
    story = published()
    for reason in (NEWER_RULES, f"\u200b{NEWER_RULES.upper()}", "Read again  with newer rules."):
        shown = words(desk.post(page_of(story), story_form(story, headline="Other", reason=reason), follow=True))
        assert "would hide this change" in shown, reason
    for reason in ("", "\u202e", "\x01\x02", " \x0b "):
        shown = words(desk.post(page_of(story), story_form(story, headline="Other", reason=reason)))
        assert "Every change needs a reason" in shown, reason
    desk.post("/admin/wire/story/", {"action": "split_off", "_selected_action": [story.pk], "reason": "Why not."})
    assert (Story.objects.get().status, history()) == ("live", [])
    desk.post("/admin/wire/story/", {"action": "pin", "_selected_action": [story.pk], "reason": "\u202e"})
    assert history() == [(story.chatbotnews_id, "Pinned")]


def test_a_reason_is_kept_without_what_nobody_can_see(desk: Client) -> None:
    story = published()
    desk.post(page_of(story), story_form(story, headline="Other", reason="\u202epasted\x0bfrom <Word>\x01 &amp; on"))
    assert story.revisions.latest("revision").reason == "pasted from <Word> &amp; on"
    ((shown, what),) = history()
    assert (shown, what.partition(" (")[0]) == (story.chatbotnews_id, "Corrected headline: pasted from <Word> &amp; on")


@pytest.mark.slow
def test_what_a_correction_leaves_as_it_was_is_no_part_of_it_and_nothing_at_all_is_not_published(desk: Client) -> None:
    story = published(title="Quince ships early", author="Ada Quill", summary="It ships now. It is early.")
    same = {"headline": "Quince  <b>ships</b> early", "author": "By Ada Quill", "summary": "It ships now.  It is early."}
    shown = words(desk.post(page_of(story), story_form(story, reason="One blank too few.", **same), follow=True))
    assert "Nothing was corrected." in shown
    assert (Story.objects.get().status, story.revisions.count(), Snapshot.objects.count(), history()) == ("live", 1, 1, [])
    form = story_form(story, **same | {"summary": "It ships now. It is late.", "reason": "It is late."})
    assert "Nothing was corrected." not in words(desk.post(page_of(story), form, follow=True))
    told = story.revisions.latest("revision")
    assert (told.revision, told.headline, told.summary_medium) == (2, "Quince ships early", "It ships now. It is late.")
    assert Story.objects.get().status == "corrected"


def test_merge_split_and_unpin_leave_an_entry_a_story(desk: Client) -> None:
    publish(
        one := entry(title="Marmot Cloud buys thermostats"),
        two := entry(title="Gherkins are on the rise", url="https://techcrunch.com/w/", published_at="2026-01-15T11:00:00Z"),
    )
    pair = [story_of(one), story_of(two)]
    for action, reason in (("merge_events", "One purchase."), ("split_off", "Two after all."), ("unpin", "")):
        chosen = [story.pk for story in (pair if action == "merge_events" else pair[:1])]
        desk.post("/admin/wire/story/", {"action": action, "_selected_action": chosen, "reason": reason})
    first = pair[0].chatbotnews_id
    bought, rise = one.title, two.title
    merged = f"Events merged: One purchase. (“{rise}” with 1 report, “{bought}” with 1 report → “{bought}” with 2 reports)"
    assert set(history()[:2]) == {(story.chatbotnews_id, merged) for story in pair}
    split = f"Split off into an event of their own: Two after all. (“{bought}” with 2 reports → “{bought}” with 1 report)"
    assert history()[2:] == [(first, split), (first, "Unpinned")]


def test_the_history_says_who_did_what_when_and_why(desk: Client) -> None:
    story = published()
    withdraw(desk, story, "Retracted.")
    assert Story.objects.get().status == "withdrawn"
    assert desk.post(page_of(story), story_form(story, headline="Back")).status_code == 403
    assert history() == [(story.chatbotnews_id, "Withdrawn: Retracted.")]
    shown = words(desk.get("/admin/admin/logentry/"))
    for told in ("editor", get_headline(story), "Withdrawn: Retracted.", f"{dt.datetime.now(dt.UTC):%Y}"):
        assert told in shown


@pytest.mark.slow
def test_a_change_that_the_wire_refuses_is_told_and_keeps_everything(desk: Client) -> None:
    now = dt.datetime.now(dt.UTC)
    publish(entry(published_at=now), now=now)
    story = Story.objects.select_related("current").get()
    Publication.objects.filter(slug="fortune").update(name="Misfortune")  # breaks the roster's fingerprint
    shown = words(desk.post(page_of(story), story_form(story, headline="Other", reason="Wrong."), follow=True))
    assert "do not match the fingerprint" in shown
    assert "Nothing was changed." in shown
    written = {"wire_date": story.wire_date, "markdown": "# Mine"}
    assert "Nothing was changed." in words(desk.post("/admin/wire/editortake/add/", written, follow=True))
    assert (story.revisions.count(), Snapshot.objects.count(), EditorTake.objects.count(), history()) == (1, 1, 0, [])


def test_a_form_that_was_opened_before_a_newer_revision_or_does_not_say_changes_nothing(desk: Client) -> None:
    story = published(title="Quince ships")
    stale = story_form(story, category="funding", reason="It is about money.")
    publish(entry(title="Quince ships early", url=story.original_url))
    for form in (stale, stale | {"seen": ""}):
        answer = desk.post(page_of(story), form)
        assert "Somebody else saved this meanwhile" in answer.content.decode()
    assert queries.get_story(story.chatbotnews_id).headline == "Quince ships early"


def test_the_list_names_a_story_by_its_headline_and_leads_to_its_form_its_event_and_its_public_page(desk: Client) -> None:
    story = published(title="Quince ships")
    page = desk.get("/admin/wire/story/").content.decode()
    for address in (page_of(story), f"/admin/wire/event/{story.event_id}/change/", f"/story/{story.chatbotnews_id}"):
        assert f'href="{address}' in page, address
    shown = words(desk.get("/admin/wire/story/"))
    assert "Quince ships TechCrunch" in shown
    assert "15 Jan 2026 10:00 UTC" in shown
    assert "1 report" in shown
    assert story.chatbotnews_id not in shown
    assert "Quince ships" in words(desk.get(f"/admin/wire/story/?q={story.chatbotnews_id}"))


@pytest.mark.slow
def test_only_what_is_not_as_usual_is_marked(desk: Client) -> None:
    story = published()

    def labels() -> list[str]:
        return re.findall('<span class="mark">([^<]*)</span>', desk.get("/admin/wire/story/").content.decode())

    assert labels() == []
    corrections.correct_texts(story.chatbotnews_id, headline="Quince ships late", reason="It was late.")
    corrections.pin_stories([story.chatbotnews_id])
    corrections.choose_event_lead(story.chatbotnews_id)
    assert labels() == ["corrected", "pinned", "leads its event"]
    corrections.withdraw_story(story.chatbotnews_id, reason="It never was.")
    assert labels()[0] == "withdrawn"


def test_a_preview_shows_the_card_and_the_citation_and_saves_nothing(desk: Client) -> None:
    story = published(title="Quince ships", summary="Quince ships. It is early.")
    form = story_form(story, headline="Quince <b>sails</b>", summary="Quince sails. It is late.", _preview="Preview")
    answer = desk.post(page_of(story), form)
    assert answer.status_code == 200
    shown = words(answer)
    today = f"{dt.datetime.now(dt.UTC):%Y-%m-%d}"
    needed = "Every change needs a reason; readers see it. Write it below before you save."
    assert f"Preview, not saved As readers would see it. {needed} Quince sails TechCrunch" in shown
    assert needed not in words(desk.post(page_of(story), form | {"reason": "It was wrong."}))
    assert (
        f"According to TechCrunch, as summarized by ChatbotNews.ai, Quince sails. It is late. Source: {get_permalink(str(story))}"
        in shown
    )
    assert f"[corrected {today}]" in shown
    assert "Quince &lt;b&gt;sails&lt;/b&gt;" in answer.content.decode(), "what was typed stays in the form"
    assert (story.revisions.count(), Snapshot.objects.count(), history()) == (1, 1, [])
    assert "The headline would be empty." in words(desk.post(page_of(story), form | {"headline": "<b></b>"}))


@pytest.mark.slow
def test_a_withdrawal_is_confirmed_on_a_page_that_says_what_happens(desk: Client) -> None:
    story = published(title="Quince ships")
    page = f"/admin/wire/story/{story.pk}/withdraw/"
    assert f'href="{page}"' in desk.get(page_of(story)).content.decode()
    asked = words(desk.get(page))
    for told in (
        "Withdraw “Quince ships”?",
        "It disappears from all lists",
        "Citations of it are no longer given",
        "This cannot be undone.",
    ):
        assert told in asked
    for reason in ("", "\u202e", NEWER_RULES):
        withdraw(desk, story, reason)
        assert Story.objects.get().status == "live", reason
    said = withdraw(desk, story, "Retracted.")
    assert "Withdrawn: “ Quince ships ”. Published again without it: 15 Jan 2026 (revision 2). See the public page ." in said
    assert Story.objects.get().status == "withdrawn"
    again = words(desk.get(page, follow=True))
    assert "This story is already withdrawn. Nothing was changed." in again
    assert "That is final, and nothing about it can be changed." in again


def test_a_withdrawal_that_was_opened_before_a_newer_revision_withdraws_nothing(desk: Client) -> None:
    story = published(title="Quince ships")
    page = f"/admin/wire/story/{story.pk}/withdraw/"
    seen = desk.get(page).context["form"].initial["seen"]
    corrections.correct_texts(story.chatbotnews_id, headline="Quince ships late", reason="It was late.")
    for opened in (seen, ""):
        assert "Somebody else saved this meanwhile" in words(desk.post(page, {"reason": "Retracted.", "seen": opened}))
    assert Story.objects.get().status == "corrected"


def test_who_may_not_change_stories_can_neither_withdraw_nor_preview() -> None:
    story = published()
    looker, client = person("looker"), Client()
    looker.user_permissions.set(Permission.objects.filter(codename="view_story"))
    client.force_login(looker)
    page = client.get(page_of(story)).content.decode()
    assert "Withdraw" not in page
    assert 'name="_preview"' not in page
    assert client.post(f"/admin/wire/story/{story.pk}/withdraw/", {"reason": "No."}).status_code == 403
    assert Story.objects.get().status == "live"


@pytest.mark.slow
def test_a_reason_is_marked_as_needed_and_what_was_wrong_has_the_cursor(desk: Client) -> None:
    story = published()
    assert "Reason *" in words(desk.get(page_of(story)))
    refused = desk.post(page_of(story), story_form(story, headline="Other"))
    assert "Every change needs a reason; readers see it." in words(refused)
    (focused,) = re.findall(r"<input[^>]* autofocus[^>]*>", refused.content.decode())
    assert 'name="reason"' in focused
    assert desk.post(page_of(story), story_form(story)).status_code == 302, "without a change there is nothing to give a reason for"


@pytest.mark.slow
def test_a_correction_says_what_was_published_and_stays_beside_what_was_before(desk: Client) -> None:
    story = published()
    assert story.current is not None
    was = story.current.headline
    assert "Nothing since it was first published." in words(desk.get(page_of(story)))
    preview = words(desk.post(page_of(story), {**story_form(story, headline="Other"), "_preview": "1"}))
    assert f"Before and after What Before After Headline {was} Other" in preview
    saved = desk.post(page_of(story), story_form(story, headline="Other", reason="It was wrong."), follow=True)
    assert f"Published: {story.wire_date:%-d %b %Y} (revision 2)." in words(saved)
    assert f"Headline {was} Other It was wrong." in words(desk.get(page_of(story)))
    corrections.withdraw_story(story.chatbotnews_id, reason="It never happened.")
    assert "Status Corrected Withdrawn It never happened." in words(desk.get(page_of(story)))


@pytest.mark.slow
def test_twins_are_shown_before_they_are_merged(desk: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "run_process", run_at_once)
    page = "/admin/wire/story/twins/"
    assert "Show what would change" in words(desk.get(page))
    assert "Nothing would be merged." in words(desk.post(page, follow=True))
    assert "Apply and publish" not in words(desk.get(page))
    assert at_desk().get(page).status_code == 403
