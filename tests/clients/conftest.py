"""One sample wire for all clients, served twice: alone, and with the conformance suite's fixtures beside it."""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import mcp
import pytest

from tests.clients.server import fill, serving


@pytest.fixture(scope="session")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("wire")
    fill(found)
    return found


@pytest.fixture(scope="session")
def wire(data_dir: Path) -> Iterator[str]:
    """Address of the MCP door."""
    with serving(data_dir) as site:
        yield f"{site}/mcp"


@pytest.fixture(scope="session")
def publisher(wire: str) -> str:
    """Address of a publisher's MCP server."""
    return f"{wire}/articles/almanac"


@pytest.fixture(scope="session")
def factchecks(wire: str) -> str:
    """Address of the server of fact-checks."""
    return f"{wire}/factchecks"


@pytest.fixture(scope="session")
def wire_with_fixtures(data_dir: Path) -> Iterator[str]:
    """Address of the MCP door of a server in conformance mode."""
    with serving(data_dir, fixtures=True) as site:
        yield f"{site}/mcp"


@pytest.fixture(scope="session")
def listed(wire: str) -> list[str]:
    """Every address that resources/list names."""

    async def ask() -> list[str]:
        async with mcp.Client(wire) as client:
            found, cursor = [], None
            while True:
                page = await client.list_resources(cursor=cursor)
                found += [str(resource.uri) for resource in page.resources]
                if (cursor := page.next_cursor) is None:
                    return found

    return asyncio.run(ask())
