"""The MCP servers inside another ASGI application, here Starlette's: `uvicorn examples.embedded_server:app`, from the checkout.

The other application has its own routes; /mcp, /mcp/factchecks, /mcp/articles/… and all else that it lacks are the wire's.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

from config.asgi import application, running


async def about(_request: Request) -> JSONResponse:
    return JSONResponse({"service": "a newsroom's own", "mcp": "/mcp/factchecks"})


@asynccontextmanager
async def lifespan(_app: Starlette) -> AsyncIterator[None]:
    async with running():  # a mounted application is not told when the server starts and ends
        yield


app = Starlette(routes=[Route("/about", about), Mount("/", application)], lifespan=lifespan)
