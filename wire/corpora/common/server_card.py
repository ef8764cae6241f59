"""Cards of MCP servers: each is the wire's own card, since transport and revisions are the same, with a few fields of its own."""

from typing import Any

import orjson
from django.http import HttpResponse

from config.http.responses import BRIEFLY, dump_json
from config.server_info import NAMESPACE
from wire.site import llms_txt


def read_wire_card() -> dict[str, Any]:
    card: dict[str, Any] = orjson.loads(llms_txt.build_server_card().encode())
    return card


def describe_server(name: str, title: str, description: str, website: str, url: str, terms: dict[str, Any]) -> dict[str, Any]:
    """Return the fields in which a server's card differs from the wire's; `url` is where it is asked."""
    (remote,) = read_wire_card()["remotes"]
    return {
        "name": f"{NAMESPACE}/{name}",
        "title": title,
        "description": description,
        "websiteUrl": website,
        "remotes": [remote | {"url": url}],
        "_meta": {"ai.chatbotnews/terms": terms},
    }


def render_card(own: dict[str, Any]) -> HttpResponse:
    response = dump_json(read_wire_card() | own, BRIEFLY)
    response["Access-Control-Allow-Origin"] = "*"  # any site's script may read it
    return response
