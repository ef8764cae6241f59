"""Resources: reading, not finding, and completing the addresses of those that exist."""

import json
from typing import Final

import pytest

from tests.mcpserver.asgi import ERAS, LEGACY, MODERN, get, read, rpc

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]

NOT_FOUND: Final = {LEGACY: -32002, MODERN: -32602}
every_era = pytest.mark.parametrize("era", ERAS)


@pytest.mark.slow
def test_every_listed_resource_can_be_read_and_is_what_the_list_says() -> None:
    listed = rpc("resources/list").result["resources"]
    assert len(listed) > 40
    for resource in listed:
        content = read(resource["uri"])
        assert content["mimeType"] == resource["mimeType"]
        if content["mimeType"] == "application/json":
            json.loads(content["text"])


def test_the_list_names_every_live_story_of_today_and_every_day() -> None:
    uris = [resource["uri"] for resource in rpc("resources/list").result["resources"]]
    today = [f"wire://story/{story['chatbotnews_id']}" for story in get("/api/today.json")["stories"]]
    days = [f"wire://archive/{day['wire_date']}" for day in get("/api/archive.json")["dates"]]
    assert [uri for uri in uris if uri.startswith("wire://story/")] == today
    assert [uri for uri in uris if uri.startswith("wire://archive/")] == days
    assert len(uris) == len(set(uris))


def test_today_and_its_categories_may_be_kept_for_five_minutes_by_anyone() -> None:
    for uri in ("wire://today", *(f"wire://today/{name}" for name in ("launches", "funding", "agents", "industry", "analysis"))):
        result = rpc("resources/read", {"uri": uri}).result
        assert (result["ttlMs"], result["cacheScope"]) == (300_000, "public")


def test_everything_else_says_how_long_it_may_be_kept_in_the_revision_that_has_it_only() -> None:
    for method, params in (
        ("resources/read", {"uri": "wire://sources"}),
        ("resources/list", {}),
        ("resources/templates/list", {}),
        ("tools/list", {}),
        ("prompts/list", {}),
    ):
        result = rpc(method, params, MODERN).result
        assert result["ttlMs"] >= 60_000
        assert result["cacheScope"] == "public"
        assert not {"ttlMs", "cacheScope", "resultType"} & set(rpc(method, params, LEGACY).result)


MISSING: Final = [
    ("wire://story/cbn-000000000000", ["cbn-000000000000", "search_wire", "wire://today"]),
    ("wire://story/x", ["search_wire"]),
    ("wire://story/", ["resources/list"]),
    ("wire://today/sports", ["launches", "analysis"]),
    ("wire://topic/apple", ["openai", "regulation"]),
    ("wire://archive/1999-01-01", ["1999-01-01", "2026-10-12"]),
    ("wire://archive/2026-13-45", ["resources/list"]),
    ("wire://provenance/1999-01-01", ["2026-10-12"]),
    ("wire://nope", ["resources/list", "resources/templates/list"]),
    ("wire://today/", ["resources/list"]),
    ("wire://today?x=1", ["resources/list"]),
    ("wire://today\n", ["resources/list"]),
    ("wire://archive/../today", ["resources/list"]),
    ("file:///etc/passwd", ["resources/list"]),
    ("", ["resources/list"]),
    ("wire://story/\x00", ["resources/list"]),
    ("wire://" + "x" * 5000, ["resources/list"]),
]


@every_era
@pytest.mark.parametrize(("uri", "named"), MISSING, ids=[f"missing-{n}" for n in range(len(MISSING))])
def test_a_resource_that_is_not_there_is_the_eras_own_error_with_a_hint(era: str, uri: str, named: list[str]) -> None:
    answer = rpc("resources/read", {"uri": uri}, era)
    assert answer.status == {LEGACY: 200, MODERN: 400}[era]
    assert answer.error["code"] == NOT_FOUND[era]
    assert [word for word in named if word not in answer.error["message"]] == []
    assert answer.error["data"]["uri"] == uri[:200]
    assert answer.error["data"]["hint"]
    assert len(answer.body) < 2000


STRANGE_CURSORS: Final = ["", "strange", "bm9wZQ", "WyJyZXNvdXJjZXMiLDVd", "WyJkYXlzIiwiMjAyNi0wMS0wMSJd", "é", "\x00", "A" * 5000]


@every_era
def test_a_cursor_that_the_list_did_not_give_is_refused(era: str) -> None:
    for cursor in STRANGE_CURSORS:
        answer = rpc("resources/list", {"cursor": cursor}, era)
        assert answer.error["code"] == -32602
        assert "first page" in answer.error["message"]


def complete(ref: dict[str, str], argument: str, begun: str, era: str) -> list[str]:
    asked = {"ref": ref, "argument": {"name": argument, "value": begun}}
    found = rpc("completion/complete", asked, era).result["completion"]
    assert found["hasMore"] is (found["total"] > len(found["values"]))
    values: list[str] = found["values"]
    return values


def template(uri: str, argument: str, begun: str = "", era: str = MODERN) -> list[str]:
    return complete({"type": "ref/resource", "uri": uri}, argument, begun, era)


def of_prompt(name: str, argument: str, begun: str = "", era: str = MODERN) -> list[str]:
    return complete({"type": "ref/prompt", "name": name}, argument, begun, era)


@every_era
def test_the_variables_of_templates_are_completed(era: str) -> None:
    today = [story["chatbotnews_id"] for story in get("/api/today.json")["stories"]]
    assert template("wire://story/{id}", "id", era=era) == today
    assert template("wire://story/{id}", "id", today[3][:9], era) == [today[3]]
    assert template("wire://topic/{slug}", "slug", "m", era) == ["microsoft", "meta", "mistral"]
    assert template("wire://today/{category}", "category", "a", era) == ["agents", "analysis"]
    days = ["2026-10-15", "2026-10-14", "2026-10-13", "2026-10-12"]
    assert template("wire://archive/{date}", "date", "2026-1", era) == days
    assert template("wire://provenance/{date}", "date", "2026-10-12", era) == ["2026-10-12"]


@every_era
def test_the_arguments_of_prompts_are_completed(era: str) -> None:
    assert of_prompt("daily-briefing", "focus", "a", era) == ["all", "agents", "analysis"]
    assert of_prompt("topic-deep-dive", "topic", "x", era) == ["xai"]
    assert "7" in of_prompt("topic-deep-dive", "window_days", era=era)
    assert len(of_prompt("cite-chatbotnews", "story_id", "cbn-", era)) == 22
    assert of_prompt("compare-coverage", "event", "a", era) == []


def test_what_cannot_be_completed_has_no_values() -> None:
    assert template("wire://story/{id}", "id", "nope") == []
    assert template("wire://story/{id}", "slug") == []
    assert template("wire://nope/{id}", "id") == []
    assert of_prompt("nope", "topic") == []
    assert of_prompt("topic-deep-dive", "nope") == []
    assert template("wire://topic/{slug}", "slug", "\x00") == []
