"""Stories that earlier releases kept apart although they are one article: `mergetwins` finds and joins them."""

import datetime as dt
import io
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from citations.format.formats import CitationFormat
from config.errors import InvalidArgument
from sources.entries import Entry
from sources.models import Feed
from tests.factories import DAY, NOW, entry, feed_of, publish, see
from tests.mcpserver.asgi import prompt, read, structured
from tests.wire.archives import comes_back_whole, everything, verifywire
from wire import queries
from wire.ingest import corrections, save, twin_stories
from wire.ingest.draft_comparison import Outcome
from wire.models import Change, Snapshot, Story, StoryAlias, StoryRevision
from wire.publishing.publish import publish_pending
from wire.text.choices import MERGED, Status

pytestmark = pytest.mark.django_db

HOUR = dt.timedelta(hours=1)
MONTH = dt.timedelta(days=30)
ADDRESS = "https://techcrunch.com/2026/01/15/quince-ships"
MOVED = "https://techcrunch.com/hardware/quince-ships"


@pytest.fixture
def feed() -> Feed:
    return feed_of("techcrunch")


def quince(**values: Any) -> Entry:
    return entry(**({"url": ADDRESS, "title": "Quince ships", "summary": "It is out.", "guid": "g-1"} | values))


@pytest.fixture
def show(feed: Feed, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Show items to a release that tells items apart by their addresses alone, an hour after one another, and publish them."""

    def show(*items: Entry) -> list[Story]:
        with monkeypatch.context() as earlier:
            for name in ("is_twin", "is_same_guid_item"):
                earlier.setattr(save, name, lambda *_: False)
            for number, item in enumerate(items):
                assert see(feed, item, now=NOW + number * HOUR) == [Outcome.ACCEPTED]
        publish_pending(now=NOW + HOUR * len(items))
        return list(Story.objects.order_by("first_seen_at"))

    return show


@pytest.fixture
def merged(show: Any) -> tuple[Story, Story]:
    """The older story, and the one that was merged into it while their day is open."""
    show(quince(), quince(url=MOVED, guid="g-2"))
    twin_stories.merge_twins(now=NOW + 2 * HOUR)
    older, younger = Story.objects.order_by("first_seen_at")
    return older, younger


def command(**options: Any) -> str:
    out = io.StringIO()
    call_command("mergetwins", stdout=out, **options)
    return out.getvalue()


def pairs() -> dict[str, str]:
    """The address of each merged story, and that of the story that it leads to."""
    addresses = dict(Story.objects.values_list("chatbotnews_id", "original_url"))
    rows = Story.objects.exclude(merged_into=None).values_list("original_url", "merged_into")
    return {url: addresses[str(into)] for url, into in rows}


def test_twins_are_shown_first_and_nothing_is_changed_without_a_yes(show: Any) -> None:
    older, younger = show(quince(), quince(url=MOVED, guid="g-2"))
    before = everything()
    for options in ({"dry_run": True}, {"dry_run": True, "yes": True}, {}):
        out = command(**options)
        assert "1 would be merged:\n  TechCrunch: 'Quince ships'\n" in out
        assert f"    {younger} {MOVED}\n    into {older} {ADDRESS}\n" in out
        assert out.endswith("Nothing was changed. Give --yes to merge them.\n")
    assert everything() == before


@pytest.mark.slow
def test_again_it_changes_nothing(show: Any) -> None:
    show(quince(), quince(url=MOVED, guid="g-2"))
    assert "Done: 1 merged. Published: 2026-01-15 r" in command(yes=True)
    before = everything()
    assert command(yes=True) == "Nothing would be merged.\n"
    assert everything() == before
    assert "verify" in verifywire()


def test_the_older_story_stands_and_readers_see_one(merged: tuple[Story, Story]) -> None:
    older, younger = merged
    assert (older.status, older.merged_into, younger.status) == (Status.LIVE, None, Status.WITHDRAWN)
    assert [story.chatbotnews_id for story in queries.list_stories().stories] == [older.chatbotnews_id]
    assert younger.current is not None
    assert younger.current.reason == f"Merged with {older}: the same article under another address."
    assert [(told.kind, told.revision) for told in Change.objects.filter(subject=str(younger))][-1] == ("story_withdrawn", 2)
    assert "verify" in verifywire()


@pytest.mark.django_db(transaction=True)
def test_pages_rest_and_mcp_name_the_story_that_stands(merged: tuple[Story, Story], client: Client) -> None:
    older, younger = (story.chatbotnews_id for story in merged)
    page = client.get(f"/story/{younger}").content.decode()
    assert '<h1 dir="auto">Merged: Quince ships</h1>' in page
    assert f'<a href="/story/{older}">' in page
    assert "Do not cite it" not in page
    told = client.get(f"/api/stories/{younger}.json").json()
    assert (told["status"], told["citation_objects"], told["merged_into"]) == ("withdrawn", None, older)
    assert "merged_into" not in client.get(f"/api/stories/{older}.json").json()
    assert structured("get_story", story_id=younger) == told
    assert json.loads(read(f"wire://story/{younger}")["text"]) == told
    assert structured("fetch", id=younger)["id"] == older
    assert f"/story/{older}" in prompt("cite-chatbotnews", story_id=younger)
    assert client.get(f"/api/consensus.json?story_id={younger}").json()["story_id"] == older
    assert client.get(f"/api/events/{younger}.json").json() == client.get(f"/api/events/{older}.json").json()
    for form in CitationFormat:
        expected = client.get(f"/api/citations/{older}.json?format={form}").json()
        assert expected["story_id"] == older
        assert client.get(f"/api/citations/{younger}.json?format={form}").json() == expected
        assert structured("get_citation", story_id=younger, format=str(form)) == expected


def test_a_citation_from_before_is_found_and_led_to_the_story_that_stands(show: Any, client: Client) -> None:
    older, younger = (story.chatbotnews_id for story in show(quince(), quince(url=MOVED, guid="g-2")))
    cited, right = (queries.get_citation(story).citation for story in (younger, older))
    pin = f"{younger}@r1"
    pinned = queries.get_citation(younger).citation.replace(younger, pin)
    twin_stories.merge_twins(now=NOW + 3 * HOUR)
    (found,) = queries.verify_citation(cited).citations
    assert (found.verdict, found.correct, found.cited_revision) == ("outdated", right, 1)
    assert found.problems == [f"The story was merged into {older}, the same article: cite that one."]
    assert client.get(f"/api/citations/{pin}.json").json()["citation"] == pinned
    assert client.get(f"/api/stories/{pin}.json").json()["merged_into"] == older
    assert client.get(f"/story/{pin}").headers["Location"] == f"/story/{younger}#revision-1"
    (mention,) = queries.verify_citation(f"TechCrunch has it ({MOVED}). Source: https://chatbotnews.ai/story/{older}").citations
    assert mention.story_id == older


@pytest.mark.slow
def test_on_a_final_day_the_signed_record_stays_and_a_new_revision_says_why(show: Any) -> None:
    older, _ = show(quince(), quince(url=MOVED, guid="g-2"))
    before = everything()["wire.Snapshot"]
    _, (snapshot,) = twin_stories.merge_twins(now=NOW + MONTH)
    assert everything()["wire.Snapshot"][: len(before)] == before
    assert (snapshot.wire_date, snapshot.reason) == (DAY, MERGED.format(older))
    assert [line["chatbotnews_id"] for line in Snapshot.objects.get(pk=snapshot.pk).manifest["stories"]] == [str(older)]
    assert "verify" in verifywire()


def test_a_run_that_was_killed_is_taken_up_again(show: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    older, younger = show(quince(), quince(url=MOVED, guid="g-2"))
    with monkeypatch.context() as killed:
        killed.setattr(twin_stories, "publish_pending", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            twin_stories.merge_twins(now=NOW + 3 * HOUR)
    assert queries.get_citation(younger.chatbotnews_id).story_id == younger.chatbotnews_id  # nothing is public yet
    assert command().startswith("1 were already merged and wait to be published.\n")
    assert "Done: 0 merged. Published: 2026-01-15 r" in command(yes=True)
    assert queries.get_citation(younger.chatbotnews_id).story_id == older.chatbotnews_id
    assert "verify" in verifywire()


@pytest.mark.slow
@pytest.mark.usefixtures("merged")
def test_a_dump_carries_it(tmp_path: Path) -> None:
    before = list(StoryAlias.objects.values_list("url", "story__original_url", "seen_at"))
    comes_back_whole(tmp_path)
    assert pairs() == {MOVED: ADDRESS}
    assert list(StoryAlias.objects.values_list("url", "story__original_url", "seen_at")) == before
    assert before == [(MOVED, ADDRESS, NOW + 2 * HOUR)]


def test_items_at_the_other_address_belong_to_the_story_that_stands(merged: tuple[Story, Story], feed: Feed) -> None:
    older, younger = merged
    moved = quince(url=MOVED, guid="g-2")
    assert see(feed, moved, now=NOW + 4 * HOUR) == [Outcome.DUPLICATE]
    assert see(feed, quince(url=MOVED, title="Quince ships late"), now=NOW + 5 * HOUR) == [Outcome.REVISED]
    assert see(feed, quince(url=f"{MOVED}/amp", title="Quince ships late"), now=NOW + 6 * HOUR) == [Outcome.MERGED]
    assert older.revisions.count() == 2
    assert younger.revisions.count() == 2


@pytest.mark.slow
def test_feeds_from_before_the_merge_change_nothing_when_they_are_replayed(show: Any, feed: Feed) -> None:
    items = [quince(), quince(url=MOVED, guid="g-2", summary="Another opening.")]
    show(*items)
    assert see(feed, quince(url="https://www.techcrunch.com/hardware/quince-ships", guid="g-2"), now=NOW + 2 * HOUR)
    publish_pending(now=NOW + 2 * HOUR)
    twin_stories.merge_twins(now=NOW + 3 * HOUR)
    before = everything()
    for number, item in enumerate(items):
        assert see(feed, item, now=NOW + number * HOUR) == [Outcome.DUPLICATE]
    see(feed, quince(url="https://www.techcrunch.com/hardware/quince-ships", guid="g-2"), now=NOW + 2 * HOUR)
    assert everything() == before


def test_all_addresses_of_an_article_lead_to_the_oldest(show: Any) -> None:
    urls = [ADDRESS, MOVED, f"{MOVED}.html", "https://go.techcrunch.com/r?id=77"]
    show(*(quince(url=url, guid=f"g-{number}") for number, url in enumerate(urls)))
    assert "Done: 3 merged. Published: 2026-01-15 r" in command(yes=True)
    assert pairs() == dict.fromkeys(urls[1:], ADDRESS)
    assert set(StoryAlias.objects.values_list("url", "story__original_url")) == {(url, ADDRESS) for url in urls[1:]}


@pytest.mark.slow
def test_a_story_that_is_the_twin_of_a_new_alias_alone_is_merged_in_the_same_run(show: Any) -> None:
    redirector = "https://go.techcrunch.com/r?id=77"
    late = {"published_at": "2026-01-15T16:00:00Z", "guid": ""}
    show(quince(url=redirector), quince(url="https://techcrunch.com/a/quince-ships", **late), quince(url=MOVED))
    assert len(twin_stories.plan_merges().twins) == 2
    assert "Done: 2 merged. Published: 2026-01-15 r" in command(yes=True)
    assert set(pairs().values()) == {redirector}
    before = everything()
    assert command(yes=True) == "Nothing would be merged.\n"
    assert everything() == before


@pytest.mark.slow
@pytest.mark.parametrize(
    "other",
    [
        {"guid": "g-1", "title": "Gherkin ships", "url": "https://techcrunch.com/gherkin"},
        {"guid": "g-2", "url": "https://techcrunch.com/b", "published_at": "2026-01-15T12:00:00Z"},
        {"guid": "g-2", "url": "https://techcrunch.com/2026/01/16/quince-ships", "published_at": "2026-01-16T10:00:00Z"},
        {"guid": "g-2", "url": MOVED, "published_at": "2026-01-14T10:00:00Z"},
        {"guid": "", "url": MOVED, "published_at": "2026-01-11T09:00:00Z"},
    ],
    ids=["guid alone", "title alone", "title and slug of two days", "guid and time differ", "four days apart"],
)
def test_one_agreement_merges_nothing(show: Any, other: dict[str, str]) -> None:
    show(quince(), quince(**other))
    assert command() == "Nothing would be merged.\n"


def test_stories_of_two_publications_or_of_one_page_are_never_merged(feed: Feed) -> None:
    page = "https://techcrunch.com/changelog"
    episodes = [quince(url=page, guid=f"e-{day}", published_at=f"2026-01-{day}T10:00:00Z") for day in (13, 14, 15)]
    see(feed, *episodes)
    publish(quince(publisher="Wired", url="https://wired.com/quince-ships"))
    assert Story.objects.count() == 4
    assert command() == "Nothing would be merged.\n"


def test_a_guid_that_a_feed_gives_to_all_its_items_is_no_evidence(show: Any) -> None:
    column = {"title": "This morning", "guid": "0", "summary": "All that matters."}
    times = [f"2026-01-15T0{hour}:00:00Z" for hour in (7, 8, 9)]
    show(*(quince(**column, url=f"https://techcrunch.com/m/{time[12]}", published_at=time) for time in times))
    assert command() == "Nothing would be merged.\n"


@pytest.mark.slow
@pytest.mark.parametrize("edit", ["correct_texts", "classify_story", "choose_event_lead"])
def test_a_younger_story_that_an_editor_changed_is_named_and_stays(show: Any, edit: str) -> None:
    _, younger = show(quince(), quince(url=MOVED, guid="g-2"))
    arguments: dict[str, dict[str, Any]] = {
        "correct_texts": {"headline": "Quince does not ship", "reason": "It does not."},
        "classify_story": {"category": "funding", "topics": [], "reason": "Money."},
        "choose_event_lead": {},
    }
    getattr(corrections, edit)(younger.chatbotnews_id, **arguments[edit])
    before = everything()
    out = command(yes=True)
    assert "1 stay because an editor changed them; make the same changes to the other story, then withdraw these:\n" in out
    assert out.endswith("Nothing would be merged.\n")
    assert everything() == before


def test_what_an_editor_withdrew_is_no_twin(show: Any) -> None:
    older, _ = show(quince(), quince(url=MOVED, guid="g-2"))
    corrections.withdraw_story(older.chatbotnews_id, reason="Retracted.", now=NOW + 3 * HOUR)
    assert command() == "Nothing would be merged.\n"


def test_a_merged_story_whose_other_is_withdrawn_later_is_not_cited(merged: tuple[Story, Story], client: Client) -> None:
    older, younger = (story.chatbotnews_id for story in merged)
    corrections.withdraw_story(older, reason="Retracted.", now=NOW + 3 * HOUR)
    answer = client.get(f"/api/citations/{younger}.json")
    assert (answer.status_code, answer.json()["error"]) == (410, "story_withdrawn")
    assert "do not cite either" in client.get(f"/story/{younger}").content.decode()


def test_no_editor_can_give_the_reason_of_a_merge(merged: tuple[Story, Story]) -> None:
    older, younger = merged
    with pytest.raises(InvalidArgument, match="reason is reserved for merges"):
        corrections.withdraw_story(older.chatbotnews_id, reason=MERGED.format(younger))


@pytest.mark.slow
def test_the_number_of_questions_does_not_grow_with_the_wire(
    show: Any, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    for number, day in itertools.product(range(20), (14, 15)):
        publish(
            quince(url=f"https://techcrunch.com/{number}/{day}", title=f"Quince {number}", guid="", published_at=f"2026-01-{day}")
        )
    show(quince(), quince(url=MOVED, guid="g-2"))
    with django_assert_max_num_queries(5):
        assert len(twin_stories.plan_merges().twins) == 1
    assert StoryRevision.objects.count() == 42
