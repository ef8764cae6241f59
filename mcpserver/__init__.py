"""The MCP servers' transport, cache, streams and usage counts; each server is a module of `servers`.

May import wire.queries, sources.queries, wire.articles' queries and what these return, citations and config; nothing imports it but
config.asgi.
"""
