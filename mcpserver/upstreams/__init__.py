"""MCP clients of the resource gateway: servers over stdio and HTTP, and this installation's own wire as one of them.

May import wire.queries, sources.fetch and config; the gateway uses `upstream_clients`. `client_interface` and `config` load no SDK.
"""
