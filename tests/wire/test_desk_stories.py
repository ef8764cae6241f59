"""A story's page for review, and the history of what editors did."""

import datetime as dt

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from sources.models import Publication
from tests.factories import entry, publish, story_of
from tests.wire.desk import at_desk, words
from tests.wire.test_admin import story_form
from wire import editorial
from wire.models import EditorTake, Snapshot, Story
from wire.vocabulary import NEWER_RULES

pytestmark = pytest.mark.django_db


@pytest.fixture
def desk() -> Client:
    return at_desk("editor")


def page_of(story: Story) -> str:
    return f"/admin/wire/story/{story.pk}/change/"


def history() -> list[tuple[str, str]]:
    """(what, why) of the history, oldest first."""
    return [(log.object_repr, log.get_change_message()) for log in LogEntry.objects.order_by("pk")]


def test_revisions_are_shown_with_what_changed(desk: Client) -> None:
    publish(made := entry(title="Quince ships"))
    editorial.correct(story_of(made).chatbotnews_id, headline="Quince shipped", reason="Tense.")
    shown = words(desk.get(page_of(story_of(made))))
    assert "headline: Quince ships → Quince shipped" in shown
    assert "status: live → corrected" in shown
    assert "Tense." in shown
    assert "first told: Quince ships" in shown


def test_the_events_other_stories_are_shown_with_their_similarity(desk: Client) -> None:
    one = entry(title="Marmot Cloud buys Gherkin Robotics")
    two = entry(title="Marmot Cloud buys Gherkin Robotics, filing says", publisher="Wired", url="https://www.wired.com/story/m/")
    publish(one, two)
    answer = desk.get(page_of(story_of(one)))
    assert page_of(story_of(two)) in answer.content.decode()
    assert "Marmot Cloud buys Gherkin Robotics, filing says Wired 1.00" in words(answer)


def test_the_original_address_is_a_link_that_tells_nobody_where_it_was(desk: Client) -> None:
    publish(made := entry())
    address = story_of(made).original_url
    assert f'<a href="{address}" rel="noopener noreferrer">{address}</a>' in desk.get(page_of(story_of(made))).content.decode()


def test_markup_in_what_a_publisher_wrote_is_shown_as_text(desk: Client) -> None:
    publish(made := entry(title="Tags such as &lt;script&gt;alert(1)&lt;/script&gt; explained"))
    assert b"<script>alert(1)" not in desk.get(page_of(story_of(made))).content


def test_a_withdrawn_story_can_still_be_read(desk: Client) -> None:
    publish(made := entry(title="Quince ships"))
    editorial.withdraw(story_of(made).chatbotnews_id, reason="Retracted.")
    shown = words(desk.get(page_of(story_of(made))))
    assert "status: live → withdrawn" in shown
    assert "Save" not in shown


def test_a_correction_leaves_who_what_and_why(desk: Client) -> None:
    publish(made := entry())
    story = story_of(made)
    form = story_form(story, headline="Other", topics=["nvidia"], reason="It was garbled.")
    assert desk.post(page_of(story), form).status_code == 302
    log = LogEntry.objects.get()
    assert (log.user.get_username(), log.object_repr) == ("editor", story.chatbotnews_id)
    assert log.change_message == "Corrected headline; classified: It was garbled."


@pytest.mark.parametrize("reason", [NEWER_RULES, f"\u200b{NEWER_RULES.upper()}", "Read again  with newer rules."])
def test_a_reason_that_readers_take_for_a_rebuilds_is_refused(desk: Client, reason: str) -> None:
    publish(made := entry())
    story = story_of(made)
    shown = words(desk.post(page_of(story), story_form(story, headline="Other", reason=reason), follow=True))
    assert "would hide this change" in shown
    assert (story_of(made).status, history()) == ("live", [])


def test_a_reason_is_kept_without_what_nobody_can_see(desk: Client) -> None:
    publish(made := entry())
    story = story_of(made)
    desk.post(page_of(story), story_form(story, headline="Other", reason="\u202epasted\x0bfrom <Word>\x01 &amp; on"))
    assert story.revisions.latest("revision").reason == "pasted from <Word> &amp; on"
    assert history() == [(story.chatbotnews_id, "Corrected headline: pasted from <Word> &amp; on")]


@pytest.mark.parametrize("reason", ["\u202e", "\x01\x02", " \x0b "])
def test_a_reason_that_nobody_can_see_is_none(desk: Client, reason: str) -> None:
    publish(made := entry())
    story = story_of(made)
    assert "Every change needs a reason" in words(desk.post(page_of(story), story_form(story, headline="Other", reason=reason)))
    desk.post("/admin/wire/story/", {"action": "pin", "_selected_action": [story.pk], "reason": reason})
    assert history() == [(story.chatbotnews_id, "Pinned")]


def test_a_correction_that_corrects_nothing_is_told_and_not_published(desk: Client) -> None:
    publish(made := entry(title="Quince ships early", author="Ada Quill", summary="Quince ships. It is early."))
    story = story_of(made)
    same = {"headline": "Quince  <b>ships</b> early", "author": "By Ada Quill", "summary": "Quince ships.  It is early."}
    shown = words(desk.post(page_of(story), story_form(story, reason="One blank too few.", **same), follow=True))
    assert "Nothing was corrected." in shown
    assert (story_of(made).status, story.revisions.count(), Snapshot.objects.count(), history()) == ("live", 1, 1, [])


def test_what_a_correction_leaves_as_it_was_is_no_part_of_it(desk: Client) -> None:
    publish(made := entry(title="Quince ships early", summary="Quince ships. It is early."))
    story = story_of(made)
    form = story_form(story, headline="Quince ships  early", summary="Quince ships. It is late.", reason="It is late.")
    assert "Nothing was corrected." not in words(desk.post(page_of(story), form, follow=True))
    told = story.revisions.latest("revision")
    assert (told.revision, told.headline, told.summary_medium) == (2, "Quince ships early", "Quince ships. It is late.")
    assert story_of(made).status == "corrected"


def test_a_withdrawal_leaves_its_reason(desk: Client) -> None:
    publish(made := entry())
    story = story_of(made)
    desk.post(page_of(story), story_form(story, withdraw="on", reason="Retracted."))
    assert history() == [(story.chatbotnews_id, "Withdrawn: Retracted.")]


def test_what_was_refused_leaves_nothing(desk: Client) -> None:
    publish(made := entry())
    story = story_of(made)
    desk.post(page_of(story), story_form(story, headline="Other"))
    desk.post("/admin/wire/story/", {"action": "split_off", "_selected_action": [story.pk], "reason": "Why not."})
    assert history() == []


def test_merge_split_and_pin_leave_an_entry_a_story(desk: Client) -> None:
    publish(
        one := entry(title="Marmot Cloud buys thermostats"),
        two := entry(title="Gherkins are on the rise", publisher="Wired", url="https://www.wired.com/story/w/"),
    )
    pair = [story_of(one), story_of(two)]
    for action, reason in (("merge_events", "One purchase."), ("split_off", "Two after all."), ("pin", "")):
        chosen = [story.pk for story in (pair if action == "merge_events" else pair[:1])]
        desk.post("/admin/wire/story/", {"action": action, "_selected_action": chosen, "reason": reason})
    first = pair[0].chatbotnews_id
    assert set(history()[:2]) == {(story.chatbotnews_id, "Events merged: One purchase.") for story in pair}
    assert history()[2:] == [(first, "Split off into an event of their own: Two after all."), (first, "Pinned")]


def test_the_history_says_who_did_what_when_and_why(desk: Client) -> None:
    publish(made := entry())
    story = story_of(made)
    desk.post(page_of(story), story_form(story, withdraw="on", reason="Retracted."))
    shown = words(desk.get("/admin/admin/logentry/"))
    for told in ("editor", story.chatbotnews_id, "Withdrawn: Retracted.", f"{dt.datetime.now(dt.UTC):%Y}"):
        assert told in shown


def test_a_change_that_the_wire_refuses_is_told_and_keeps_everything(desk: Client) -> None:
    publish(made := entry())
    story = story_of(made)
    Publication.objects.filter(slug="fortune").update(name="Misfortune")  # breaks the roster's fingerprint
    shown = words(desk.post(page_of(story), story_form(story, headline="Other", reason="Wrong."), follow=True))
    assert "do not match the fingerprint" in shown
    assert "Nothing was changed." in shown
    assert (story_of(made).revisions.count(), Snapshot.objects.count(), history()) == (1, 1, [])


def test_a_take_that_the_wire_refuses_is_told_and_not_kept(desk: Client) -> None:
    now = dt.datetime.now(dt.UTC)
    publish(made := entry(published_at=now), now=now)
    Publication.objects.filter(slug="fortune").update(name="Misfortune")
    written = {"wire_date": story_of(made).wire_date, "markdown": "# Mine"}
    assert "Nothing was changed." in words(desk.post("/admin/wire/editortake/add/", written, follow=True))
    assert not EditorTake.objects.exists()
