"""MCP over HTTP: transport, cached results, streams, sessions, bearer keys, and threads for queries."""
