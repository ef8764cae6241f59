"""MCP clients of the resource gateway: servers over stdio and HTTP, and this installation's own wire as one of them."""
