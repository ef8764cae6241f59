"""Names of the wire's MCP server and the version of the product: in serverInfo, server cards, OpenAPI, pages and quick starts.

`server.json`, `docs/chatgpt-submission.json`, documents and `examples/` repeat them; tests/mcpserver/test_server_info.py compares.
"""

from typing import Final

VERSION: Final = "2.0.0"
"""The product's, the same in pyproject.toml and server.json. The MCP contract has a version of its own (docs/mcp-spec.md)."""
TITLE: Final = "ChatbotNews.ai wire"  # for people
NAME: Final = "chatbotnews-wire"  # serverInfo, and what clients call the server in their settings
NAMESPACE: Final = "ai.chatbotnews"  # of registries, which want a domain's name in front
REGISTRY_NAME: Final = f"{NAMESPACE}/wire"
