"""The MCP servers' transport, cache, streams and usage counts; each server is a module of `servers`."""
