"""Directives for machines: llms.txt, the MCP server card, the contract and its hash."""

import hashlib
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.template.loader import render_to_string

from config import server_info
from config.plugins import list_plugins

SPEC_VERSION: Final = "1.3"
SPEC: Final = Path(settings.BASE_DIR) / "docs" / "mcp-spec.md"


def llms_txt() -> str:
    """The directives for crawlers and agents, with this site's own addresses; the same for the site and the MCP resource."""
    return render_to_string("llms.txt", _build_context())


def llms_full_txt() -> str:
    """The directives and, behind them, every contract: MCP, REST, provenance, consensus."""
    contracts = (SPEC, *(SPEC.with_name(f"{name}.md") for name in ("rest", "provenance", "consensus")))
    return "\n\n---\n\n".join([llms_txt().rstrip(), *(file.read_text(encoding="utf-8").rstrip() for file in contracts)]) + "\n"


def build_server_card() -> str:
    """The MCP server card (SEP-2127, a draft): who the server is and where, for clients that did not connect yet."""
    return render_to_string("server-card.json", _build_context())


def read_mcp_spec() -> bytes:
    """The MCP contract in Markdown, byte for byte: what the hash that is told is of."""
    return SPEC.read_bytes()


def list_addresses() -> dict[str, str]:
    """Return the addresses of the site and the MCP server, as operators set them, and the server's names."""
    return {
        "site": settings.WIRE_SITE_URL,
        "mcp": settings.WIRE_MCP_URL,
        "server_title": server_info.TITLE,
        "server_name": server_info.NAME,
        "registry_name": server_info.REGISTRY_NAME,
        "version": server_info.VERSION,
    }


def _build_context() -> dict[str, Any]:
    return {
        **list_addresses(),
        "directives": [plugin.directives for plugin in list_plugins() if plugin.directives],
        "spec_version": SPEC_VERSION,
        "spec_sha256": hashlib.sha256(read_mcp_spec()).hexdigest(),
    }
