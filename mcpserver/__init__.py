"""The MCP door over the same queries as REST; holds no business code."""
