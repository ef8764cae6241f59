"""Small windows: as much of a list as fits into so many tokens, nothing of it lost, and brief alternatives of resources."""

import json
from collections.abc import Iterator
from typing import Any, Final

import orjson
import pytest

from mcpserver.servers.wire import resources
from tests.mcpserver.asgi import get, read, read_json, rpc, structured
from wire.schemas.story import estimate_tokens

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]

LISTS: Final[list[tuple[str, str, dict[str, Any]]]] = [
    *(("search_wire", "stories", {"query": "the", "limit": 50, "sort": sort}) for sort in ("relevance", "newest")),
    ("search_wire", "stories", {"query": "the", "limit": 50, "detail": "brief"}),
    *(("get_category", "stories", {"category": "launches", "detail": detail}) for detail in ("brief", "standard", "full")),
    ("get_topic_coverage", "stories", {"topic": "openai", "detail": "standard"}),
    ("get_entity", "stories", {"name": "OpenAI", "detail": "brief"}),
    ("list_events", "events", {"date": "2026-10-13"}),
]
each_list = pytest.mark.parametrize(("tool", "items", "asked"), LISTS, ids=lambda value: value if isinstance(value, str) else "")


def pages(tool: str, **asked: Any) -> Iterator[dict[str, Any]]:
    """All pages, one behind the other."""
    cursor = None
    while True:
        page = structured(tool, **asked, cursor=cursor)
        yield page
        cursor = page["next_cursor"]
        if cursor is None:
            return


@pytest.mark.parametrize("detail", ["brief", "standard"])
def test_only_what_is_shown_of_a_list_is_estimated(detail: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(texts: Any) -> int:
        raise AssertionError(f"{len(texts)} texts are estimated that the answer does not hold")

    monkeypatch.setattr("wire.schemas.stories_answer.estimate_tokens", refuse)
    assert structured("get_category", category="launches", detail=detail)["est_tokens"] > 100


@pytest.mark.slow
@each_list
@pytest.mark.parametrize("most", [1, 700, 3_000])
def test_no_story_is_lost_or_shown_twice_however_small_the_window(tool: str, items: str, asked: dict[str, Any], most: int) -> None:
    wanted = [one for page in pages(tool, **asked) for one in page[items]]
    assert len(wanted) > 3
    found = []
    for page in pages(tool, **asked, max_tokens=most):
        assert page["est_tokens"] <= most or len(page[items]) == 1
        found += page[items]
    assert found == wanted


@pytest.mark.slow
@each_list
def test_as_many_are_shown_as_fit(tool: str, items: str, asked: dict[str, Any]) -> None:
    whole = structured(tool, **asked, max_tokens=1_000_000)
    assert structured(tool, **asked, max_tokens=whole["est_tokens"]) == whole
    fewer = structured(tool, **asked, max_tokens=whole["est_tokens"] * 2 // 3)
    shown = len(fewer[items])
    assert 1 <= shown < len(whole[items])
    one_more = fewer["est_tokens"] + estimate_tokens([orjson.dumps(whole[items][shown])])
    assert one_more > whole["est_tokens"] * 2 // 3 - 60, "a cursor that was not there before may take the place of one"


@pytest.mark.slow
@pytest.mark.parametrize(
    "asked", [{"tool": "get_category", "category": "launches"}, {"tool": "search_wire", "query": "the", "limit": 50}]
)
def test_a_long_list_is_cut_by_default_and_says_so_and_nothing_of_it_is_lost(asked: dict[str, Any]) -> None:
    whole = list(pages(**asked, max_tokens=1_000_000))
    assert whole[0]["est_tokens"] > 10_000
    assert all("note" not in page for page in whole)
    first, *rest = pages(**asked)
    shown = len(first["stories"])
    assert first["note"].startswith(f"Cut at about 10,000 tokens: {shown} of the {len(whole[0]['stories'])} stories asked for.")
    assert next(iter(first)) == "note"
    assert first["est_tokens"] <= 10_100
    assert [one for page in (first, *rest) for one in page["stories"]] == [one for page in whole for one in page["stories"]]


@pytest.mark.slow
def test_a_list_of_changes_is_cut_too() -> None:
    cut = structured("get_changes", since="1970-01-01", limit=500)
    assert "changes asked for" in cut["note"]
    assert cut["has_more"]
    rest = structured("get_changes", cursor=cut["next_cursor"], limit=500)
    whole = structured("get_changes", since="1970-01-01", limit=500, max_tokens=1_000_000)
    assert cut["changes"] + rest["changes"] == whole["changes"] == get("/api/changes.json?since=1970-01-01&limit=500")["changes"]


@pytest.mark.slow
def test_rest_stays_whole_unless_it_is_told_how_much() -> None:
    whole = get("/api/search.json?query=the&limit=50")
    assert (len(whole["stories"]), "note" in whole) == (50, False)
    assert get("/api/search.json?query=the&limit=50&max_tokens=3000") == structured(
        "search_wire", query="the", limit=50, max_tokens=3_000
    )
    assert get("/api/events.json?date=2026-10-13&max_tokens=300") == structured("list_events", date="2026-10-13", max_tokens=300)


def test_what_a_page_costs_is_estimated_with_all_that_is_in_it() -> None:
    for tool, _, asked in LISTS:
        page = structured(tool, **asked)
        assert page["est_tokens"] == pytest.approx(estimate_tokens([orjson.dumps(page)]), rel=0.01)


BRIEF: Final = {
    "wire://today/brief": "wire://today",
    "wire://today/launches/brief": "wire://today/launches",
    "wire://topic/openai/brief": "wire://topic/openai",
    "wire://archive/2026-10-13/brief": "wire://archive/2026-10-13",
}


@pytest.mark.parametrize("brief", BRIEF)
def test_a_brief_resource_has_the_same_stories_for_a_fraction_of_the_tokens(brief: str) -> None:
    found, whole = read_json(brief), read_json(BRIEF[brief])
    ids = [story["chatbotnews_id"] for story in found["stories"]]
    assert ids == [story["chatbotnews_id"] for story in whole["stories"]]
    assert all(found["citation_pattern"].format(**story) for story in found["stories"])
    texts = [read(uri)["text"].encode() for uri in (brief, BRIEF[brief])]
    assert found["est_tokens"] < 0.2 * estimate_tokens(texts[1:])
    assert found["est_tokens"] == pytest.approx(estimate_tokens(texts[:1]), rel=0.01)


def test_a_brief_day_says_which_day_it_is() -> None:
    assert (read_json("wire://today/brief")["wire_date"], read_json("wire://today/brief")["is_stale"]) == ("2026-10-15", True)
    archived = read_json("wire://archive/2026-10-13/brief")
    assert (archived["wire_date"], archived["is_stale"]) == ("2026-10-13", False)
    assert archived["total"] == len(archived["stories"]) == len(get("/api/archive/2026-10-13.json")["stories"])


@pytest.mark.parametrize("uri", ["wire://today/sports/brief", "wire://topic/x/brief", "wire://archive/1999-01-01/brief"])
def test_what_is_not_there_is_not_there_in_brief(uri: str) -> None:
    assert rpc("resources/read", {"uri": uri}).error["code"] == -32602


def test_templates_come_on_one_page_which_takes_no_cursor() -> None:
    page = rpc("resources/templates/list").result
    assert len(page["resourceTemplates"]) == len(resources.TEMPLATES)
    assert "nextCursor" not in page
    assert rpc("resources/templates/list", {"cursor": "strange"}).error["code"] == -32602


def test_the_list_of_tools_is_small_enough_to_be_read_with_every_question() -> None:
    """9,500 tokens are the promise, four characters each; by cl100k it takes fewer."""
    text = json.dumps(rpc("tools/list").result, separators=(",", ":"), ensure_ascii=False)
    assert len(text) <= 4 * 9_500
    assert estimate_tokens([text.encode()]) < 9_500
