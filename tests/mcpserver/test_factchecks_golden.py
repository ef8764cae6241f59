"""The Markdown of every fictional claim is as it was read: found by its own words, by those of its fact, and asked for by its id.

`GOLDEN=write python -m pytest tests/mcpserver/test_factchecks_golden.py` writes it anew: read the difference before it is kept.
"""

import os
from pathlib import Path
from typing import Any, Final

import pytest

from tests import claims
from tests.claims import german, load
from tests.mcpserver.asgi import rpc, said

pytestmark = pytest.mark.django_db(transaction=True)

GOLDEN: Final = Path(__file__).parent / "golden" / "factchecks_de.md"
RULE: Final = "\n\n%%%%%%%%\n\n"


@pytest.mark.slow
def test_every_claim_s_markdown_is_as_it_was_read() -> None:
    load(*german())
    found = "".join(f"{text}{RULE}" for claim in german() for text in _told(claim))
    claims.forget()
    if os.environ.get("GOLDEN") == "write":
        GOLDEN.write_text(found, encoding="utf-8", newline="\n")
    assert found.split(RULE) == GOLDEN.read_text(encoding="utf-8").split(RULE)


def _told(claim: dict[str, Any]) -> list[str]:
    searches = [
        {"query": words, "limit": 1, "language": "de", "enable_vec": False}
        for words in (claim["synopsis"], claim["facts"][0]["text"])
    ]
    return [*(_said("search_factchecks", search) for search in searches), _said("get_factcheck", {"id": claim["shortId"]})]


def _said(tool: str, arguments: dict[str, Any]) -> str:
    result = rpc("tools/call", {"name": tool, "arguments": arguments}, path="/mcp/factchecks").result
    assert not result.get("isError"), result
    return said(result)
