"""Names of the wire's MCP server, the same in serverInfo, server cards, OpenAPI, pages and quick starts.

`server.json`, `docs/chatgpt-submission.json`, documents and `examples/` repeat them; tests/mcpserver/test_server_names.py compares.
"""

from typing import Final

TITLE: Final = "ChatbotNews.ai wire"  # for people
NAME: Final = "chatbotnews-wire"  # serverInfo, and what clients call the server in their settings
NAMESPACE: Final = "ai.chatbotnews"  # of registries, which want a domain's name in front
REGISTRY_NAME: Final = f"{NAMESPACE}/wire"
