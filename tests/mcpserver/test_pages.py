"""resources/list in pages: complete, each resource once, whatever is published meanwhile."""

import pytest

from tests.factories import NOW, entry, publish
from tests.mcpserver.asgi import ERAS, MODERN, refusal, rpc, structured
from wire.ingest import corrections

pytestmark = pytest.mark.django_db(transaction=True)

STORIES = 130


@pytest.fixture
def many() -> list[str]:
    """A day of more stories than a page holds, and another day; the ids of the day, newest first."""
    publish(*(entry(published_at=f"2026-01-15T{n // 60:02}:{n % 60:02}:00Z") for n in range(STORIES)))
    publish(entry(published_at="2026-01-14T10:00:00Z"))
    found = [uri.removeprefix("wire://story/") for uri in pages()[0] if uri.startswith("wire://story/")]
    assert len(found) == STORIES
    return found


def pages(era: str = MODERN) -> tuple[list[str], int]:
    """All listed addresses, and in how many pages they came."""
    uris: list[str] = []
    number = 0
    cursor: str | None = None
    while number < 20:
        result = rpc("resources/list", {"cursor": cursor} if cursor else {}, era).result
        uris += [resource["uri"] for resource in result["resources"]]
        number += 1
        assert len(result["resources"]) <= 100
        cursor = result.get("nextCursor")
        if cursor is None:
            break
    return uris, number


@pytest.mark.parametrize("era", ERAS)
def test_the_pages_hold_every_resource_once(many: list[str], era: str) -> None:
    uris, number = pages(era)
    assert number == 2
    assert len(uris) == len(set(uris))
    assert [uri for uri in uris if uri.startswith("wire://story/")] == [f"wire://story/{story_id}" for story_id in many]
    assert uris[-2:] == ["wire://archive/2026-01-15", "wire://archive/2026-01-14"]


@pytest.mark.slow
def test_a_story_published_between_two_pages_shifts_nothing(many: list[str]) -> None:
    first = rpc("resources/list").result
    publish(entry(published_at="2026-01-15T23:00:00Z"))
    rest = [resource["uri"] for resource in rpc("resources/list", {"cursor": first["nextCursor"]}).result["resources"]]
    seen = [resource["uri"] for resource in first["resources"]]
    assert not set(seen) & set(rest)
    begins = many.index(seen[-1].removeprefix("wire://story/")) + 1
    assert rest[:5] == [f"wire://story/{story_id}" for story_id in many[begins : begins + 5]]


@pytest.mark.slow
def test_a_cursor_whose_story_was_withdrawn_says_to_begin_again(many: list[str]) -> None:
    assert many
    first = rpc("resources/list").result
    corrections.withdraw_story(first["resources"][-1]["uri"].removeprefix("wire://story/"), reason="Retracted.", now=NOW)
    error = rpc("resources/list", {"cursor": first["nextCursor"]}).error
    assert error["code"] == -32602
    assert "first page" in error["message"]


def test_more_stories_than_a_completion_may_hold_are_said_to_be_more(many: list[str]) -> None:
    asked = {"ref": {"type": "ref/resource", "uri": "wire://story/{id}"}, "argument": {"name": "id", "value": ""}}
    found = rpc("completion/complete", asked).result["completion"]
    assert found["values"] == many[:100]
    assert (found["total"], found["hasMore"]) == (STORIES, True)


def test_a_tools_cursor_goes_on_with_another_detail_and_is_refused_with_another_filter(many: list[str]) -> None:
    category = structured("get_story", story_id=many[0])["category"]
    given = {"query": "robot", "source": "TechCrunch", "since": "2026-01-15"}
    cursor = structured("search_wire", **given, limit=2)["next_cursor"]
    same = {"query": "ROBOT", "source": "tech crunch", "since": "2026-01-15T01:00:00+01:00"}
    assert len(structured("search_wire", **same, limit=3, detail="brief", cursor=cursor)["stories"]) == 3
    for other in ({"query": "learn"}, {"source": "Reuters"}, {"since": "2026-01-14"}, {"category": category}):
        assert "cursor does not belong to this list" in refusal("search_wire", **{**given, **other}, cursor=cursor)
