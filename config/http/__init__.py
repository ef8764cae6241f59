"""The HTTP layer in front of Django and the MCP servers: request checks, timeouts, cached answers, response headers.

May import config.database, config.ratelimit and config.errors, and nothing of the wire.
"""
