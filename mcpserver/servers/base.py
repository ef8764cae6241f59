"""Building blocks of the corpora's MCP servers: their lists of tools, and the SDK's server around their handlers."""

import tomllib
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import mcp_types as types
from mcp.server.caching import CacheHint
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from config.errors import Unavailable, WireError
from config.http import traces
from config.server_info import VERSION
from mcpserver.http.threads import run_query
from mcpserver.tooling.arguments import Arguments, parse_arguments
from mcpserver.tooling.json_schema import compact_schema
from mcpserver.tooling.tools import HOUR_MS, MINUTE_MS, ToolSpec, build_unknown_error, refuse_cursor, render_error

RESOURCE_NOT_FOUND: Final = -32002  # of handshake revisions; 2026-07-28 has INVALID_PARAMS for it
REFUSED: Final = -32000
TEXTS: Final[dict[str, Any]] = tomllib.loads(Path(__file__).with_name("tools.toml").read_text(encoding="utf-8"))  # by server
Context = ServerRequestContext[Any, Any]
Listing = Callable[[Context, types.PaginatedRequestParams | None], Awaitable[Any]]


def resource_content(
    uri: str, mime_type: str, text: str, ttl_ms: int = MINUTE_MS, *, is_private: bool = False
) -> types.ReadResourceResult:
    return types.ReadResourceResult(
        contents=[types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)],
        ttl_ms=ttl_ms,
        cache_scope="private" if is_private else "public",
    )


@contextmanager
def translate_errors(context: Context, uri: str, *, is_brief: bool = True) -> Iterator[None]:
    """Turn the wire's errors into the protocol's, with the address and the hint beside it, or the whole error."""
    try:
        yield
    except Unavailable:
        raise
    except WireError as error:
        is_modern = context.protocol_version in MODERN_PROTOCOL_VERSIONS
        code = REFUSED if error.status in (401, 403) else types.INVALID_PARAMS if is_modern else RESOURCE_NOT_FOUND
        data = {"hint": error.hint} if is_brief else error.as_dict()
        raise MCPError(code, render_error(error), {"uri": uri[:200], **data}) from error


@dataclass(frozen=True, slots=True)
class PromptSpec:
    """A prompt as it is listed, and `render`, a query that returns its text."""

    name: str
    title: str
    description: str
    arguments: type[Arguments]
    render: Callable[[Any], str]

    def to_listing(self) -> types.Prompt:
        arguments = [
            types.PromptArgument(name=name, description=field.description, required=field.is_required())
            for name, field in self.arguments.model_fields.items()
        ]
        return types.Prompt(name=self.name, title=self.title, description=self.description, arguments=arguments)


def describe_tool(server: str, name: str, *shape: Any, **options: Any) -> ToolSpec:
    """Return a tool with its texts of tools.toml; `shape`: types of its arguments and of its answer, and what runs it."""
    texts = TEXTS[server]["tools"][name]
    return ToolSpec(name, texts["title"], texts["description"], *shape, **options)


class Toolbox:
    """The tools of a server, by name, and as they are listed: `adapt` changes each, `shorten` its output schema."""

    def __init__(
        self,
        *tools: ToolSpec,
        adapt: Callable[[types.Tool], types.Tool] = lambda tool: tool,
        shorten: Callable[[dict[str, Any]], dict[str, Any]] = compact_schema,
    ) -> None:
        self.tools: Mapping[str, ToolSpec] = {tool.name: tool for tool in tools}
        self.listed: Sequence[types.Tool] = [adapt(tool.to_listing(shorten)) for tool in tools]

    def find(self, name: str) -> ToolSpec:
        """Raises: MCPError."""
        if name not in self.tools:
            raise build_unknown_error("tool", self.tools)
        return self.tools[name]

    def usage_name(self, method: str, given: str) -> str:
        return given if method == "tools/call" and given in self.tools else ""


def build_lister(result: type[Any], **items: Sequence[Any]) -> Listing:
    async def answer(_context: Context, params: types.PaginatedRequestParams | None) -> Any:
        refuse_cursor(params)
        return result(**items, ttl_ms=HOUR_MS, cache_scope="public")

    return answer


def build_prompt_handlers(prompts: Mapping[str, PromptSpec]) -> dict[str, Any]:
    async def get_prompt(_context: Context, params: types.GetPromptRequestParams) -> types.GetPromptResult:
        prompt = prompts.get(params.name)
        if prompt is None:
            raise build_unknown_error("prompt", prompts)
        try:
            text = await run_query(prompt.render, parse_arguments(prompt.arguments, params.arguments))
        except Unavailable:
            raise
        except WireError as error:
            raise MCPError(types.INVALID_PARAMS, render_error(error), error.as_dict()) from error
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])

    listed = [prompt.to_listing() for prompt in prompts.values()]
    return {"on_list_prompts": build_lister(types.ListPromptsResult, prompts=listed), "on_get_prompt": get_prompt}


def build_server(
    name: str,
    toolbox: Toolbox,
    call_tool: Callable[..., Any],
    ttl_ms: int,
    server_type: type[Server[Any]] = Server,
    **options: Any,
) -> Server[Any]:
    """Return the server without any transport, for every client; `ttl_ms` is how long what it says of itself may be cached."""
    handlers = {"on_list_tools": build_lister(types.ListToolsResult, tools=toolbox.listed), "on_call_tool": call_tool}
    server: Server[Any] = server_type(
        name,
        version=VERSION,
        cache_hints={"server/discover": CacheHint(ttl_ms=ttl_ms, scope="public")},
        get_tool_input_schema={tool.name: tool.input_schema for tool in toolbox.listed}.get,
        **handlers | options,
    )
    if not traces.is_tracing_on():  # the SDK's tracing costs a fifth of each request
        server.middleware.clear()
    return server
