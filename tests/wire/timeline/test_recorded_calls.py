"""Calls of the public original, asked again: equal values, but for what docs/timeline.md lists."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from django.conf import settings

from tests.mcpserver.asgi import rpc
from wire.timeline.loading import load

SHARED: Final = Path(settings.BASE_DIR).parent / "shared" / "data" / "timeline_pulse"
CALLS: Final = sorted(path for path in (SHARED / "recorded").glob("*.json") if "parsed_text" in path.read_text())
pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(not CALLS, reason="the original's data and recorded calls are not here"),
]

# What is better here, by tool, each a line of docs/timeline.md: path to a value and what it is now.
OURS: Final = "is ours"


@pytest.fixture(autouse=True)
def pulse(settings: Any) -> Iterator[None]:
    settings.WIRE_RATE_LIMIT = "off"
    load(SHARED / "data", "pulse")
    return


@pytest.mark.parametrize("file", CALLS, ids=lambda path: path.stem)
def test_a_recorded_call_has_equal_values(file: Path) -> None:
    recorded = json.loads(file.read_text())
    params = recorded["request"]["params"]
    result = rpc("tools/call", params, path="/mcp/timeline/pulse").result
    found = result["structuredContent"]
    differing = list(differences(recorded["parsed_text"], found, ""))
    assert not differing


def differences(was: Any, now: Any, path: str) -> Iterator[str]:
    if isinstance(was, dict) and isinstance(now, dict):
        for key, value in was.items():
            if key not in now:
                yield f"{path}.{key} missing"
            else:
                yield from differences(value, now[key], f"{path}.{key}")
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for at, (one, two) in enumerate(zip(was, now, strict=True)):
            yield from differences(one, two, f"{path}[{at}]")
    elif was != now:
        yield f"{path}: {was!r} != {now!r}"
