"""The MCP servers of this process, one module or package each. They hold no business code: they parse, ask one query, return."""

from collections.abc import Mapping
from typing import Final

SERVERS: Final[Mapping[str, str]] = {"/mcp": "mcpserver.servers.wire"}
"""Path to module. The last part of the module's name is the server's name in cache keys, counts and limits.

A module offers `build()`, which returns the SDK's low-level server, and `usage_name(method, given)`, which returns the name under
which a call is counted: a name of the server's own, never the caller's text; "" for one that it does not know.
"""
