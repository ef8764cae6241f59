"""Stored JSON of stories: always what would be made anew, and never shown once it is old."""

from collections.abc import Callable
from typing import Any

import orjson
import pytest
import zstandard
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client, override_settings
from pytest_django import DjangoAssertNumQueries, Settings

from tests.factories import DAY, NOW, entry, publish, story_of
from tests.wire.archives import verifywire
from wire import queries
from wire.ingest import corrections
from wire.models import Snapshot, Story, StoryJson
from wire.publishing import story_json
from wire.schemas.params import Group
from wire.text.choices import Category, Topic

pytestmark = pytest.mark.django_db

ABOUT = entry(title="OpenAI launches quince model", published_at="2026-01-15T09:00:00Z")
SAME = entry(
    title="OpenAI launches its quince model",
    publisher="Reuters",
    url="https://reuters.com/quince",
    published_at="2026-01-15T10:00:00Z",
)
OTHER = entry(
    title="Mistral raises a round of funding", publisher="Wired", url="https://wired.com/m", published_at="2026-01-14T10:00:00Z"
)


def made_anew() -> dict[str, bytes]:
    return {s.chatbotnews_id: story_json.render_story_json(s) for s in Story.objects.published().with_text()}


def read_fitting() -> dict[str, bytes]:
    """Return the stored JSON of the stories that it fits."""
    rows = [story_json.StoredStory(*row) for row in Story.objects.published().values_list(*story_json.COLUMNS)]
    return {row.chatbotnews_id: json for row in rows if (json := story_json.unpack_json(row)) is not None}


def correct(story_id: str) -> None:
    corrections.correct_texts(story_id, headline="OpenAI launches a quince", reason="A word was wrong.", now=NOW)


def withdraw(story_id: str) -> None:
    corrections.withdraw_story(story_id, reason="It was never said.", now=NOW)


@pytest.mark.slow
@pytest.mark.parametrize("change", [None, correct, withdraw])
def test_what_is_kept_is_what_would_be_made_anew(change: Callable[[str], None] | None) -> None:
    publish(ABOUT, SAME, OTHER)
    if change is not None:
        change(story_of(SAME).chatbotnews_id)
    assert len(made_anew()) == 3
    assert read_fitting() == made_anew()


def test_a_story_that_comes_later_renews_what_is_kept_of_its_siblings() -> None:
    publish(ABOUT)
    alone = read_fitting()[story_of(ABOUT).chatbotnews_id]
    publish(SAME)
    together = read_fitting()[story_of(ABOUT).chatbotnews_id]
    assert (orjson.loads(alone)["cross_source_count"], orjson.loads(together)["cross_source_count"]) == (1, 2)
    assert read_fitting() == made_anew()


def test_what_does_not_fit_is_never_shown() -> None:
    publish(ABOUT, SAME)
    told: list[Any] = list(queries.get_today().values()["stories"])
    StoryJson.objects.update(packed=b"old", made_of="another wire")
    assert queries.get_today().values()["stories"] == told
    assert [orjson.loads(queries.get_story_json(story["chatbotnews_id"])) for story in told] == told
    assert queries.list_stories().values()["stories"] == told
    StoryJson.objects.all().delete()
    assert queries.get_today().values()["stories"] == told
    assert queries.search_wire("quince", group=Group.NONE).total == 2


def forge_json(packed: bytes) -> bytes:
    """Another headline and address in the same JSON; its seal stays, for nobody without the secret can make another."""
    json = orjson.loads(zstandard.decompress(packed[story_json.SEAL :]))
    json |= {"headline": "Forged", "original_url": "https://evil.example/", "permalink": "https://evil.example/"}
    return packed[: story_json.SEAL] + zstandard.compress(orjson.dumps(json))


def forge() -> None:
    for row in StoryJson.objects.all():
        row.packed = forge_json(bytes(row.packed))
        row.save()


def forge_with_another_secret() -> None:
    """As somebody would who has the program, and another installation of it."""
    with override_settings(SECRET_KEY="a secret of the forger's own"):
        for row in StoryJson.objects.all():
            compressed = forge_json(bytes(row.packed))[story_json.SEAL :]
            about = f"{row.revision} {row.made_of}\n"
            row.packed = story_json._compute_seal(settings.SECRET_KEY, about, compressed) + compressed
            row.save()


def swap() -> None:
    """Each row says of itself that it is the other's."""
    one, other = StoryJson.objects.order_by("pk")[:2]
    one.packed, other.packed = other.packed, one.packed
    one.save()
    other.save()


def fetch_all(client: Client) -> dict[str, bytes]:
    ids = Story.objects.published().values_list("chatbotnews_id", flat=True)
    addresses = [
        *(address.format(story) for story in ids for address in ("/api/stories/{}.json", "/story/{}", "/event/{}")),
        *("/", "/day/2026-01-15", "/search?query=quince", "/category/launches", "/topic/openai", "/feeds/stories.json"),
        *("/api/today.json", "/api/archive/2026-01-15.json", "/api/archive/2026-01-15.json?revision=1"),
        *("/api/search.json?query=quince", "/api/categories/launches.json", "/api/topics/openai.json"),
    ]
    return {address: client.get(address).content for address in addresses}


@pytest.mark.slow
@pytest.mark.parametrize("tamper", [forge, forge_with_another_secret, swap])
def test_what_somebody_else_wrote_is_shown_to_nobody_and_named(
    client: Client, tamper: Callable[[], None], caplog: pytest.LogCaptureFixture
) -> None:
    publish(ABOUT, SAME, OTHER)
    before = fetch_all(client)
    tamper()
    assert fetch_all(client) == before
    assert f"Stored JSON of {story_of(ABOUT).chatbotnews_id} is damaged" in caplog.text
    with pytest.raises(CommandError, match=r"First break: story cbn-\w+: its stored JSON"):
        verifywire()
    call_command("renderwire")
    verifywire()
    caplog.clear()
    assert fetch_all(client) == before
    assert "damaged" not in caplog.text


@pytest.mark.slow
def test_the_row_of_an_older_revision_that_is_put_back_is_not_shown(client: Client) -> None:
    publish(ABOUT, SAME)
    story = story_of(ABOUT)
    old = StoryJson.objects.filter(story=story).values("revision", "made_of", "packed")[0]
    correct(story.chatbotnews_id)
    before = fetch_all(client)
    StoryJson.objects.filter(story=story).update(**old)
    assert fetch_all(client) == before
    now = StoryJson.objects.filter(story=story_of(ABOUT))
    call_command("renderwire")
    now.update(packed=old["packed"])
    assert fetch_all(client) == before


@pytest.mark.slow
def test_a_row_is_not_shown_in_an_older_revision_of_its_day(client: Client) -> None:
    publish(ABOUT)
    correct(story_of(ABOUT).chatbotnews_id)
    before = fetch_all(client)
    assert b"launches quince model" in before["/api/archive/2026-01-15.json?revision=1"]
    StoryJson.objects.update(revision=1)
    assert fetch_all(client) == before


def test_a_sealed_row_that_its_revision_does_not_make_is_named() -> None:
    """The program's own fault, or that of somebody who holds the secret; only `verifywire` can tell."""
    publish(ABOUT, SAME)
    row = StoryJson.objects.get(story=story_of(ABOUT))
    compressed = forge_json(bytes(row.packed))[story_json.SEAL :]
    row.packed = story_json._compute_seal(settings.SECRET_KEY, f"{row.revision} {row.made_of}\n", compressed) + compressed
    row.save()
    with pytest.raises(CommandError, match=f"First break: story {story_of(ABOUT)}: its stored JSON"):
        verifywire()


@pytest.mark.slow
def test_with_another_secret_everything_is_made_anew_without_a_word(
    client: Client, settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    """It was deleted to log all editors out, or a backup was restored elsewhere."""
    publish(ABOUT, SAME, OTHER)
    before = fetch_all(client)
    settings.SECRET_KEY = "made anew"
    assert fetch_all(client) == before
    assert story_json.count_outdated_json() == 3
    verifywire()
    assert story_json.render_outdated_json() == 3
    assert (fetch_all(client), story_json.count_outdated_json(), read_fitting()) == (before, 0, made_anew())
    assert "damaged" not in caplog.text


def test_another_site_address_shows_in_every_answer_at_once(settings: Settings) -> None:
    publish(ABOUT)
    settings.WIRE_SITE_URL = "https://wire.example"
    (story,) = queries.list_stories().stories
    assert story.permalink.startswith("https://wire.example/story/")
    assert story.citation_objects
    assert story.citation_objects.layered_ready.endswith(story.permalink)


def test_renderwire_makes_anew_what_does_not_fit_and_nothing_else(settings: Settings, capsys: pytest.CaptureFixture[str]) -> None:
    publish(ABOUT, SAME, OTHER)
    call_command("renderwire")
    assert capsys.readouterr().out.startswith("Rendered again: 0.")
    settings.WIRE_SITE_URL = "https://wire.example"
    assert read_fitting() == {}
    call_command("renderwire")
    assert "Rendered again: 3." in capsys.readouterr().out
    assert read_fitting() == made_anew()


def test_an_older_revision_of_a_day_shows_its_stories_as_they_were() -> None:
    publish(ABOUT, SAME)
    before = queries.get_archived_day(DAY, 1).values()["stories"]
    correct(story_of(ABOUT).chatbotnews_id)
    assert queries.get_archived_day(DAY, 1).values()["stories"] == before
    told: list[Any] = list(queries.get_archived_day(DAY, None).values()["stories"])
    now = {story["chatbotnews_id"]: story for story in told}
    assert now[story_of(ABOUT).chatbotnews_id]["headline"] == "OpenAI launches a quince"
    assert Snapshot.objects.filter(wire_date=DAY).count() == 2


def test_one_story_a_list_and_a_day_cost_no_query_for_each_of_their_stories(
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    publish(ABOUT, SAME, OTHER)
    story_id = story_of(ABOUT).chatbotnews_id
    with django_assert_num_queries(2):  # the story, and the fact-checks that are linked with it
        queries.get_story_json(story_id)
    with django_assert_num_queries(2):  # the page, and how many there are
        queries.get_category(Category.LAUNCHES)


def test_topics_and_search_show_the_same_story_as_the_story_itself() -> None:
    publish(ABOUT)
    whole = orjson.loads(queries.get_story_json(story_of(ABOUT).chatbotnews_id))
    assert queries.get_topic_coverage(Topic.OPENAI).values()["stories"] == [whole]
    assert queries.search_wire("quince", group=Group.NONE).values()["stories"] == [whole]
    assert queries.get_todays_category(Category.LAUNCHES, NOW).values()["stories"] == [whole]
