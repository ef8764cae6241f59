"""The MCP door over standard input and output, for desktop clients that start a process instead of calling an address."""

import os
import signal
import sys
from typing import Any

import anyio
from mcp.server.stdio import stdio_server

from config.command_base import WireCommand
from config.command_runner import INTERRUPTED
from mcpserver.registry import doors
from mcpserver.tooling import usage


class Command(WireCommand):
    help = "Serve MCP over stdio, for Claude Desktop and similar clients. Standard output carries MCP messages only."

    def handle(self, **_options: Any) -> None:
        anyio.run(_serve_stdio)


async def _serve_stdio() -> None:
    """Serve one client until it closes its end; what it asked for is counted then."""
    door = doors["/mcp"]
    server = door.server
    server.middleware.append(usage.build_usage_middleware(door.name, door.usage_name))
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_exit_on_interrupt)
        try:
            async with stdio_server() as (read_stream, write_stream):
                await server.run(read_stream, write_stream, server.create_initialization_options())
        finally:
            await usage.flush()
        tasks.cancel_scope.cancel()


async def _exit_on_interrupt() -> None:
    with anyio.open_signal_receiver(signal.SIGINT) as signals:
        async for _ in signals:
            await usage.flush()
            sys.stderr.write("Stopped by Ctrl-C: the client is no longer answered.\n")
            sys.stderr.flush()
            os._exit(INTERRUPTED)  # the thread that waits for a line of standard input could not be ended otherwise
