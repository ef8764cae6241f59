"""Calls of the public original, asked again: equal values, but for what docs/timeline.md lists."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from django.conf import settings

from tests.mcpserver.asgi import rpc
from wire.corpora.timeline.load import load_directory

SHARED: Final = Path(settings.BASE_DIR).parent / "shared" / "data" / "timeline_pulse"
CALLS: Final = sorted(path for path in (SHARED / "recorded").glob("*.json") if "parsed_text" in path.read_text())
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not CALLS, reason="the original's data and recorded calls are not here"),
]

# Paths to values that are better here, by tool; each is a line of docs/timeline.md, whose number is named.
BETTER: Final = {
    "timeline_search_reports": r"\.next_cursor",  # 2
    "timeline_motif_map": r"\.nodes\[\d+\]\.freq|\.edges",  # 3
    "timeline_stats": r"\.corpus_version|\.motif_frequency\.[a-z-]+",  # 8, 3
    "timeline_deepen_story": r"\.source_search_queries",  # 7
    "timeline_compare_sources": r"\.skeptical",  # 6
    "timeline_agent_manifest": (  # 10
        r"\.(version|what_this_is|what_it_never_claims|language_rules|recommended_first_calls\[3\]|install\..*"
        r"|raw_endpoints|contribute)"
    ),
}


@pytest.fixture(autouse=True)
def pulse(settings: Any, transactional_db: None) -> None:  # noqa: ARG001
    settings.WIRE_RATE_LIMIT = "off"
    load_directory(SHARED / "data", "pulse")


@pytest.mark.parametrize("file", CALLS, ids=lambda path: path.stem)
def test_a_recorded_call_has_equal_values(file: Path) -> None:
    recorded = json.loads(file.read_text())
    params = recorded["request"]["params"]
    result = rpc("tools/call", params, path="/mcp/timeline/pulse").result
    assert result.get("isError", False) is recorded["response"]["result"].get("isError", False)
    better = re.compile(BETTER.get(params["name"], "nothing"))
    for path, was, now in differences(recorded["parsed_text"], result["structuredContent"], ""):
        assert better.fullmatch(path), (path, was, now)


def test_every_recorded_rule_of_wording_is_told() -> None:
    recorded = json.loads((SHARED / "recorded" / "agent_manifest.json").read_text())["parsed_text"]["language_rules"]
    found = rpc("tools/call", {"name": "timeline_agent_manifest", "arguments": {}}, path="/mcp/timeline/pulse").result
    assert [rule for rule in found["structuredContent"]["language_rules"] if rule in recorded] == recorded


def test_a_short_name_finds_the_official_event_first() -> None:
    params = {"name": "timeline_events", "arguments": {"query": "LS3"}}
    found = rpc("tools/call", params, path="/mcp/timeline/pulse").result["structuredContent"]
    assert found["events"][0]["id"] == "ls3"


def test_two_subjects_and_a_year_find_reports_of_either() -> None:
    params = {"name": "timeline_search_reports", "arguments": {"query": "CERN Mandela after 2012"}}
    found = rpc("tools/call", params, path="/mcp/timeline/pulse").result["structuredContent"]
    assert found["period"] == {"said": "after 2012", "date_start": "2013-01-01", "date_end": None, "applied": True}
    assert found["total_matches"] > 2


def test_what_curators_wrote_stands_beside_what_is_counted() -> None:
    recorded = json.loads((SHARED / "recorded" / "motif_map.json").read_text())["parsed_text"]
    params = {"name": "timeline_motif_map", "arguments": {}}
    found = rpc("tools/call", params, path="/mcp/timeline/pulse").result["structuredContent"]
    assert [node["curated_freq"] for node in found["nodes"]] == [node["freq"] for node in recorded["nodes"]]
    curated = [edge | {"weight": edge["curated_weight"]} for edge in found["edges"] if edge["curated_weight"] is not None]
    assert [{name: edge[name] for name in ("a", "b", "weight")} for edge in curated] == recorded["edges"]
    assert len(found["edges"]) - len(curated) == 7


def differences(was: Any, now: Any, path: str) -> Iterator[tuple[str, Any, Any]]:
    """Paths to values that differ; what is new beside the recorded values is none."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key, value in was.items():
            yield from differences(value, now.get(key, "missing"), f"{path}.{key}")
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for at, (one, two) in enumerate(zip(was, now, strict=True)):
            yield from differences(one, two, f"{path}[{at}]")
    elif was != now:
        yield path, was, now
