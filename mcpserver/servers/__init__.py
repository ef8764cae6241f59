"""The MCP servers of this process, one module or package each. They hold no business code: they parse, ask one query, return."""

from collections.abc import Mapping
from typing import Final

from config.plugins import list_plugins

SERVERS: Final[Mapping[str, str]] = {
    "/mcp": "mcpserver.servers.wire",
    **{path: module for plugin in list_plugins() for path, module in plugin.mcp_servers.items()},
}
"""Path to module. The last part of the module's name is the server's name in cache keys, counts and limits.

A module offers `build()`, which returns the SDK's low-level server, and `usage_name(method, given)`, which returns the name under
which a call is counted: a name of the server's own, never the caller's text; "" for one that it does not know. One whose tools
follow what is stored offers `tools_made_of()`: when its value changes, clients are told to list the tools again. One
whose lists never change says `STREAMS = False`. `sessions` gives clients of handshake revisions sessions (`http.sessions`);
`admit(token)` refuses requests without a key by raising WireError. One with a cache of its own names the methods that are not
cached for it, `UNCACHED`, and may answer at once, `find_fast_path(method, params, version)`; one that holds something open offers
`close()`. `CARDS` has the pages that clients of MCP Apps are shown, by the tool whose answers each shows (`mcpserver.cards`).

The same module may serve a path and, with members, the family below it.

A path that ends in a slash is a family's: each of its members, which are rows, is a server one step below it. Its module offers
`members()`, a query that returns every member by its name, a removed one as the NotFound that it answers with, and `UNKNOWN`, the
hint to those who ask for another; `build(member)`; and `usage_hook(member)` if members are told what was asked of them.
"""
