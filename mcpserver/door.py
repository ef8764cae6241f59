"""The MCP door as an ASGI application with a lifespan: the transport, the streams, the usage counts."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

from django.conf import settings
from mcp.server.subscriptions import ResourcesListChanged

from mcpserver import usage
from mcpserver.servers import conformance
from mcpserver.servers import wire as wire_server
from mcpserver.stream import announce
from mcpserver.transport import Door

logger = logging.getLogger(__name__)

FLUSH: Final = 10.0  # seconds between two writes of usage counts

server = wire_server.build()
if settings.WIRE_MCP_FIXTURES:
    conformance.mount(server)
application = Door(server)


@asynccontextmanager
async def lifespan() -> AsyncIterator[None]:
    """Runs the SDK's stream application and the background tasks while the process serves."""
    async with application.streams.router.lifespan_context(application.streams):
        flushing = asyncio.create_task(_keep_flushing())
        try:
            yield
        finally:
            flushing.cancel()
            with contextlib.suppress(Exception):
                await usage.flush()


async def announce_publish() -> None:
    """Tell every open stream, of either era."""
    announce()
    await wire_server.BUS.publish(ResourcesListChanged())


async def _keep_flushing() -> None:
    while True:
        await asyncio.sleep(FLUSH)
        try:
            await usage.flush()
        except Exception:
            logger.exception("usage cannot be written; kept for the next time")
