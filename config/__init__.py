"""Settings, addresses, the ASGI application.

Only `asgi`, `api` and the two urls modules may import the wire, sources and mcpserver.
"""
