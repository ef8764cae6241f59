"""What was served in version 1.1 is served still: recorded then, a subset of what is served now."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.mcpserver.asgi import get, rpc

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]

RECORDED: Final = Path(__file__).parent.parent / "recorded"
MADE_ANEW: Final = {"signature", "first_seen_at", "updated_at"}  # by each installation, or at each run
# Sentences that newer releases write better, and the hashes of a day, which cover its editor's take: these must be there.
WRITTEN: Final = {"layered_ready", "editor_take", "sha256", "wire_sha256", "previous_sha256"}
WRITTEN_OF_TAKE: Final = {"summary_short", "citation_ready"}


def differences(old: Any, new: Any, at: str = "") -> list[str]:
    """Where something of before is missing or another. Lists may have grown at their end."""
    if isinstance(old, dict):
        if not isinstance(new, dict):
            return [at]
        return [
            wrong
            for name, value in old.items()
            if name not in MADE_ANEW
            for wrong in (differences(value, new[name], f"{at}/{name}") if name in new else [f"{at}/{name}"])
            if name not in (WRITTEN | WRITTEN_OF_TAKE if at == "/editor_take_detail" else WRITTEN) or name not in new
        ]
    if isinstance(old, list) and isinstance(new, list) and len(new) >= len(old):
        return [wrong for number, value in enumerate(old) for wrong in differences(value, new[number], f"{at}/{number}")]
    return [] if old == new else [at]


def without_prose(schema: Any) -> Any:
    """A tool without its descriptions, which are advice: of schemas, a repeated sentence stands only where it is first."""
    if isinstance(schema, list):
        return [without_prose(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {name: without_prose(value) for name, value in schema.items() if name != "description" or not isinstance(value, str)}


def test_every_tool_of_before_takes_and_gives_what_it_did() -> None:
    old = json.loads((RECORDED / "tools-1.1.json").read_text(encoding="utf-8"))["tools"]
    new = {tool["name"]: tool for tool in rpc("tools/list").result["tools"]}
    for tool in old:
        now = new[tool["name"]]
        tool["inputSchema"].pop("additionalProperties")  # a schema without it takes all that one with it takes
        assert differences(without_prose(tool), without_prose(now)) == [], tool["name"]


def test_today_holds_all_that_it_held() -> None:
    old = json.loads((RECORDED / "today-1.1.json").read_text(encoding="utf-8"))
    assert differences(old, get("/api/today.json")) == []
