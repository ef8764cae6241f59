"""The page that a browser gets at the address of an MCP server: what it is, and what to do with its address."""

from importlib import import_module
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.cache import patch_vary_headers

from config.errors import NotFound
from config.http.request_guard import get_family_path
from mcpserver.servers import SERVERS
from wire.site.pages import page, public_page


@public_page
def show_server(request: HttpRequest) -> HttpResponse:
    server = _build_server(request.path)
    address = settings.WIRE_MCP_URL + request.path.removeprefix("/mcp")
    response = page(request, "mcp_server.html", {"server": server, "address": address})
    patch_vary_headers(response, ["Accept"])  # clients of MCP get something else here
    return response


def _build_server(path: str) -> Any:
    """Return the SDK's server at `path`. Raises: NotFound."""
    # Modules are imported here, since the SDK takes long to load and every command loads the addresses.
    if path in SERVERS:
        return import_module(SERVERS[path]).build()
    family = get_family_path(path)
    if family not in SERVERS:
        raise NotFound("There is no such server.")
    module = import_module(SERVERS[family])
    member = module.members().get(path.removeprefix(family), NotFound("There is no such server.", module.UNKNOWN))
    if isinstance(member, NotFound):
        raise member
    return module.build(member)
