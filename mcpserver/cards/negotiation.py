"""Tells which clients negotiated MCP Apps, in either protocol era. Rules: MCP Apps 2026-01-26, "Capability Negotiation"."""

import secrets
from collections.abc import Mapping
from typing import Any, Final

from mcp_types import CLIENT_CAPABILITIES_META_KEY

EXTENSION: Final = "io.modelcontextprotocol/ui"
MIME_TYPE: Final = "text/html;profile=mcp-app"
METHODS: Final = frozenset(
    ("initialize", "server/discover", "tools/list", "resources/list", "resources/templates/list", "resources/read")
)
"""Methods that are answered otherwise to a client with cards; a tool's answer is the same for everyone."""
SESSION_HEADER: Final = b"mcp-session-id"
SESSION_PREFIX: Final = b"cards-"
"""In handshake revisions only the session id comes back with each request, so it says what was negotiated. It holds no other
state: nothing is stored, it opens nothing, and any process understands it.
"""


def build_session_id() -> str:
    return SESSION_PREFIX.decode() + secrets.token_urlsafe(18)


def wants_cards(message: Any, headers: Mapping[bytes, bytes]) -> bool:
    """Tell whether a JSON-RPC message has to be answered with cards; nothing of it was checked yet."""
    if type(message) is not dict:
        return False
    method, params = message.get("method"), message.get("params")
    if type(method) is not str or method not in METHODS:
        return False
    params = params if type(params) is dict else {}
    if method == "initialize":
        return has_card_extension(params.get("capabilities"))
    meta = params.get("_meta")
    if type(meta) is dict and CLIENT_CAPABILITIES_META_KEY in meta:
        return has_card_extension(meta[CLIENT_CAPABILITIES_META_KEY])
    return headers.get(SESSION_HEADER, b"").startswith(SESSION_PREFIX)


def has_card_extension(capabilities: Any) -> bool:
    extensions = capabilities.get("extensions") if type(capabilities) is dict else None
    settings = extensions.get(EXTENSION) if type(extensions) is dict else None
    mime_types = settings.get("mimeTypes") if type(settings) is dict else None
    return type(mime_types) is list and MIME_TYPE in mime_types
