"""Timeline corpora by MCP: eleven tools in both eras, errors as results, and answers that fit their schemas."""

import asyncio
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from django.conf import settings as conf
from django.db import connection
from django.test.utils import CaptureQueriesContext
from jsonschema import Draft202012Validator
from mcp import Client

from config.asgi import application
from config.http import memory_cache
from mcpserver.servers import timeline
from tests.mcpserver.asgi import ERAS, message, request, rpc, rpc_headers
from tests.wire.corpora.timeline.corpora import SLUG, harbour

pytestmark = pytest.mark.django_db(transaction=True)
every_era = pytest.mark.parametrize("era", ERAS)

PATH: Final = f"/mcp/timeline/{SLUG}"
CALLS: Final[dict[str, dict[str, Any]]] = {
    "timeline_search_reports": {"query": "clock", "limit": 2},
    "timeline_get_report": {"id": "hc-2"},
    "timeline_mandela_catalog": {},
    "timeline_motif_map": {"motif": "long-tide"},
    "timeline_story_threads": {"lens": "belief"},
    "timeline_events": {"layer": "submission-batch"},
    "timeline_compare_sources": {"topic": "clock and tide", "frames": ["belief", "skeptical"]},
    "timeline_deepen_story": {"thread_id": "clock-and-tide"},
    "timeline_stats": {},
    "timeline_agent_manifest": {},
    "timeline_check_wording": {"draft": "It is proven."},
}
WRONG: Final[dict[str, dict[str, Any]]] = {
    "timeline_search_reports": {"motifs": ["clock"]},
    "timeline_get_report": {"id": "hc-99"},
    "timeline_mandela_catalog": {"category": "weather"},
    "timeline_motif_map": {"family": "sound"},
    "timeline_story_threads": {"id": "nothing"},
    "timeline_events": {"layer": "rumour"},
    "timeline_compare_sources": {"topic": "walrus"},
    "timeline_deepen_story": {},
    "timeline_stats": {"as_of": 9},
    "timeline_agent_manifest": {"corpus": "nobody"},
    "timeline_check_wording": {"draft": ""},
}


@pytest.fixture(autouse=True)
def corpus(transactional_db: None) -> None:  # noqa: ARG001
    harbour()


def result(tool: str, era: str, path: str = PATH, **arguments: Any) -> dict[str, Any]:
    return rpc("tools/call", {"name": tool, "arguments": arguments}, era, path).result


@pytest.mark.slow
@every_era
def test_every_tool_answers_in_its_schema_and_the_text_is_the_same(era: str) -> None:
    listed = {tool["name"]: tool for tool in rpc("tools/list", {}, era, PATH).result["tools"]}
    assert set(listed) == set(CALLS) == set(WRONG)
    for name, arguments in CALLS.items():
        found = result(name, era, **arguments)
        assert found.get("isError") is not True, found
        Draft202012Validator(listed[name]["outputSchema"]).validate(found["structuredContent"])
        assert json.loads(found["content"][0]["text"]) == found["structuredContent"]
        assert found["structuredContent"]["corpus"] == SLUG


@every_era
def test_every_error_is_a_result_in_the_specified_shape_and_in_the_schema(era: str) -> None:
    listed = {tool["name"]: tool for tool in rpc("tools/list", {}, era, PATH).result["tools"]}
    for name, arguments in WRONG.items():
        found = result(name, era, **arguments)
        assert found["isError"] is True
        error = found["structuredContent"]
        assert set(error) == {"error", "message", "hint"}
        assert all(error.values()), (name, error)
        assert json.loads(found["content"][0]["text"]) == error
        Draft202012Validator(listed[name]["outputSchema"]).validate(error)


def test_an_empty_answer_does_not_pass_for_one_that_fits() -> None:
    for tool in timeline._BOX.listed:
        assert not Draft202012Validator(tool.output_schema or {}).is_valid({})


def test_tools_are_annotated_as_closed_and_read_only() -> None:
    for tool in rpc("tools/list", {}, path=PATH).result["tools"]:
        notes = tool["annotations"]
        assert (notes["readOnlyHint"], notes["destructiveHint"], notes["idempotentHint"], notes["openWorldHint"]) == (
            *(True, False, True, False),
        )
        assert tool["title"]
        assert "additionalProperties" not in tool["inputSchema"]
        assert all("description" in one for one in tool["inputSchema"]["properties"].values()), tool["name"]


@pytest.mark.parametrize("arguments", [{"limit": "10"}, {"limit": 0}, {"limit": 51}, {"limit": True}, {"limit": 2.5}])
def test_a_limit_that_is_no_number_in_bounds_says_what_is(arguments: dict[str, Any]) -> None:
    error = result("timeline_search_reports", ERAS[0], **arguments)["structuredContent"]
    assert error["error"] == "invalid_argument"
    assert error["message"].startswith("limit: ")


def test_an_unknown_argument_and_an_unknown_stance_name_what_is_accepted() -> None:
    error = result("timeline_search_reports", ERAS[0], nonsense=1)["structuredContent"]
    assert "'nonsense' is an unknown argument." in error["message"]
    assert "motifs?" in error["hint"]
    error = result("timeline_search_reports", ERAS[0], stance="loud")["structuredContent"]
    assert "'belief', 'neutral', 'skeptical', 'official' or 'mixed'" in error["message"]


def test_one_address_serves_every_corpus_and_has_a_default(settings: Any) -> None:
    assert settings.WIRE_TIMELINE_CORPUS == "wire"
    found = result("timeline_stats", ERAS[1], "/mcp/timeline", corpus=SLUG)
    assert found["structuredContent"]["totals"]["reports"] == 6
    error = result("timeline_stats", ERAS[1], "/mcp/timeline")
    assert error["structuredContent"]["error"] == "unknown_corpus"
    assert SLUG in error["structuredContent"]["hint"]


def test_a_corpus_that_there_is_not_has_no_server() -> None:
    answer = request("POST", "/mcp/timeline/nobody", b"{}", {"content-type": "application/json"})
    assert answer.status == 404
    assert "api/timeline/corpora.json" in answer.body.decode()


@every_era
def test_a_cached_answer_is_the_same_bytes_until_a_release(era: str) -> None:
    memory_cache.answers.set_version(("tests", 1))
    try:
        first = result("timeline_stats", era)
        with CaptureQueriesContext(connection) as asked:
            assert result("timeline_stats", era) == first
        assert not asked.captured_queries
    finally:
        memory_cache.answers.set_version(None)
    assert result("timeline_stats", era, as_of=1)["structuredContent"] == first["structuredContent"]


@pytest.mark.slow
def test_the_official_client_calls_every_tool_and_accepts_errors() -> None:
    """It checks structured content against the output schema of a tool that it listed."""

    async def talk() -> None:
        from mcp.client.streamable_http import streamable_http_client

        transport = httpx2.ASGITransport(app=application)
        async with (
            httpx2.AsyncClient(transport=transport, base_url="http://localhost:8000") as web,
            Client(streamable_http_client(f"http://localhost:8000{PATH}", http_client=web)) as client,
        ):
            tools = await client.list_tools()
            assert len(tools.tools) == 11
            for name, arguments in CALLS.items():
                found = await client.call_tool(name, arguments)
                assert not found.is_error
                assert found.structured_content
            for name, arguments in WRONG.items():
                found = await client.call_tool(name, arguments)
                assert found.is_error
                assert found.structured_content

    asyncio.run(talk())


WITHOUT: Final = """
from config.settings import *
INSTALLED_APPS = [app for app in INSTALLED_APPS if app != "wire.corpora.timeline"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}}
"""
ASK: Final = """
import django
django.setup()
from mcpserver.servers import SERVERS
assert not [path for path in SERVERS if "timeline" in path]
from django.core.management import get_commands
import config.asgi, config.urls, sys, types, wire.admin.menu
from django.contrib.auth.models import AnonymousUser
from django.urls import Resolver404, resolve
from wire.site.llms_txt import llms_txt
assert "timeline" not in llms_txt()
request = types.SimpleNamespace(user=AnonymousUser())
assert "Timelines" not in [part["title"] for part in wire.admin.menu.build_sidebar(request)]
for path in ("/about", "/articles", "/api/search.json", "/admin/login/"):
    resolve(path)
for path in ("/timeline/", "/api/timeline/corpora.json", "/admin/timeline/report/"):
    try:
        assert resolve(path).url_name is None, path  # the desk answers for whatever is below it
    except Resolver404:
        pass
from config.api import api
assert "timeline" not in str(api.get_openapi_schema()["paths"].keys())
assert not [name for name in sys.modules if name.startswith("wire.corpora.timeline")]
assert "timeline" not in get_commands()
doors = config.asgi._doors | config.asgi._families
assert "/mcp" in doors and not [path for path in doors if "timeline" in path], doors
print("fine")
"""


@pytest.mark.slow
def test_everything_else_works_without_the_app(tmp_path: Path) -> None:
    """Its lines in INSTALLED_APPS and SERVERS are all that makes it a part of the wire."""
    (tmp_path / "without_timeline.py").write_text(WITHOUT)
    env = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "without_timeline",
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{conf.BASE_DIR}",
        "WIRE_DATA_DIR": str(tmp_path / "wire"),
    }
    ran = subprocess.run([sys.executable, "-c", ASK], env=env, cwd=conf.BASE_DIR, capture_output=True, text=True, timeout=120)
    assert ran.stdout.strip() == "fine", ran.stderr[-3000:]


def test_the_page_of_the_timeline_knows_the_lane_of_each_layer_of_each_corpus() -> None:
    found = timeline.CARDS["timeline_events"].facts()[SLUG]
    assert found["layers"]["official-science"] == "official"
    assert set(found["layers"].values()) == set(found["lanes"])
    for path in ("/mcp/timeline", PATH):
        asked = message("resources/read", {"uri": "ui://chatbotnews/timeline"})
        asked["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] = {
            "extensions": {"io.modelcontextprotocol/ui": {"mimeTypes": ["text/html;profile=mcp-app"]}}
        }
        answer = request("POST", path, json.dumps(asked).encode(), rpc_headers(asked))
        facts = answer.result["contents"][0]["text"].partition('id="facts">')[2].partition("</script>")[0]
        assert json.loads(facts)[SLUG] == found
