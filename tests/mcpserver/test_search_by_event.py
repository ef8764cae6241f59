"""Searches show one story an event: the best one, and how many others of it match."""

from typing import Any

import pytest

from tests.mcpserver.asgi import get, structured

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]

QUERY = "the"


def ids(page: dict[str, Any]) -> list[str]:
    return [story["chatbotnews_id"] for story in page["stories"]]


def test_mcp_and_rest_show_the_best_story_of_each_event_and_count_the_others() -> None:
    page = structured("search_wire", query=QUERY, limit=50, max_tokens=1_000_000)
    assert page == get(f"/api/search.json?query={QUERY}&limit=50&max_tokens=1000000")
    assert page["group"] == "event"
    assert len({story["event_id"] for story in page["stories"]}) == len(page["stories"]) > 10
    assert any(story["more_of_event"] for story in page["stories"])


@pytest.mark.parametrize("detail", ["brief", "standard", "full"])
def test_each_hit_says_how_many_more_of_its_event_match_in_every_detail(detail: str) -> None:
    whole = {story["chatbotnews_id"]: story for story in structured("search_wire", query=QUERY)["stories"]}
    for story in structured("search_wire", query=QUERY, detail=detail)["stories"]:
        of = whole[story["chatbotnews_id"]]
        if of["more_of_event"] or detail != "brief":
            assert (story["event_id"], story["more_of_event"]) == (of["event_id"], of["more_of_event"])
        else:
            assert "more_of_event" not in story
    page = structured("search_wire", query=QUERY, detail=detail, group="none")
    assert page["group"] == "none"
    assert not any("more_of_event" in story for story in page["stories"])


def test_the_connectors_search_shows_one_story_an_event() -> None:
    found = [hit["id"] for hit in structured("search", query=QUERY)["results"]]
    stories = [story_id for story_id in found if story_id.startswith("cbn-")]
    assert stories == ids(structured("search_wire", query=QUERY))[: len(stories)]
