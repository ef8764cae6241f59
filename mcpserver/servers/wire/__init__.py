"""The wire as an MCP server: the official SDK's low-level one, with the tools, resources and prompts of this folder."""

import re
from functools import partial
from typing import Any, Final

import mcp_types as types
from django.conf import settings
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError

from config import server_info
from config.errors import InvalidArgument, NotInRoster, WireError
from mcpserver.cards.page_files import Card
from mcpserver.http.threads import run_query
from mcpserver.servers import base
from mcpserver.servers.wire import prompts, resources, tools
from mcpserver.servers.wire.detail import shorten_output_schema
from mcpserver.tooling import arguments
from mcpserver.tooling.tools import HOUR_MS, MINUTE_MS, ToolAnswer, dedupe_descriptions, error_result, refuse_cursor, render_error
from sources import queries as sources_queries
from wire.api.streaming import wait_for_changes

INSTRUCTIONS: Final[str] = base.TEXTS["wire"]["instructions"].replace("<cite>", tools.CITE)
CHANGING: Final = {
    "tools": types.ToolsCapability(list_changed=True),
    "prompts": types.PromptsCapability(list_changed=False),
    "resources": types.ResourcesCapability(list_changed=True, subscribe=False),
}

_BOX: Final = base.Toolbox(*tools.TOOLS.values(), shorten=shorten_output_schema)
TOOLS: Final = tools.TOOLS
CARDS: Final = {
    "list_events": Card("day", "The day's events", "The events of a day, each with who reported it when."),
    "get_event": Card("event", "One event", "Who reported an event when, its coverage by tier, and citations to copy."),
    "get_storyline": Card("storyline", "Storyline", "What came before an event and after it, oldest first."),
    "verify_citation": Card("citations", "Checked citations", "A text with each citation marked right or wrong."),
}
_BOX.listed = dedupe_descriptions(_BOX.listed)
_PUBLICATIONS: Final = ("source", "sources")
"""Arguments whose values are listed by the roster's names of today; any other name of a publication is taken as well."""


async def list_tools(_context: base.Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    refuse_cursor(params)
    names = [source.name for source in (await run_query(sources_queries.list_sources)).sources]
    listed = [tool.model_copy(update={"input_schema": _list_publication_names(tool.input_schema, names)}) for tool in _BOX.listed]
    return types.ListToolsResult(tools=listed, ttl_ms=HOUR_MS, cache_scope="public")


def _list_publication_names(schema: dict[str, Any], names: list[str]) -> dict[str, Any]:
    properties = schema["properties"]
    if not properties.keys() & set(_PUBLICATIONS):
        return schema
    one_of: dict[str, Any] = {"type": "string", "enum": names}
    source, sources = ({"description": properties[name]["description"]} for name in _PUBLICATIONS)
    listed = {
        "source": arguments.to_nullable(source | one_of),
        "sources": arguments.to_nullable(sources | {"type": "array", "items": one_of}),
    }
    return schema | {"properties": properties | listed}


def tools_made_of() -> int:
    return sources_queries.list_sources().roster_revision


async def call_tool(_context: base.Context, params: types.CallToolRequestParams) -> Any:
    """Answer errors that the model can mend as a result, and raise those of the protocol."""
    tool = _BOX.find(params.name)
    try:
        given = arguments.parse_arguments(tool.arguments, params.arguments)
        answer: ToolAnswer = await run_query(tool.run, given)
        if isinstance(given, tools.GetChanges) and given.wait and not answer.structured["changes"]:
            await wait_for_changes(given.wait, partial(run_query, tools.list_changes, given, 1))
            answer = await run_query(tools.get_changes, given)
    except NotInRoster as error:
        raise MCPError(types.INVALID_PARAMS, render_error(error), error.as_dict()) from error
    except WireError as error:
        return error_result(render_error(error))
    return answer.as_result()


async def list_resources(_context: base.Context, params: types.PaginatedRequestParams | None) -> types.ListResourcesResult:
    try:
        page, cursor = await run_query(resources.list_resources, params.cursor if params else None)
    except InvalidArgument as error:
        raise MCPError(types.INVALID_PARAMS, render_error(error)) from error
    return types.ListResourcesResult(resources=page, next_cursor=cursor, ttl_ms=MINUTE_MS, cache_scope="public")


async def read_resource(context: base.Context, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
    uri = str(params.uri)
    with base.translate_errors(context, uri):
        mime_type, text = await run_query(resources.read_resource, uri)
    ttl_ms = resources.EDGE_TTL_MS if re.match("wire://today(/|$)", uri) else MINUTE_MS
    return base.resource_content(uri, mime_type, text, ttl_ms)


async def complete(_context: base.Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    of = params.ref.name if isinstance(params.ref, types.PromptReference) else params.ref.uri
    return types.CompleteResult(completion=await run_query(prompts.complete_value, of, params.argument.name, params.argument.value))


def usage_name(method: str, given: str) -> str:
    if method == "resources/read":
        return resources.find_uri_template(given)
    return _BOX.usage_name(method, given) or (given if method == "prompts/get" and given in prompts.PROMPTS else "")


class WireServer(Server[Any]):
    """The SDK's server, which announces that its lists of resources and tools change while it runs."""

    def get_capabilities(self, *args: Any, **kwargs: Any) -> types.ServerCapabilities:
        return super().get_capabilities(*args, **kwargs).model_copy(update=CHANGING)


def build() -> Server[Any]:
    """Return the server, without any transport. Stateless: one instance answers every client."""
    return base.build_server(
        server_info.NAME,
        _BOX,
        call_tool,
        HOUR_MS,
        WireServer,
        title=server_info.TITLE,
        description="AI-industry news from exactly 24 publications, every story with ready-made citations.",
        instructions=INSTRUCTIONS,
        website_url=settings.WIRE_SITE_URL,
        on_list_tools=list_tools,
        on_list_resources=list_resources,
        on_list_resource_templates=base.build_lister(types.ListResourceTemplatesResult, resource_templates=resources.TEMPLATES),
        on_read_resource=read_resource,
        on_completion=complete,
        **base.build_prompt_handlers(prompts.PROMPTS),
    )
