"""The MCP door as an ASGI application with a lifespan: the transport, the watch for publishes, the usage counts."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from django.conf import settings
from mcp.server.subscriptions import ResourcesListChanged

from mcpserver import usage
from mcpserver.seam import ask
from mcpserver.servers import conformance
from mcpserver.servers import wire as wire_server
from mcpserver.stream import announce
from mcpserver.transport import Door
from wire import queries

logger = logging.getLogger(__name__)

LOOK: Final = 1.0  # seconds between two looks at the wire version
FLUSH: Final = 10.0  # seconds between two writes of usage counts

server = wire_server.build()
if settings.WIRE_MCP_FIXTURES:
    conformance.mount(server)
server.middleware.append(usage.counted)
application = Door(server)


@asynccontextmanager
async def lifespan() -> AsyncIterator[None]:
    """Runs the SDK's stream application and the background tasks while the process serves."""
    async with application.streams.router.lifespan_context(application.streams):
        tasks = [asyncio.create_task(_watch()), asyncio.create_task(_keep_flushing())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            with contextlib.suppress(Exception):
                await usage.flush()


async def _watch() -> None:
    """Announce every publish, whichever process made it. A database that is away is asked again, not given up."""
    seen = None
    while True:
        try:
            version = await ask(queries.wire_version)
            if seen is not None and version != seen:
                announce()
                await wire_server.BUS.publish(ResourcesListChanged())
            seen = version
        except Exception:
            logger.exception("the wire version cannot be read; trying again")
            await asyncio.sleep(10 * LOOK)
        await asyncio.sleep(LOOK)


async def _keep_flushing() -> None:
    while True:
        await asyncio.sleep(FLUSH)
        try:
            await usage.flush()
        except Exception:
            logger.exception("usage cannot be written; kept for the next time")
