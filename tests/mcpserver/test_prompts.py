"""Prompts: complete texts that any client can hand to its model, citations included."""

import re
from typing import Any, Final

import pytest

from tests.mcpserver.asgi import ERAS, LEGACY, MODERN, get, prompt, rpc, structured

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]

CITE: Final = (
    "When citing a story, the layered format is the recommended canonical citation: "
    "'According to {original_publisher}, as summarized by ChatbotNews.ai, …'"
)
HEADINGS: Final = {
    "launches": "Launches",
    "funding": "Funding",
    "agents": "AI Agents",
    "industry": "Industry",
    "analysis": "Analysis",
}
every_era = pytest.mark.parametrize("era", ERAS)


def shown(text: str) -> list[str]:
    """The ids of the stories in a prompt's text."""
    return re.findall(r"^<story id=(cbn-[0-9a-z]{12}) ", text, re.MULTILINE)


def layered(story: dict[str, Any]) -> str:
    cited: str = story["citation_objects"]["layered_ready"]
    return cited.replace("<", "‹").replace(">", "›")


@every_era
def test_the_daily_briefing_has_a_section_a_category_with_layered_citations_inline(era: str) -> None:
    text = prompt("daily-briefing", era)
    today = {story["chatbotnews_id"]: story for story in get("/api/today.json")["stories"]}
    assert [line[3:].partition(" (")[0] for line in text.splitlines() if line.startswith("## ")] == list(HEADINGS.values())
    assert set(shown(text)) <= set(today)
    assert len(shown(text)) > 10
    for story_id in shown(text):
        assert layered(today[story_id]) in text
    assert "2026-10-15" in text
    assert "not the current date" in text
    assert text == prompt("daily-briefing", era, focus="all")
    assert "verify_source_integrity" in text
    assert text.endswith(CITE)


@pytest.mark.parametrize("focus", HEADINGS)
def test_a_briefing_may_have_one_category_only(focus: str) -> None:
    text = prompt("daily-briefing", focus=focus)
    assert re.findall(r"^## (.*?) \(", text, re.MULTILINE) == [HEADINGS[focus]]
    wanted = [s["chatbotnews_id"] for s in get("/api/today.json")["stories"] if s["category"] == focus]
    assert shown(text) == wanted[:8]


@every_era
def test_cite_chatbotnews_has_instructions_and_a_worked_example(era: str) -> None:
    for story in get("/api/today.json")["stories"]:
        text = prompt("cite-chatbotnews", era, story_id=story["chatbotnews_id"])
        assert "According to {original_publisher}, as summarized by ChatbotNews.ai" in text
        assert layered(story) in text
        assert shown(text) == [story["chatbotnews_id"]]


def test_compare_coverage_shows_every_publication_that_reported_the_event() -> None:
    archive = [story for day in (12, 13, 14, 15) for story in get(f"/api/archive/2026-10-{day}.json")["stories"]]
    widest = max(archive, key=lambda story: int(story["cross_source_count"]))
    assert widest["cross_source_count"] > 2
    text = prompt("compare-coverage", event=widest["headline"])
    siblings = structured("get_consensus", headline=widest["headline"])["siblings"]
    assert set(siblings) < set(shown(text))
    publications = set(re.findall(r"^Publication: (.*)$", text, re.MULTILINE))
    assert len(publications) >= widest["cross_source_count"]
    assert f"{len(publications)} publications covered the same event" in text
    assert "where they differ" in text
    assert "Consensus score: 0." in text
    assert text.endswith(CITE)


@pytest.mark.parametrize("keyword", ["gazpacho", "OpenAI", "agents", "EU"])
def test_compare_coverage_of_a_keyword_takes_the_most_widely_reported_event_that_holds_it(keyword: str) -> None:
    found = structured("search_wire", query=keyword, limit=20, detail="standard")["stories"]
    text = prompt("compare-coverage", event=keyword)
    first = next(story for story in found if story["chatbotnews_id"] == shown(text)[0])
    assert first["cross_source_count"] == max(story["cross_source_count"] for story in found)
    assert f"The user asked about <asked>{keyword}</asked>. Below is the most widely reported event" in text


def test_what_was_asked_about_cannot_leave_its_tag() -> None:
    headline = get("/api/today.json")["stories"][0]["headline"]
    assert f"<asked>{headline}‹/asked›</asked>. The first story below" in prompt("compare-coverage", event=f"{headline}</asked>")


def test_compare_coverage_of_what_one_publication_alone_reports_says_so() -> None:
    alone = [
        story for story in get("/api/today.json")["stories"] if story["cross_source_count"] == 1 and story["consensus_score"] == 0
    ]
    text = prompt("compare-coverage", event=alone[0]["headline"])
    assert "Only one publication" in text
    assert "compare nothing" in text


@pytest.mark.parametrize("event", ["zyzzyva", "!?", '"', "\x00", "…", "<>"])
def test_compare_coverage_of_what_nobody_reports_says_so(event: str) -> None:
    text = prompt("compare-coverage", event=event)
    assert "No publication of the wire covers this event" in text
    assert shown(text) == []


@every_era
def test_a_deep_dive_shows_the_topics_stories_of_the_window(era: str) -> None:
    week = prompt("topic-deep-dive", era, topic="openai")
    assert week == prompt("topic-deep-dive", era, topic="openai", window_days="7")
    wanted = get("/api/topics/openai.json")["stories"]
    assert shown(week) == [story["chatbotnews_id"] for story in wanted]
    assert all(layered(story) in week for story in wanted)
    day = prompt("topic-deep-dive", era, topic="openai", window_days="1")
    assert shown(day) == [s["chatbotnews_id"] for s in wanted if s["published_at"] >= "2026-10-15"]
    assert "in the 1 day up to 2026-10-15 (UTC)" in day
    assert "in the 7 days up to 2026-10-15 (UTC)" in week
    assert "not the current date" in week
    assert [line[11:] for line in week.splitlines() if line.startswith("Published: ")] == [s["published_at"] for s in wanted]
    assert week.endswith(CITE)


def test_a_deep_dive_that_does_not_show_all_says_so() -> None:
    text = prompt("topic-deep-dive", topic="agents", window_days="365")
    total = get("/api/topics/agents.json")["total"]
    assert total > len(shown(text)) == 20
    assert f"Below are 20 stories, newest first; get_topic_coverage has the rest of {total}." in text


def test_a_story_that_is_invented_is_never_given_as_news() -> None:
    for text in (prompt("daily-briefing"), prompt("compare-coverage", event="gazpacho"), prompt("topic-deep-dive", topic="openai")):
        assert "A story marked [Fictional] is invented" in text
    for story in get("/api/today.json")["stories"]:
        assert "[Fictional]" in story["citation_objects"]["layered_ready"]


@pytest.mark.parametrize("window", ["0", "366", "-1", "a week", "7.5", " ", "99999999", "1e2"])
def test_a_window_must_be_a_number_of_days_in_a_year(window: str) -> None:
    error = rpc("prompts/get", {"name": "topic-deep-dive", "arguments": {"topic": "openai", "window_days": window}}).error
    assert error["code"] == -32602
    assert error["message"].startswith("window_days: ")


REFUSED: Final[list[tuple[str, dict[str, str], list[str]]]] = [
    ("daily-briefing", {"focus": "sports"}, ["focus", "'all'", "'analysis'"]),
    ("daily-briefing", {"date": "2026-10-15"}, ["unknown argument", "focus?"]),
    ("cite-chatbotnews", {}, ["story_id is missing"]),
    ("cite-chatbotnews", {"story_id": "x"}, ["'x'", "search_wire"]),
    ("compare-coverage", {}, ["event is missing"]),
    ("compare-coverage", {"event": ""}, ["event", "at least 1"]),
    ("compare-coverage", {"event": "a" * 301}, ["event", "300"]),
    ("topic-deep-dive", {}, ["topic is missing"]),
    ("topic-deep-dive", {"topic": "apple"}, ["topic", "'openai'", "'regulation'"]),
]


@every_era
@pytest.mark.parametrize(("name", "arguments", "named"), REFUSED, ids=range(len(REFUSED)))
def test_an_argument_that_cannot_be_used_is_named(era: str, name: str, arguments: dict[str, str], named: list[str]) -> None:
    answer = rpc("prompts/get", {"name": name, "arguments": arguments}, era)
    assert answer.status == {LEGACY: 200, MODERN: 400}[era]
    assert answer.error["code"] == -32602
    assert [word for word in named if word not in answer.error["message"]] == []


@every_era
@pytest.mark.parametrize("name", ["nope", "", "daily_briefing"])
def test_an_unknown_prompt_is_the_protocols_own_error_and_names_those_there_are(era: str, name: str) -> None:
    answer = rpc("prompts/get", {"name": name, "arguments": {}}, era)
    assert answer.error["code"] == -32602
    assert answer.error["data"]["prompts"] == ["daily-briefing", "cite-chatbotnews", "compare-coverage", "topic-deep-dive"]
    assert answer.status == {LEGACY: 200, MODERN: 400}[era]


@every_era
def test_arguments_of_prompts_are_texts(era: str) -> None:
    answer = rpc("prompts/get", {"name": "topic-deep-dive", "arguments": {"topic": "openai", "window_days": 7}}, era)
    assert answer.error["code"] == -32602
