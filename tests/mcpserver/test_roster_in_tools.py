"""The schema of `source` names the roster of today, is renewed when an editor replaces a publication, and says so."""

import asyncio
import json
from typing import Any, Final

import pytest

from config import asgi
from config.http import memory_cache
from mcpserver import registry
from mcpserver.http.threads import run_query
from mcpserver.servers import SERVERS
from sources.models import Publication
from sources.queries import list_sources
from tests.factories import NOW, entry, publish
from tests.mcpserver.asgi import ERAS, LEGACY, MODERN, http_scope, message, rpc, rpc_headers, serving, structured
from tests.mcpserver.test_streams import GET, Stream
from wire.ingest import corrections

pytestmark = pytest.mark.django_db(transaction=True)

QUILL: Final = {
    "name": "The Quill",
    "slug": "the-quill",
    "tier": 3,
    "domains": ["thequill.example"],
    "aliases": [],
    "homepage": "https://thequill.example/",
    "feeds": [{"feed_type": "rss", "url": "https://thequill.example/rss", "ai_only": True}],
}
TOOLS: Final = "notifications/tools/list_changed"
RESOURCES: Final = "notifications/resources/list_changed"


def named(era: str = MODERN) -> list[list[str]]:
    """The values of `source` and of each of `sources`, as listed."""
    (search,) = (tool for tool in rpc("tools/list", era=era).result["tools"] if tool["name"] == "search_wire")
    source, sources = (search["inputSchema"]["properties"][name]["anyOf"][0] for name in ("source", "sources"))
    return [source["enum"], sources["items"]["enum"]]


def replace() -> None:
    corrections.replace_publication(Publication.objects.get(slug="engadget"), QUILL, reason="Engadget closed.", now=NOW)


@pytest.mark.parametrize("era", ERAS)
def test_the_values_of_source_are_the_24_in_roster_order(era: str) -> None:
    names = [source.name for source in list_sources().sources]
    assert len(names) == 24
    assert named(era) == [names, names]


def test_every_other_name_of_a_publication_is_taken_all_the_same() -> None:
    publish(entry(publisher="Financial Times", title="Quince opens"), entry(publisher="Reuters", title="Quince closes"))
    for alias in ("FT", "ft.com", "Financial Times"):
        assert structured("search_wire", query="quince", source=alias)["total"] == 1
        assert structured("search_wire", query="quince", sources=[alias])["total"] == 1


def test_a_cached_list_of_tools_goes_when_a_publication_is_replaced() -> None:
    publish(entry())
    memory_cache.answers.set_version(1)
    try:
        for era in ERAS:
            assert "Engadget" in named(era)[0]
            assert "Engadget" in named(era)[0]
        replace()
        memory_cache.answers.set_version(2)
        for era in ERAS:
            assert "Engadget" not in named(era)[0]
            assert "The Quill" in named(era)[0]
    finally:
        memory_cache.answers.set_version(None)


def listening() -> Stream:
    wanted = {"resourcesListChanged": True, "toolsListChanged": True}
    asked = message("subscriptions/listen", {"notifications": wanted})
    return Stream(http_scope("POST", "/mcp", rpc_headers(asked)), json.dumps(asked).encode())


@pytest.mark.slow
@pytest.mark.parametrize("era", ERAS)
def test_a_replacement_is_announced_to_whoever_listens_and_a_plain_publish_is_not(
    era: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(registry.doors, "/mcp", registry.build_endpoints(SERVERS)["/mcp"])
    monkeypatch.setattr(asgi, "LOOK", 0.02)
    publish(entry())

    async def told(opened: Stream, number: int) -> set[Any]:
        return {(await opened.told())["method"] for _ in range(number)}

    async def scenario() -> None:
        async with serving(), Stream(http_scope("GET", "/mcp", GET)) if era == LEGACY else listening() as opened:
            await run_query(publish, entry())
            assert await told(opened, 1) == {RESOURCES}
            await run_query(replace)
            assert TOOLS in await told(opened, 2)

    asyncio.run(scenario())
