"""Companies, people and products: which stories name them, the shipped list, and new names."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.test import Client

from config.errors import NotFound
from tests.contract import refused
from tests.factories import entry, feed_of, publish, published, see, story_of
from wire import queries
from wire.ingest import corrections
from wire.models import Entity, Story, StoryEntity, WireState
from wire.ops.archive.derived_checks import check_derived_tables
from wire.ops.archive.dump import Broken
from wire.publishing import entity_links
from wire.publishing.publish import publish_pending

pytestmark = pytest.mark.django_db
OWN = "https://openai.com/news/{}"


def naming(name: str) -> list[str]:
    return [story.current.headline for story in Story.objects.filter(story_entities__entity__name=name).select_related("current")]  # type: ignore[union-attr]


@pytest.fixture
def shipped(tmp_path: Path) -> Callable[[list[dict[str, Any]]], None]:
    """Ship a list of names with a new release."""

    def ship(rows: list[dict[str, Any]]) -> None:
        file = tmp_path / "entities.json"
        file.write_text(json.dumps(rows))
        entity_links.sync_shipped_entities(file)

    return ship


def test_a_story_is_listed_where_its_headline_or_summary_names_one(client: Client) -> None:
    first = published(title="Sam Altman opens a quince shop", summary="It is on Market Street.")
    second = published(title="A quince shop opens", summary="Said Altman, of OpenAI: come in.")
    published(title="Nobody here opened anything")
    answer = client.get("/api/entities/sam-altman.json").json()
    assert {story["chatbotnews_id"] for story in answer["stories"]} == {first.chatbotnews_id, second.chatbotnews_id}
    assert (answer["name"], answer["kind"], answer["total"]) == ("Sam Altman", "person", 2)
    assert answer["summary"].startswith("2 stories naming Sam Altman by 1 publication, on 15 Jan 2026.")
    assert all(story["citation_objects"]["layered_ready"] for story in answer["stories"])


def test_posts_of_its_own_publication_stand_apart_whether_they_name_it_or_not(client: Client) -> None:
    feed = feed_of("openai-blog")
    own = entry(title="Introducing a quince model", url=OWN.format("quince"))
    see(feed, own)
    told = entry(title="OpenAI introduces a gherkin model")
    publish(told)
    answer = client.get("/api/entities/openai.json").json()
    assert [story["headline"] for story in answer["stories"]] == ["OpenAI introduces a gherkin model"]
    assert answer["publication"] == "OpenAI Blog"
    (post,) = answer["official_posts"]
    assert post["chatbotnews_id"] == story_of(own).chatbotnews_id
    assert post["layered_ready"].startswith("According to OpenAI Blog, as summarized by ChatbotNews.ai,")
    assert client.get("/api/activity.json?entity=OpenAI").json()["total"] == 1
    assert queries.list_named_entities([story_of(own).chatbotnews_id])[0].slug == "openai"
    page = client.get("/about/openai").content.decode()
    assert "Its own posts" in page.partition("Introducing a quince model")[0]


def test_a_revision_and_a_withdrawal_change_the_page_at_once() -> None:
    feed, made = feed_of("wired"), entry(title="Jensen Huang sells quinces", url="https://www.wired.com/story/quince/")
    see(feed, made)
    publish_pending()
    assert naming("Jensen Huang") == ["Jensen Huang sells quinces"]
    corrections.correct_texts(story_of(made).chatbotnews_id, headline="Sam Altman sells quinces", reason="It was he.")
    assert (naming("Jensen Huang"), naming("Sam Altman")) == ([], ["Sam Altman sells quinces"])
    check_derived_tables()
    corrections.withdraw_story(story_of(made).chatbotnews_id, reason="It was nobody.")
    assert naming("Sam Altman") == []
    check_derived_tables()


def test_every_page_of_a_list_goes_on_where_the_one_before_ended(client: Client) -> None:
    publish(*(entry(title=f"Grammarly corrects quince {number * 7919}") for number in range(7)))
    seen: list[str] = []
    address = "/api/entities/grammarly.json?limit=3"
    while address:
        answer = client.get(address).json()
        seen += [story["chatbotnews_id"] for story in answer["stories"]]
        cursor = answer["next_cursor"]
        address = f"/api/entities/grammarly.json?limit=3&cursor={cursor}" if cursor else ""
    assert len(seen) == len(set(seen)) == 7
    other = client.get("/api/entities/grammarly.json?limit=3").json()["next_cursor"]
    refused(client.get(f"/api/entities/openai.json?cursor={other}"), 422, "invalid_argument")


@pytest.mark.parametrize("name", ["openai", "OpenAI", "OPEN AI", " Open  AI "])
def test_it_is_found_by_slug_name_or_other_spelling(name: str) -> None:
    assert queries.find_entity(name).slug == "openai"


def test_a_spelling_takes_no_other_names_address() -> None:
    Entity.objects.filter(slug="gemini").update(spellings="meta-ai")
    assert queries.find_entity("meta-ai").slug == "meta-ai"
    with pytest.raises(ValidationError, match="already leads to Meta AI"):
        Entity.objects.get(slug="gemini").clean()


@pytest.mark.parametrize("query", ["big apple", "claude monet"])
def test_a_search_for_something_else_leads_to_no_name(query: str) -> None:
    assert queries.find_query_names(query) == []


@pytest.mark.parametrize(("name", "near"), [("Opan AI", "OpenAI"), ("Altman Sam", "Sam Altman"), ("Gemni", "Gemini")])
def test_an_unknown_name_is_answered_with_the_nearest(client: Client, name: str, near: str) -> None:
    with pytest.raises(NotFound) as error:
        queries.find_entity(name)
    assert near in error.value.hint
    assert near in refused(client.get(f"/api/entities/{name}.json"), 404, "not_found")["hint"]


@pytest.mark.parametrize("name", ["zyzzyva", "x" * 100, "\x00", "<script>"])
def test_a_name_that_resembles_none_is_answered_with_the_way_to_the_list(name: str) -> None:
    with pytest.raises(NotFound) as error:
        queries.find_entity(name)
    assert error.value.hint.startswith("/api/entities.json lists all names")


def test_the_list_counts_stories_and_can_be_narrowed(client: Client) -> None:
    publish(entry(title="Sam Altman opens a shop"), entry(title="Sam Altman closes it"))
    answer = client.get("/api/entities.json?kind=person").json()
    assert answer["total"] == len(answer["entities"]) < client.get("/api/entities.json").json()["total"]
    (found,) = [one for one in answer["entities"] if one["stories"]]
    assert (found["slug"], found["stories"], found["recent"]) == ("sam-altman", 2, 2)
    assert found["newest_story_at"] == "2026-01-15T10:00:00Z"
    refused(client.get("/api/entities.json?kind=place"), 422, "invalid_argument")


def test_an_upgrade_lists_the_stories_of_before(shipped: Callable[[list[dict[str, Any]]], None]) -> None:
    published(title="Quincetown Labs sells quinces")
    published(title="Sam Altman buys them")
    version = WireState.objects.get().version
    shipped([{"slug": "quincetown", "name": "Quincetown Labs", "kind": "company"}])
    assert naming("Quincetown Labs") == ["Quincetown Labs sells quinces"]
    assert not Entity.objects.filter(slug="sam-altman").exists(), "no release ships it any more"
    assert StoryEntity.objects.count() == 1
    assert WireState.objects.get().version > version
    check_derived_tables()


def test_an_upgrade_leaves_alone_what_editors_decided(shipped: Callable[[list[dict[str, Any]]], None]) -> None:
    Entity.objects.filter(slug="openai").update(spellings="Quince AI", is_shipped=False)
    Entity.objects.filter(slug="apple").update(state=Entity.State.NEVER, is_shipped=False)
    Entity.objects.create(slug="marmot", name="Marmot", kind="company", state=Entity.State.PROPOSED, reason="It grew.")
    shipped([{"slug": slug, "name": slug.title(), "kind": "company"} for slug in ("openai", "apple", "marmot")])
    assert Entity.objects.get(slug="openai").spellings == "Quince AI"
    assert Entity.objects.get(slug="apple").state == Entity.State.NEVER
    assert Entity.objects.get(slug="marmot").state == Entity.State.SHOWN


def test_migrating_again_changes_nothing() -> None:
    before = list(Entity.objects.order_by("pk").values_list())
    assert len(before) > 100
    call_command("migrate", verbosity=0)
    assert list(Entity.objects.order_by("pk").values_list()) == before


def test_a_list_that_was_tampered_with_is_named_by_the_check() -> None:
    published(title="Sam Altman opens a shop")
    check_derived_tables()
    StoryEntity.objects.all().delete()
    with pytest.raises(Broken, match="companies, people and products"):
        check_derived_tables()


def grow(*texts: str) -> None:
    """Publish stories of two publications in the newest week, and others of the weeks before."""
    old = [entry(title=f"Gherkin {number} rests", published_at="2025-12-10T10:00:00Z") for number in range(4)]
    publish(*old)
    new = [
        entry(title=f"Today the maker {text} number {number}", publisher=("TechCrunch", "Wired")[number % 2])
        for text in texts
        for number in range(4)
    ]
    publish(*new)


def test_an_upgrade_ships_no_second_page_of_a_name_that_editors_have(shipped: Callable[[list[dict[str, Any]]], None]) -> None:
    Entity.objects.create(slug="marmotly", name="Marmotly", kind="company", state=Entity.State.NEVER)
    shipped([{"slug": "marmotly-labs", "name": "Marmotly Labs", "kind": "company", "spellings": ["Marmotly"]}])
    assert not Entity.objects.filter(slug="marmotly-labs").exists()


def proposed() -> list[str]:
    return list(Entity.objects.filter(state=Entity.State.PROPOSED).values_list("name", flat=True))


def test_a_name_that_grows_and_has_no_page_is_proposed_until_it_is_decided() -> None:
    grow("at Marmotly Labs sells, and on Monday Sam Altman buys")
    assert proposed() == ["Marmotly Labs"]
    found = Entity.objects.get(name="Marmotly Labs")
    assert found.reason == "4 stories in the four weeks to 15 January 2026, 0 expected."
    assert not StoryEntity.objects.filter(entity=found).exists()
    entity_links.propose_new_names()
    assert Entity.objects.get(name="Marmotly Labs").pk == found.pk
    Entity.objects.filter(pk=found.pk).update(state=Entity.State.NEVER)
    entity_links.propose_new_names()
    assert proposed() == []


def test_a_proposal_goes_when_its_name_grows_no_more() -> None:
    grow("at Marmotly Labs sells")
    Story.objects.all().update(published_at="2026-01-15T10:00:00Z")
    entity_links.propose_new_names()
    assert proposed() == []
