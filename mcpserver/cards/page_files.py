"""The pages: one HTML document each, whole, with a style and a script that all of them share. None asks a network for anything."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

import mcp_types as types
import orjson

from mcpserver.cards.negotiation import MIME_TYPE

FOLDER: Final = Path(__file__).parent / "pages"
META: Final = {
    "ui": {
        "csp": {"connectDomains": [], "resourceDomains": [], "frameDomains": [], "baseUriDomains": []},
        "permissions": {"clipboardWrite": {}},
        "prefersBorder": True,
    }
}


@dataclass(frozen=True, slots=True)
class Card:
    """A page for answers of a tool. `facts`, a query, returns what the page has to know beside them."""

    name: str
    title: str
    description: str
    facts: Callable[[], Mapping[str, Any]] = dict

    @property
    def uri(self) -> str:
        return f"ui://chatbotnews/{self.name}"

    def to_listing(self) -> types.Resource:
        return types.Resource(
            uri=self.uri, name=self.name, title=self.title, description=self.description, mime_type=MIME_TYPE, _meta=META
        )

    def render(self) -> str:
        facts = orjson.dumps(self.facts()).decode().replace("<", "\\u003c")  # no text may end the element that it stands in
        parts = {"title": self.title, "style": "card.css", "host": "host.js", "script": f"{self.name}.js"}
        page = _read_page("frame.html")
        for name, value in parts.items():
            page = page.replace(f"{{{{ {name} }}}}", value if name == "title" else _read_page(value))
        return page.replace("{{ facts }}", facts)


@cache
def _read_page(name: str) -> str:
    return (FOLDER / name).read_text(encoding="utf-8")
