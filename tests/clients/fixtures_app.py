"""The wire's application with the conformance suite's fixtures mounted on its MCP server; uvicorn serves it for tests."""

from config.asgi import application
from mcpserver.door import doors
from tests.clients import fixtures

__all__ = ["application"]

fixtures.mount(doors["/mcp"])
