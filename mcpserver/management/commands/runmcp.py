"""The MCP door over standard input and output, for desktop clients that start a process instead of calling an address."""

from typing import Any

import anyio
from django.core.management.base import BaseCommand
from mcp.server.stdio import stdio_server

from mcpserver import usage
from mcpserver.door import doors


class Command(BaseCommand):
    help = "Serve MCP over stdio, for Claude Desktop and its like. Nothing but protocol goes to standard output."

    def handle(self, **_options: Any) -> None:
        anyio.run(_serve)


async def _serve() -> None:
    """Serve one client until it closes its end; what it asked for is counted then."""
    door = doors["/mcp"]
    server = door.server
    server.middleware.append(usage.counting(door.name, door.usage_name))
    try:
        async with stdio_server() as (read_stream, write_stream):
            await server.run(read_stream, write_stream, server.create_initialization_options())
    finally:
        await usage.flush()
