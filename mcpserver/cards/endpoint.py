"""The endpoint beside a server's own that answers clients with cards: the same server, whose lists name the pages as well."""

from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, Final

import mcp_types as types
import orjson
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from config.http.request_guard import Scope
from mcpserver.cards.negotiation import EXTENSION, MIME_TYPE, SESSION_HEADER, build_session_id
from mcpserver.cards.page_files import META, Card
from mcpserver.http.cache import Key
from mcpserver.http.threads import run_query
from mcpserver.http.transport import McpEndpoint
from mcpserver.servers.base import Context
from mcpserver.tooling.tools import HOUR_MS, refuse_cursor
from mcpserver.tooling.usage import Naming

HINT: Final = "Tools name the existing pages in _meta.ui.resourceUri."


class CardEndpoint(McpEndpoint):
    """Answers what differs for clients with cards. Its results have cache keys of their own, by its name."""

    sessions: Any = SimpleNamespace(make_id=build_session_id)  # ids that only say that cards were negotiated; none ends

    async def _has_live_session(self, _headers: Mapping[bytes, bytes]) -> bool:
        return True

    def _build_repeat_key(self, headers: Mapping[bytes, bytes], message: Any) -> Key | None:
        """Leave the session id out: it decides nothing more here, and each client has another."""
        return super()._build_repeat_key({name: value for name, value in headers.items() if name != SESSION_HEADER}, message)

    async def _answer_message(self, message: Any, headers: dict[str, str], scope: Scope, repeat: Key | None) -> tuple[int, bytes]:
        """Name the extension in the answer to `initialize`, too: the SDK only lets 2026-07-28 have it there."""
        status, answer = await super()._answer_message(message, headers, scope, repeat)
        if message["method"] != "initialize" or b'"result":' not in answer:
            return status, answer
        found = orjson.loads(answer)
        found["result"]["capabilities"]["extensions"] = {EXTENSION: {}}
        return status, orjson.dumps(found)


def build_card_endpoint(
    name: str, server: Server[Any], cards: Mapping[str, Card], usage_name: Naming, counted_as: str
) -> CardEndpoint:
    """Return the endpoint of a server that nobody else uses, with `cards` by the tool whose answers each shows."""
    addresses = {card.uri for card in cards.values()}

    def name_card_or_call(method: str, given: str) -> str:
        return given if method == "resources/read" and given in addresses else usage_name(method, given)

    add_cards(server, cards)
    return CardEndpoint(f"{name}+cards", server, name_card_or_call, counted_as)


def add_cards(server: Server[Any], cards: Mapping[str, Card]) -> None:
    """Let the server announce the extension, name a page at each tool that has one, and list and give the pages."""
    pages = {card.uri: card for card in cards.values()}
    entries: list[Any] = [server.get_request_handler(method) for method in ("tools/list", "resources/list", "resources/read")]
    ask_tools, ask_list, ask_read = [entry and entry.handler for entry in entries]
    links = {name: {"ui": {"resourceUri": card.uri}} for name, card in cards.items()}

    async def list_tools(context: Context, params: Any) -> Any:
        found = await ask_tools(context, params)
        tools = [tool.model_copy(update={"meta": links[tool.name]}) if tool.name in links else tool for tool in found.tools]
        return found.model_copy(update={"tools": tools})

    async def list_resources(context: Context, params: Any) -> Any:
        listed = [card.to_listing() for card in pages.values()]
        if ask_list is None:
            refuse_cursor(params)
            return types.ListResourcesResult(resources=listed, ttl_ms=HOUR_MS, cache_scope="public")
        found = await ask_list(context, params)
        is_first_page = params is None or params.cursor is None
        return found.model_copy(update={"resources": [*listed, *found.resources]}) if is_first_page else found

    async def read_resource(context: Context, params: types.ReadResourceRequestParams) -> Any:
        uri = str(params.uri)
        if uri in pages:
            text = await run_query(pages[uri].render)
            content = types.TextResourceContents(uri=uri, mime_type=MIME_TYPE, text=text, _meta=META)
            return types.ReadResourceResult(contents=[content], ttl_ms=HOUR_MS, cache_scope="public")
        if ask_read is not None:
            return await ask_read(context, params)
        raise MCPError(types.INVALID_PARAMS, f"There is no such resource. {HINT}", {"uri": uri[:200]})

    async def list_templates(_context: Context, params: Any) -> types.ListResourceTemplatesResult:
        refuse_cursor(params)
        return types.ListResourceTemplatesResult(resource_templates=[], ttl_ms=HOUR_MS, cache_scope="public")

    server.extensions = {EXTENSION: {}}
    server.add_request_handler("tools/list", types.PaginatedRequestParams, list_tools)
    server.add_request_handler("resources/list", types.PaginatedRequestParams, list_resources)
    server.add_request_handler("resources/read", types.ReadResourceRequestParams, read_resource)
    if server.get_request_handler("resources/templates/list") is None:
        server.add_request_handler("resources/templates/list", types.PaginatedRequestParams, list_templates)
