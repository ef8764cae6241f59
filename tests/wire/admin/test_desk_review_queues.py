"""Saved queues: what each list holds, what it says, and who is shown it."""

import datetime as dt

import pytest
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from sources.models import Feed, FeedHealth
from tests.claims import claim, load
from tests.factories import entry, feed_of, publish, story_of
from tests.wire.desk import at_desk, person, words
from wire.admin.review_queues import Queue, list_queues
from wire.corpora.factchecks import review_queues
from wire.ingest import corrections
from wire.models import Event, LexiconTerm, Story, StoryRevision
from wire.text.choices import Category

pytestmark = pytest.mark.django_db
BY_NAME = {queue.name: queue for queue in list_queues()}


@pytest.fixture
def desk() -> Client:
    return at_desk("editor")


def shown(desk: Client, queue: Queue) -> str:
    """What the queue's list says, without the sidebar."""
    answer = desk.get(queue.url)
    assert answer.status_code == 200
    return words(answer).partition(queue.explanation if queue.count() else queue.empty)[2]


@pytest.mark.slow
@pytest.mark.parametrize("queue", list_queues(), ids=lambda queue: queue.name)
def test_an_empty_queue_says_in_a_sentence_that_all_is_done(desk: Client, queue: Queue) -> None:
    assert queue.count() == 0
    if queue.model is Feed:
        assert f"{queue.title} No feed has been fetched yet, so nothing is known about any of them." in words(desk.get(queue.url))
        FeedHealth.objects.create(feed=feed_of("wired"), tried_at=timezone.now())
    page = words(desk.get(queue.url))
    assert f"{queue.title} {queue.empty}" in page
    assert queue.explanation not in page


@pytest.mark.slow
@pytest.mark.parametrize("queue", list_queues(), ids=lambda queue: queue.name)
def test_every_page_of_the_desk_leads_to_every_queue_of_editors(desk: Client, queue: Queue) -> None:
    for page in ("/admin/", "/admin/wire/story/"):
        is_there = f'href="{queue.url}"' in desk.get(page).content.decode()
        assert is_there != queue.is_for_operators, page


@pytest.mark.slow
def test_operators_see_what_editors_can_do_nothing_about() -> None:
    operator, client = person("operator"), Client()
    operator.is_superuser = True
    operator.save()
    client.force_login(operator)
    assert f'href="{BY_NAME["no-vectors"].url}"' in client.get("/admin/").content.decode()
    assert [queue.name for queue in list_queues() if queue.is_for_operators] == ["no-vectors"]


def test_queues_in_which_something_waits_come_first(desk: Client) -> None:
    publish(made := entry(title="Quince ships"))
    StoryRevision.objects.filter(story=story_of(made)).update(summary_medium="", summary_short="")
    page = words(desk.get("/admin/"))
    assert page.index("Stories without a summary 1 ") < page.index("Probably one event")
    lists = page.partition("Lists to review")[2]
    assert lists.index("Stories without a summary: 1") < lists.index("Probably one event: 0") < lists.index("New names: 0")


def test_unclassified_stories_wait_until_a_category_is_chosen(desk: Client) -> None:
    LexiconTerm.objects.filter(kind="category").delete()
    publish(made := entry(title="Quince Gherkin Marmot"))
    queue = BY_NAME["unclassified"]
    assert "Quince Gherkin Marmot" in shown(desk, queue)
    assert f"{queue.title}: 1" in words(desk.get("/admin/"))
    corrections.classify_story(story_of(made).chatbotnews_id, category=Category.INDUSTRY, topics=[], reason="It is.")
    assert queue.count() == 0


def test_flagged_stories_and_those_without_a_summary_are_listed_apart(desk: Client) -> None:
    publish(flagged := entry(title="Quince ships"), bare := entry(title="Marmot sails"), entry(title="Gherkin rests"))
    StoryRevision.objects.filter(story=story_of(flagged)).update(untrusted_instructions=True)
    StoryRevision.objects.filter(story=story_of(bare)).update(summary_medium="", summary_short="")
    for name, there in (("flagged", "Quince ships"), ("no-summary", "Marmot sails")):
        page = shown(desk, BY_NAME[name])
        assert there in page
        assert "1 story" in page
    corrections.withdraw_story(story_of(flagged).chatbotnews_id, reason="An attack.")
    assert BY_NAME["flagged"].count() == 0


def test_failing_feeds_are_those_that_are_switched_on(desk: Client) -> None:
    FeedHealth.objects.create(feed=feed_of("wired"), failures=4, failure="503.", tried_at=dt.datetime.now(dt.UTC))
    FeedHealth.objects.create(feed=feed_of("axios"), failures=4, failure="410.")
    Feed.objects.filter(publication__slug="axios").update(active=False)
    page = shown(desk, BY_NAME["failing"])
    assert "Wired" in page
    assert "1 feed" in page
    assert "Axios" not in page.partition("1 feed")[0].partition("By publication")[0]


def test_an_event_of_low_agreement_waits_until_its_stories_are_pinned(desk: Client) -> None:
    made = [entry(title=f"{name} {name} {name}") for name in ("Quince", "Marmot", "Gherkin")]
    publish(*made)
    Story.objects.update(event=story_of(made[0]).event_id, consensus_score=0.3, cross_source_count=2)
    queue = BY_NAME["low-agreement"]
    assert " 3 2 0.30 " in shown(desk, queue)
    for better in ({"consensus_score": 0.5}, {"cross_source_count": 1}, {"event_pinned": True}):
        before = Story.objects.values(*better)[0]
        Story.objects.update(**better)
        assert queue.count() == 0, better
        Story.objects.update(**before)
    Story.objects.filter(pk=story_of(made[0]).pk).update(consensus_score=0.9)
    assert queue.count() == 0, "one report at least is corroborated"


def test_an_unknown_queue_is_the_whole_list(desk: Client) -> None:
    publish(entry(title="Quince ships"))
    assert "Quince ships" in words(desk.get("/admin/wire/story/?queue=none"))


def test_whoever_has_no_role_is_shown_no_queue() -> None:
    page = words(at_desk().get("/admin/"))
    for queue in list_queues():
        assert queue.title not in page


def test_a_headline_that_a_publication_has_twice_within_three_days_is_probably_a_twin() -> None:
    publish(one := entry(title="Quince ships"), two := entry(title="Marmot sails"), three := entry(title="Gherkin rests"))
    queue, stories = BY_NAME["twins"], [story_of(made) for made in (one, two, three)]
    assert queue.count() == 0
    StoryRevision.objects.filter(story__in=stories[:2]).update(headline="One: headline")
    assert sorted(queue.keys()) == sorted(story.pk for story in stories[:2])
    Story.objects.filter(pk=stories[0].pk).update(publication=feed_of("engadget").publication)
    assert queue.count() == 0, "two publications may write the same"
    Story.objects.filter(pk=stories[1].pk).update(publication=feed_of("engadget").publication)
    Story.objects.filter(pk=stories[1].pk).update(published_at=stories[1].published_at - dt.timedelta(days=4))
    assert queue.count() == 0, "long ago"


def test_a_feed_that_answers_and_brings_nothing_new_is_silent(desk: Client) -> None:
    now, queue = timezone.now(), BY_NAME["silent"]
    known = {"tried_at": now, "succeeded_at": now, "usual_gap": dt.timedelta(hours=2)}
    FeedHealth.objects.create(feed=feed_of("wired"), newest_item_at=now - dt.timedelta(hours=7), **known)
    FeedHealth.objects.create(feed=feed_of("axios"), newest_item_at=now - dt.timedelta(hours=5), **known)
    assert queue.keys() == [feed_of("wired").pk]
    assert "Wired" in shown(desk, queue)
    FeedHealth.objects.update(failures=1)
    assert queue.count() == 0, "it is listed as failing"


def test_an_event_that_was_linked_lately_waits_until_an_editor_settles_its_storyline(desk: Client) -> None:
    publish(first := entry(title="Quince ships"), second := entry(title="Marmot sails"))
    Event.objects.update(storyline=story_of(first).event_id)
    queue = BY_NAME["grew"]
    assert queue.count() == 0, "long ago"
    Story.objects.update(published_at=timezone.now())
    assert "Marmot sails" in shown(desk, queue), "although it has one report"
    assert "Quince ships" not in shown(desk, queue)
    Event.objects.filter(pk=story_of(second).event_id).update(storyline_pinned=True)
    assert queue.count() == 0


@pytest.mark.slow
def test_fact_checks_have_queues_of_their_own(desk: Client, settings: Settings) -> None:
    settings.FACTCHECKS_EMBEDDING = "none"
    load(claim(1, "Mond", ratingLabelName="quatsch"))
    queue = BY_NAME["unknown-ratings"]
    assert "quatsch" in shown(desk, queue)
    assert BY_NAME["no-vectors"].count() == 0, "without a model nothing is missing"
    settings.FACTCHECKS_EMBEDDING = "hashed"
    review_queues._list_unembedded_cached.cache_clear()
    assert "Mond" in shown(desk, BY_NAME["no-vectors"])
    desk.post("/admin/factchecks/ratingname/quatsch/change/", {"rating": "false"})
    assert queue.count() == 0
    review_queues._list_unembedded_cached.cache_clear()
