"""The wire's application with the conformance suite's fixtures mounted on its MCP server; uvicorn serves it for tests."""

from config.asgi import application
from mcpserver.door import doors
from mcpserver.transport import StreamingDoor
from tests.clients import fixtures

__all__ = ["application"]

wires = doors["/mcp"]
assert isinstance(wires, StreamingDoor)
fixtures.mount(wires)
