"""The wire's application with the conformance suite's fixtures mounted on its MCP server; uvicorn serves it for tests."""

from config.asgi import application
from mcpserver.http.transport import StreamingEndpoint
from mcpserver.registry import doors
from tests.clients import fixtures

__all__ = ["application"]

wires = doors["/mcp"]
assert isinstance(wires, StreamingEndpoint)
fixtures.mount(wires)
