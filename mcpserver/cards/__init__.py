"""MCP Apps (`io.modelcontextprotocol/ui`): pages that a host shows in place of a tool's answer, for clients that negotiate them."""
