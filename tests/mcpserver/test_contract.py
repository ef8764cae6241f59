"""The contract: what the specification's §3-§7 promise, typed here once more by hand, against what clients are told."""

import asyncio
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator, FormatChecker
from mcp import Client

from config.server_info import VERSION
from mcpserver.registry import doors
from tests.mcpserver.asgi import ERAS, LEGACY, MODERN, call, message, rpc, rpc_headers, said, structured

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]

CATEGORIES: Final = ["launches", "funding", "agents", "industry", "analysis"]
TOPICS: Final = [
    *("openai", "anthropic", "google", "microsoft", "meta", "nvidia", "xai", "mistral", "perplexity"),
    *("agents", "funding", "regulation"),
]
FORMATS: Final = ["layered", "inline", "reference", "academic", "markdown", "bibtex"]

# §4.1. An argument is required unless it says otherwise.
OPTIONAL: Final = {"optional": True}
TOOLS: Final[dict[str, dict[str, dict[str, Any]]]] = {
    "search_wire": {
        "query": {"type": "string"},
        "category": {"type": "string", "enum": CATEGORIES, **OPTIONAL},
        "source": {"type": "string", **OPTIONAL},
        "since": {"type": "string", "format": "date-time", **OPTIONAL},
        "limit": {"type": "integer", "default": 10, "maximum": 50, "minimum": 1, **OPTIONAL},
    },
    "get_story": {"story_id": {"type": "string"}},
    "get_category": {
        "category": {"type": "string", "enum": CATEGORIES},
        "limit": {"type": "integer", "default": 20, "maximum": 100, "minimum": 1, **OPTIONAL},
    },
    "get_topic_coverage": {
        "topic": {"type": "string", "enum": TOPICS},
        "since": {"type": "string", "format": "date-time", **OPTIONAL},
        "limit": {"type": "integer", "default": 20, "maximum": 100, "minimum": 1, **OPTIONAL},
    },
    "get_consensus": {"story_id": {"type": "string", **OPTIONAL}, "headline": {"type": "string", **OPTIONAL}},
    "get_citation": {
        "story_id": {"type": "string"},
        "format": {"type": "string", "enum": FORMATS, "default": "layered", **OPTIONAL},
    },
    "get_editor_take": {"date": {"type": "string", "format": "date", **OPTIONAL}},
    "list_sources": {"tier": {"type": "integer", "minimum": 1, "maximum": 4, **OPTIONAL}},
    "verify_source_integrity": {"publication_name": {"type": "string"}},
}
ANNOTATIONS: Final = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": True}

# Minor versions add, and change nothing of the above.
ADDED_TOOLS: Final = {
    "list_events": {"date", "category", "topic", "limit", "cursor", "max_tokens"},
    "get_event": {"event_id"},
    "get_storyline": {"event_id", "limit", "cursor"},
    "get_entity": {"name", "since", "limit", "cursor", "detail", "max_tokens", "until"},
    "search": {"query"},
    "fetch": {"id"},
    "verify_citation": {"text"},
    "get_provenance": {"date", "story_id"},
    "get_changes": {"cursor", "kinds", "limit", "wait", "since", "max_tokens"},
    "corroborate": {"claim"},
    "compare_coverage": {"event_id"},
    "check_limits": set(),
}
ADDED_ARGUMENTS: Final = {
    "search_wire": {"cursor", "detail", "sort", "until", "topic", "tier", "sources", "max_tokens", "group"},
    "get_story": {"as_of"},
    "get_category": {"cursor", "detail", "max_tokens", "as_of"},
    "get_topic_coverage": {"cursor", "detail", "max_tokens", "until"},
}
# Behind the specification's six formats may stand others; the values of `source` are the roster, which the specification names.
ADDED_FORMATS: Final = {"csl", "ris", "apa", "mla"}

# §3.1
JSON: Final = "application/json"
RESOURCES: Final = {
    "wire://today": JSON,
    **{f"wire://today/{category}": JSON for category in CATEGORIES},
    "wire://editor-take/today": "text/markdown",
    "wire://sources": JSON,
    "wire://llms.txt": "text/plain",
    "wire://provenance/today": JSON,
    **{f"wire://topic/{topic}": JSON for topic in TOPICS},
}
TEMPLATES: Final = {"wire://story/{id}": JSON, "wire://topic/{slug}": JSON, "wire://archive/{date}": JSON}
BRIEF: Final = ("wire://today/{category}/brief", "wire://topic/{slug}/brief", "wire://archive/{date}/brief")
ADDED_TEMPLATES: Final = {
    **dict.fromkeys(("wire://today/{category}", "wire://provenance/{date}", "wire://event/{id}"), JSON),
    **dict.fromkeys(BRIEF, JSON),
}
ADDED_RESOURCES: Final = {"wire://today/brief": JSON}

# §5.1: the arguments of each prompt, and whether they are required.
PROMPTS: Final = {
    "daily-briefing": {"focus": False},
    "cite-chatbotnews": {"story_id": True},
    "compare-coverage": {"event": True},
    "topic-deep-dive": {"topic": True, "window_days": False},
}

# §7
CITE: Final = (
    "When citing a story, the layered format is the recommended canonical citation: "
    "'According to {original_publisher}, as summarized by ChatbotNews.ai, …'"
)

every_era = pytest.mark.parametrize("era", ERAS)


def listed(kind: str, era: str) -> list[dict[str, Any]]:
    """All pages of a list."""
    key = {"resources/templates/list": "resourceTemplates"}.get(kind, kind.partition("/")[0])
    found: list[dict[str, Any]] = []
    cursor: dict[str, Any] = {}
    while True:
        page = rpc(kind, cursor, era).result
        found += page[key]
        if "nextCursor" not in page:
            return found
        cursor = {"cursor": page["nextCursor"]}


def accepted(schema: dict[str, Any], *, optional: bool) -> dict[str, Any]:
    """What an argument accepts; one that may be left out accepts null beside it."""
    if not optional:
        return schema
    inner, null = schema["anyOf"]
    assert null == {"type": "null"}
    return {**schema, **inner}


def tools(era: str = MODERN) -> dict[str, dict[str, Any]]:
    return {tool["name"]: tool for tool in listed("tools/list", era)}


@every_era
def test_every_tool_of_the_specification_is_there_and_only_known_ones_were_added(era: str) -> None:
    assert list(tools(era)) == [*TOOLS, *ADDED_TOOLS]


@every_era
@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_takes_the_arguments_of_the_specification_to_the_letter(name: str, era: str) -> None:
    schema = tools(era)[name]["inputSchema"]
    assert schema["type"] == "object"
    assert set(schema["properties"]) == set(TOOLS[name]) | ADDED_ARGUMENTS.get(name, set())
    assert set(schema.get("required", [])) == {argument for argument, rule in TOOLS[name].items() if not rule.get("optional")}
    for argument, rule in TOOLS[name].items():
        wanted = {key: value for key, value in rule.items() if key != "optional"}
        told = accepted(schema["properties"][argument], optional=bool(rule.get("optional")))
        kept = {key: told[key] for key in ("type", "enum", "default", "minimum", "maximum", "format") if key in told}
        if argument == "source":
            assert len(kept.pop("enum")) == 24
        if argument == "format":
            assert set(kept["enum"][len(FORMATS) :]) <= ADDED_FORMATS
            kept["enum"] = kept["enum"][: len(FORMATS)]
        assert kept == wanted, argument
        assert told["description"]


@every_era
def test_what_was_added_is_optional_or_a_tool_of_its_own(era: str) -> None:
    found = tools(era)
    for name, arguments in ADDED_TOOLS.items():
        assert set(found[name]["inputSchema"]["properties"]) == arguments


@every_era
def test_every_tool_has_the_four_annotations_a_title_and_a_schema_of_its_answer(era: str) -> None:
    for name, tool in tools(era).items():
        hints = {key: tool["annotations"][key] for key in ANNOTATIONS}
        assert hints == ANNOTATIONS, name
        assert tool["title"] == tool["annotations"]["title"]
        assert len(name) <= 64
        assert tool["outputSchema"]["type"] == "object"
        for schema in (tool["inputSchema"], tool["outputSchema"]):
            Draft202012Validator.check_schema(schema)
        assert "additionalProperties" not in tool["inputSchema"]


@every_era
def test_every_tool_description_ends_with_the_citation_sentence(era: str) -> None:
    for name, tool in tools(era).items():
        assert tool["description"].endswith(CITE), name
        assert tool["description"].count(CITE) == 1


def test_input_schemas_hold_no_references_since_many_clients_follow_none() -> None:
    for tool in tools().values():
        assert not {"$defs", "$ref", "allOf", "oneOf", "examples"} & set(str(tool["inputSchema"]).replace("'", " ").split())


@every_era
def test_every_argument_that_may_be_left_out_may_be_null_and_says_so(era: str) -> None:
    """OpenAI's strict mode makes every argument required."""
    for name, tool in tools(era).items():
        schema = tool["inputSchema"]
        for argument, told in schema["properties"].items():
            validator = Draft202012Validator(told)
            assert validator.is_valid(None) == (argument not in schema.get("required", [])), (name, argument)
            if "default" in told:
                assert validator.is_valid(told["default"])


def test_the_server_says_who_it_is_and_how_to_cite() -> None:
    client = {"protocolVersion": LEGACY, "capabilities": {}, "clientInfo": {"name": "tests", "version": "1"}}
    hello = rpc("initialize", client, LEGACY).result
    discovered = rpc("server/discover").result
    for told, info in ((hello, hello["serverInfo"]), (discovered, discovered["_meta"]["io.modelcontextprotocol/serverInfo"])):
        assert (info["name"], info["version"]) == ("chatbotnews-wire", VERSION)
        assert CITE in told["instructions"]
        assert "verify_source_integrity" in told["instructions"]
        assert {"tools", "resources", "prompts", "completions"} <= set(told["capabilities"])
        assert "logging" not in told["capabilities"]
        assert told["capabilities"]["resources"] == {"listChanged": True, "subscribe": False}
        assert told["capabilities"]["tools"]["listChanged"] is True
        assert told["capabilities"]["prompts"]["listChanged"] is False


@every_era
def test_every_resource_of_the_specification_is_listed_with_its_mime_type(era: str) -> None:
    found = {resource["uri"]: resource["mimeType"] for resource in listed("resources/list", era)}
    assert {uri: found.get(uri) for uri in RESOURCES} == RESOURCES
    assert ADDED_RESOURCES.items() <= found.items()
    others = {uri: mime for uri, mime in found.items() if uri not in RESOURCES | ADDED_RESOURCES}
    assert set(others.values()) == {JSON}
    assert all(uri.startswith(("wire://story/cbn-", "wire://archive/2026-10-1")) for uri in others)


@every_era
def test_the_templates_are_those_of_the_specification_and_known_additions(era: str) -> None:
    found = {template["uriTemplate"]: template["mimeType"] for template in listed("resources/templates/list", era)}
    assert found == TEMPLATES | ADDED_TEMPLATES


@every_era
def test_the_prompts_are_those_of_the_specification(era: str) -> None:
    found = listed("prompts/list", era)
    assert {p["name"]: {a["name"]: a["required"] for a in p["arguments"]} for p in found} == PROMPTS
    assert all(p["title"] and p["description"] and all(a["description"] for a in p["arguments"]) for p in found)


def test_both_eras_are_told_the_same() -> None:
    for kind in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
        assert listed(kind, LEGACY) == listed(kind, MODERN), kind


def test_a_list_of_one_page_gives_no_cursor_and_takes_none() -> None:
    for kind in ("tools/list", "resources/templates/list", "prompts/list"):
        assert "nextCursor" not in rpc(kind).result
        assert rpc(kind, {"cursor": "strange"}).error["code"] == -32602


EXAMPLES: Final[list[tuple[str, dict[str, Any]]]] = [
    *(("search_wire", {"query": "the", "limit": 5, "detail": detail}) for detail in ("brief", "standard", "full")),
    *(("get_category", {"category": category}) for category in CATEGORIES),
    *(("get_category", {"category": "launches", "detail": detail}) for detail in ("brief", "standard", "full")),
    *(("get_topic_coverage", {"topic": topic}) for topic in TOPICS),
    *(("get_topic_coverage", {"topic": "openai", "detail": detail}) for detail in ("brief", "standard", "full")),
    *(("get_entity", {"name": "OpenAI", "detail": detail}) for detail in ("brief", "full")),
    ("search_wire", {"query": "no story holds this word: zyzzyva"}),
    *(("search_wire", {"query": "the", "limit": 9, "max_tokens": most}) for most in (1, 500, 5_000)),
    ("search_wire", {"query": "the", "sources": ["FT", "Reuters"], "tier": 3, "topic": "openai", "until": "2026-10-15"}),
    ("list_events", {"max_tokens": 300}),
    ("list_events", {"date": "2026-10-13", "limit": 5}),
    ("get_consensus", {"headline": "OpenAI opens a reading room on the Moon"}),
    ("get_consensus", {"headline": "zyzzyva"}),
    *(("list_sources", {"tier": tier} if tier else {}) for tier in range(5)),
    ("get_editor_take", {}),
    ("get_editor_take", {"date": "2026-10-12"}),
    *(("verify_source_integrity", {"publication_name": name}) for name in ("Reuters", "reuters.com", "The Daily Planet", "")),
    ("search", {"query": "agents"}),
    ("verify_citation", {"text": "According to Reuters, as summarized by ChatbotNews.ai, it rained. cbn-000000000000"}),
    ("get_provenance", {}),
    ("get_provenance", {"date": "2026-10-12"}),
    ("get_changes", {}),
    ("get_changes", {"since": "1970-01-01", "limit": 500}),
    ("check_limits", {}),
    ("corroborate", {"claim": "OpenAI opened a library on the Moon"}),
    ("get_category", {"category": "launches", "as_of": "2026-10-17"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "arguments"), EXAMPLES, ids=lambda value: value if isinstance(value, str) else "")
def test_what_a_tool_answers_is_valid_by_its_own_schema(name: str, arguments: dict[str, Any]) -> None:
    Draft202012Validator(tools()[name]["outputSchema"], format_checker=FormatChecker()).validate(structured(name, **arguments))


@pytest.mark.slow
def test_what_is_answered_about_any_story_is_valid_by_the_tools_own_schemas() -> None:
    schemas = {name: Draft202012Validator(tool["outputSchema"], format_checker=FormatChecker()) for name, tool in tools().items()}
    found = structured("get_category", category="launches", limit=100, detail="brief")["stories"]
    assert len(found) > 10
    for story_id in [story["chatbotnews_id"] for story in found]:
        schemas["get_story"].validate(structured("get_story", story_id=story_id))
        schemas["get_consensus"].validate(structured("get_consensus", story_id=story_id))
        schemas["fetch"].validate(structured("fetch", id=story_id))
        for style in FORMATS:
            schemas["get_citation"].validate(structured("get_citation", story_id=story_id, format=style))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["legacy", "auto", MODERN])
def test_the_sdks_own_client_reads_everything(mode: str) -> None:
    """It holds each answer against the listed schema too."""

    async def everything() -> tuple[list[str], list[str], str]:
        async with Client(doors["/mcp"].server, mode=mode) as client:
            named = [tool.name for tool in (await client.list_tools()).tools]
            for name, arguments in EXAMPLES:
                result = await client.call_tool(name, arguments)
                assert result.is_error is not True, (name, arguments)
            asked = [prompt.name for prompt in (await client.list_prompts()).prompts]
            today = await client.read_resource("wire://today")
            return named, asked, getattr(today.contents[0], "text", "")

    named, asked, today = asyncio.run(everything())
    assert named == [*TOOLS, *ADDED_TOOLS]
    assert asked == list(PROMPTS)
    assert '"_mcp"' in today


def test_older_revisions_get_the_same_content_in_their_own_shape() -> None:
    for era in ("2024-11-05", "2025-03-26", "2025-06-18"):
        result = call("list_sources", era, tier=4)
        assert "Google News" in said(result)
        assert "ttlMs" not in result
        assert "resultType" not in result
        asked = message("tools/list", era=era)
        assert rpc_headers(asked, era)["mcp-protocol-version"] == era
        assert [tool["name"] for tool in rpc("tools/list", era=era).result["tools"]] == [*TOOLS, *ADDED_TOOLS]
