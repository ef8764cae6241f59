"""What a day says of its stories that editors withdrew."""

import datetime as dt

import pytest

from tests.factories import DAY, NOW, entry, publish, published, story_of
from wire import queries
from wire.ingest import corrections

pytestmark = pytest.mark.django_db
LATER = NOW + dt.timedelta(days=9)


def test_it_tells_who_said_what_and_why_and_when_it_was_withdrawn() -> None:
    story = published(title="Quinces explode")
    assert queries.list_withdrawn_on(DAY) == []
    corrections.withdraw_story(story.chatbotnews_id, reason="They do not.", now=LATER)
    (found,) = queries.list_withdrawn_on(DAY)
    assert (found.chatbotnews_id, found.headline, found.publisher) == (story.chatbotnews_id, "Quinces explode", "TechCrunch")
    assert (found.what, found.reason, found.recorded_at) == ("Withdrawn", "They do not.", LATER)
    assert queries.list_withdrawn_on(DAY - dt.timedelta(days=1)) == []


@pytest.mark.slow
def test_several_come_in_the_order_in_which_they_were_withdrawn_and_a_correction_is_none() -> None:
    first, second, third = published(), published(), published()
    corrections.withdraw_story(second.chatbotnews_id, reason="A.", now=NOW)
    corrections.withdraw_story(first.chatbotnews_id, reason="B.", now=NOW)
    corrections.correct_texts(third.chatbotnews_id, headline="Other", reason="A slip.", now=NOW)
    assert [one.reason for one in queries.list_withdrawn_on(DAY)] == ["A.", "B."]


def test_a_withdrawal_is_told_when_it_is_published_and_stays_though_the_publisher_edits_the_story() -> None:
    made = entry()
    publish(made)
    story_id = story_of(made).chatbotnews_id
    corrections.withdraw_story(story_id, reason="Retracted.", now=NOW)
    publish(entry(url=made.url, title="Another headline"), now=LATER)
    assert [one.reason for one in queries.list_withdrawn_on(DAY)] == ["Retracted."]
