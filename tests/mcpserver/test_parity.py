"""One question, two doors, one answer: what REST says and what MCP says are the same JSON."""

import datetime as dt
import hashlib
import json
from collections.abc import Iterator
from typing import Any, Final
from urllib.parse import quote, urlencode

import pytest
import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.contract import CITATION_KEYS
from tests.mcpserver.asgi import ERAS, call, get, read, read_json, request, said, structured
from wire.schemas.detail import Detail
from wire.schemas.params import Sort
from wire.text.choices import Category, Topic

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]

DAYS: Final = ["2026-10-12", "2026-10-13", "2026-10-14", "2026-10-15"]
FORMATS: Final = ["layered", "inline", "reference", "academic", "markdown", "bibtex"]

each_category = pytest.mark.parametrize("category", Category.values)
each_topic = pytest.mark.parametrize("topic", Topic.values)
each_day = pytest.mark.parametrize("day", DAYS)


def stories() -> Iterator[dict[str, Any]]:
    """Every story of the archive, as REST has it."""
    for day in DAYS:
        yield from get(f"/api/archive/{day}.json")["stories"]


def without_mcp(day: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in day.items() if key != "_mcp"}


@pytest.mark.slow
def test_every_story_is_the_same_by_rest_tool_and_resource() -> None:
    found = list(stories())
    assert len(found) > 80
    for story in found:
        story_id = story["chatbotnews_id"]
        assert get(f"/api/stories/{story_id}.json") == story
        assert structured("get_story", story_id=story_id) == story
        assert read_json(f"wire://story/{story_id}") == story


@pytest.mark.slow
def test_a_story_and_a_headline_have_the_same_consensus_by_both_doors() -> None:
    for story in list(stories())[::9]:
        story_id, headline = story["chatbotnews_id"], story["headline"]
        assert structured("get_consensus", story_id=story_id) == get(f"/api/consensus.json?story_id={story_id}")
        assert structured("get_consensus", headline=headline) == get(f"/api/consensus.json?headline={quote(headline)}")


@pytest.mark.slow
@pytest.mark.parametrize("style", FORMATS)
def test_a_citation_is_a_bare_string_and_the_same_by_both_doors(style: str) -> None:
    field = dict(zip(FORMATS, CITATION_KEYS, strict=True))
    for story in list(stories())[::4]:
        story_id = story["chatbotnews_id"]
        result = call("get_citation", story_id=story_id, format=style)
        assert said(result) == story["citation_objects"][field[style]]
        assert result["structuredContent"] == get(f"/api/citations/{story_id}.json?format={style}")
        assert result["structuredContent"]["citation"] == said(result)


def test_a_citation_is_layered_unless_another_format_is_asked_for() -> None:
    story = next(stories())
    text = said(call("get_citation", story_id=story["chatbotnews_id"]))
    assert text == story["citation_objects"]["layered_ready"]
    assert text.startswith(f"According to {story['original_publisher']}, as summarized by ChatbotNews.ai, ")


@each_category
def test_todays_category_holds_todays_stories_of_it_as_rest_has_them(category: str) -> None:
    found = read_json(f"wire://today/{category}")
    wanted = [story for story in get("/api/today.json")["stories"] if story["category"] == category]
    assert found["stories"] == wanted
    assert (found["total"], found["next_cursor"]) == (len(wanted), None)
    assert set(found) == {*get(f"/api/categories/{category}.json"), "wire_date", "is_stale"}
    assert (found["wire_date"], found["is_stale"]) == ("2026-10-15", True)


@each_topic
def test_a_topic_is_the_same_by_resource_and_rest(topic: str) -> None:
    assert read_json(f"wire://topic/{topic}") == get(f"/api/topics/{topic}.json")


@each_day
def test_an_archived_day_is_the_same_by_both_doors_but_for_mcps_own_block(day: str) -> None:
    found = read_json(f"wire://archive/{day}")
    assert next(iter(found)) == "_mcp"
    assert without_mcp(found) == get(f"/api/archive/{day}.json")
    assert found["_mcp"]["wire_sha256"] == found["provenance"]["wire_sha256"]


@each_day
def test_provenance_and_the_editors_take_of_a_day_are_the_same_by_both_doors(day: str) -> None:
    provenance = read_json(f"wire://provenance/{day}")
    assert provenance == get(f"/api/provenance/{day}.json")
    assert provenance["wire_sha256"] == hashlib.sha256(rfc8785.dumps(provenance["manifest"])).hexdigest()
    take = call("get_editor_take", date=day)
    assert take["structuredContent"] == get(f"/api/editor-take/{day}.json")
    assert said(take) == take["structuredContent"]["markdown"] == get(f"/api/archive/{day}.json")["editor_take"]


@pytest.mark.slow
@each_day
def test_a_days_events_and_every_report_of_each_are_the_same_by_both_doors(day: str) -> None:
    listed = structured("list_events", date=day, limit=100)
    assert listed == get(f"/api/events.json?date={day}&limit=100")
    for event in listed["events"]:
        found = structured("get_event", event_id=event["event_id"])
        assert found == get(f"/api/events/{event['event_id']}.json") == read_json(f"wire://event/{event['event_id']}")
        assert (found["headline"], found["agreement"]) == (event["headline"], event["agreement"])
        assert found["lead"] == event.get("lead", event["event_id"])


def test_today_is_today_json_with_exactly_the_block_that_the_specification_adds() -> None:
    found, today = read_json("wire://today"), get("/api/today.json")
    assert without_mcp(found) == today
    assert found["_mcp"] == {
        "spec_version": "1.0",
        "wire_sha256": today["provenance"]["wire_sha256"],
        "source_roster_count": 24,
        "source_roster_locked": True,
        "source_roster_sha256": today["source_integrity"]["roster_sha256"],
        "preferred_citation_format": "layered",
        "license": "CC-BY-4.0",
    }
    rows = sorted(get("/api/sources.json")["sources"], key=lambda row: str(row["name"]))
    roster: list[Any] = [{name: row[name] for name in ("name", "tier", "domain")} for row in rows]
    assert len(roster) == 24
    assert found["_mcp"]["source_roster_sha256"] == hashlib.sha256(rfc8785.dumps(roster)).hexdigest()


def test_what_is_of_today_is_of_the_latest_day() -> None:
    today = get("/api/today.json")
    assert read("wire://editor-take/today")["text"] == today["editor_take"] == said(call("get_editor_take"))
    assert read("wire://editor-take/today")["mimeType"] == "text/markdown"
    assert read_json("wire://provenance/today") == get(f"/api/provenance/{today['wire_date']}.json")


def test_the_roster_is_the_same_by_rest_tool_and_resource() -> None:
    roster = get("/api/sources.json")
    assert structured("list_sources") == read_json("wire://sources") == roster
    for tier in (1, 2, 3, 4):
        assert structured("list_sources", tier=tier) == get(f"/api/sources.json?tier={tier}")


@pytest.mark.slow
def test_every_publication_is_verified_alike_by_both_doors() -> None:
    for source in get("/api/sources.json")["sources"]:
        for name in (source["name"], source["name"].lower(), source["domain"], f"{source['name']} Weekly"):
            wanted = get(f"/api/verify-source.json?publication_name={quote(name)}")
            assert structured("verify_source_integrity", publication_name=name) == wanted
            if name == source["name"]:
                assert (wanted["in_roster"], wanted["tier"], wanted["canonical_name"]) == (True, source["tier"], name)


@pytest.mark.slow
def test_every_source_filters_a_search_alike_by_both_doors() -> None:
    found = 0
    for source in get("/api/sources.json")["sources"]:
        arguments = {"query": "the", "source": source["name"], "limit": 50, "group": "none", "max_tokens": 1_000_000}
        answer = structured("search_wire", **arguments)
        assert answer == get(f"/api/search.json?{urlencode(arguments)}")
        assert {story["original_publisher"] for story in answer["stories"]} <= {source["name"]}
        found += answer["total"]
    assert found == get("/api/search.json?query=the&group=none")["total"] > 20


def test_llms_txt_is_the_sites() -> None:
    content = read("wire://llms.txt")
    assert content["mimeType"] == "text/plain"
    assert content["text"] == request("GET", "/llms.txt").body.decode()
    assert "Roster is locked to 24 publications." in content["text"]


@pytest.mark.parametrize("era", ERAS)
def test_the_text_beside_structured_content_is_the_same_json(era: str) -> None:
    for tool, arguments in (
        ("search_wire", {"query": "agents", "detail": "brief"}),
        ("get_category", {"category": "funding"}),
        ("get_topic_coverage", {"topic": "openai"}),
        ("get_consensus", {"headline": "OpenAI opens a reading room"}),
        ("list_sources", {}),
        ("verify_source_integrity", {"publication_name": "FT"}),
        ("search", {"query": "agents"}),
    ):
        result = call(tool, era, **arguments)
        assert json.loads(said(result)) == result["structuredContent"], tool


# For any arguments that both doors take, both answer alike, to the last page.
SORTS: Final = st.sampled_from([None, *Sort])
LIMITS: Final = st.one_of(st.none(), st.integers(3, 50))
MOMENTS: Final = st.datetimes(min_value=dt.datetime(2026, 10, 11), max_value=dt.datetime(2026, 10, 17)).map(  # noqa: DTZ001
    lambda moment: moment.isoformat(timespec="seconds")
)
SINCE: Final = st.one_of(
    st.none(), MOMENTS, MOMENTS.map(lambda at: f"{at}Z"), MOMENTS.map(lambda at: f"{at}+05:30"), MOMENTS.map(lambda at: at[:10])
)
WORDS: Final = st.sampled_from(
    ["the", "agents", "openai", "robot", "a", '"moon library"', "raises million", "GPT-4", "C++", "it's", "月"]
)
DETAILS: Final = st.sampled_from([None, *Detail])
BUDGETS: Final = st.sampled_from([5_000, 1_000_000])
any_arguments = settings(max_examples=25)


def same_on_every_page(tool: str, path: str, arguments: dict[str, Any], rest_only: dict[str, Any]) -> None:
    """`rest_only` are the arguments that REST has in its path."""
    arguments = {name: value for name, value in arguments.items() if value is not None}
    seen: list[str] = []
    for _ in range(200):
        query = {name: value for name, value in arguments.items() if name not in rest_only}
        answer = structured(tool, **arguments)
        assert answer == get(f"{path}?{urlencode(query)}")
        assert len(answer["stories"]) <= arguments.get("limit", 20)
        assert answer["est_tokens"] <= arguments["max_tokens"]
        seen += [story["chatbotnews_id"] for story in answer["stories"]]
        if answer["next_cursor"] is None:
            break
        arguments = {**arguments, "cursor": answer["next_cursor"]}
    assert len(seen) == len(set(seen)) == answer["total"]


@pytest.mark.slow
@any_arguments
@given(category=st.sampled_from(Category.values), limit=LIMITS, detail=DETAILS, max_tokens=BUDGETS)
def test_any_page_of_a_category_is_the_same_by_both_doors(
    category: str, limit: int | None, detail: str | None, max_tokens: int
) -> None:
    arguments = {"category": category, "limit": limit, "detail": detail, "max_tokens": max_tokens}
    same_on_every_page("get_category", f"/api/categories/{category}.json", arguments, {"category": category})


@pytest.mark.slow
@any_arguments
@given(topic=st.sampled_from(Topic.values), since=SINCE, until=SINCE, limit=LIMITS, detail=DETAILS, max_tokens=BUDGETS)
def test_any_page_of_a_topic_is_the_same_by_both_doors(
    topic: str, since: str | None, until: str | None, limit: int | None, detail: str | None, max_tokens: int
) -> None:
    arguments = {"topic": topic, "since": since, "until": until, "limit": limit, "detail": detail, "max_tokens": max_tokens}
    same_on_every_page("get_topic_coverage", f"/api/topics/{topic}.json", arguments, {"topic": topic})


@pytest.mark.slow
@any_arguments
@given(
    name=st.sampled_from(["openai", "OpenAI", "Nvidia", "copilot"]), since=SINCE, limit=LIMITS, detail=DETAILS, max_tokens=BUDGETS
)
def test_any_page_about_a_name_is_the_same_by_both_doors(
    name: str, since: str | None, limit: int | None, detail: str | None, max_tokens: int
) -> None:
    arguments = {"name": name, "since": since, "limit": limit, "detail": detail, "max_tokens": max_tokens}
    same_on_every_page("get_entity", f"/api/entities/{name}.json", arguments, {"name": name})


@pytest.mark.slow
@any_arguments
@given(
    query=WORDS,
    category=st.sampled_from([None, *Category.values]),
    since=SINCE,
    limit=LIMITS,
    sort=st.sampled_from([None, *Sort]),
    detail=DETAILS,
    max_tokens=BUDGETS,
)
def test_any_page_of_a_search_is_the_same_by_both_doors(**arguments: Any) -> None:
    same_on_every_page("search_wire", "/api/search.json", arguments, {})
