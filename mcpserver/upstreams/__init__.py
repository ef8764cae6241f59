"""MCP clients: whom sources.gateway asks for what upstream servers know, and the wire itself as one of them.

May import sources.gateway's protocol and policy, wire.queries, sources.fetch and config.
"""

import logging

from mcpserver.upstreams.upstreams import Upstreams as Upstreams

logging.getLogger("httpx2").setLevel(logging.WARNING)  # a line for each request, with its address
logging.getLogger("mcp.client").setLevel(logging.WARNING)
