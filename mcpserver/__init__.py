"""The MCP servers' transport, cache, streams and usage counts; each server is a module of `servers`.

May import the queries of wire, sources and wire.corpora and what these return, citations and config; nothing imports it but
config.asgi and config.public_urls.
"""
