"""The HTTP layer in front of Django and the MCP servers: request checks, timeouts, cached answers, response headers."""
