"""Fixtures that the official conformance suite calls by name, beside the wire's own.

Names and answers are the suite's (docs/conformance.md has its version). Every fixture gives one answer at once, as all of the
wire's tools do; those that stream or ask the client back are left out.
"""

import json
import re
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, Final

import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError

from mcpserver.http.transport import StreamingEndpoint

Context = ServerRequestContext[Any, Any]
Handler = Callable[[Context, Any], Awaitable[Any]]

PNG: Final = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR42mP4z8AAAAMBAQD3A0FDAAAAAElFTkSuQmCC"  # one red pixel
WAV: Final = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQIAAACAgA=="  # two silent samples
HOUR_MS: Final = 3_600_000


def _text(text: str) -> types.TextContent:
    return types.TextContent(text=text)


def _embedded(uri: str, mime_type: str, text: str) -> types.EmbeddedResource:
    return types.EmbeddedResource(resource=types.TextResourceContents(uri=uri, mime_type=mime_type, text=text))


IMAGE: Final = types.ImageContent(data=PNG, mime_type="image/png")
NOTHING: Final[dict[str, Any]] = {"type": "object", "properties": {}}
SCHEMA_2020_12: Final[dict[str, Any]] = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
HEADER_SCHEMA: Final[dict[str, Any]] = {
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
}

CALLED: Final[dict[str, types.CallToolResult]] = {
    "test_simple_text": types.CallToolResult(content=[_text("This is a simple text response for testing.")]),
    "test_image_content": types.CallToolResult(content=[IMAGE]),
    "test_audio_content": types.CallToolResult(content=[types.AudioContent(data=WAV, mime_type="audio/wav")]),
    "test_embedded_resource": types.CallToolResult(
        content=[_embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")]
    ),
    "test_multiple_content_types": types.CallToolResult(
        content=[
            _text("Multiple content types test:"),
            IMAGE,
            _embedded("test://mixed-content-resource", "application/json", '{"test":"data","value":123}'),
        ]
    ),
    "test_error_handling": types.CallToolResult(
        content=[_text("This tool intentionally returns an error for testing")], is_error=True
    ),
    # What these two must not do, the door never does: send a request of its own, log without being asked.
    "test_streaming_elicitation": types.CallToolResult(content=[_text("Nothing was asked of the client.")]),
    "test_logging_tool": types.CallToolResult(content=[_text("Nothing was logged.")]),
    "test_missing_capability": types.CallToolResult(content=[_text("The client can sample.")]),
    "test_custom_headers": types.CallToolResult(content=[_text("The headers agree with the arguments.")]),
    "json_schema_2020_12_tool": types.CallToolResult(content=[_text("The schema was listed as it is.")]),
}
SCHEMAS: Final = {"test_custom_headers": HEADER_SCHEMA, "json_schema_2020_12_tool": SCHEMA_2020_12}
TOOLS: Final = [
    types.Tool(name=name, description="A fixture of the conformance suite.", input_schema=SCHEMAS.get(name, NOTHING))
    for name in CALLED
]

READ: Final[dict[str, types.TextResourceContents | types.BlobResourceContents]] = {
    "test://static-text": types.TextResourceContents(
        uri="test://static-text", mime_type="text/plain", text="This is the content of the static text resource."
    ),
    "test://static-binary": types.BlobResourceContents(uri="test://static-binary", mime_type="image/png", blob=PNG),
}
RESOURCES: Final = [types.Resource(uri=uri, name=uri, mime_type=found.mime_type) for uri, found in READ.items()]
TEMPLATE: Final = types.ResourceTemplate(
    uri_template="test://template/{id}/data", name="A template of the conformance suite", mime_type="application/json"
)

PROMPTS: Final = [
    types.Prompt(
        name=name,
        description="A fixture of the conformance suite.",
        arguments=[types.PromptArgument(name=argument, required=True) for argument in arguments],
    )
    for name, arguments in {
        "test_simple_prompt": (),
        "test_prompt_with_arguments": ("arg1", "arg2"),
        "test_prompt_with_embedded_resource": ("resourceUri",),
        "test_prompt_with_image": (),
    }.items()
]


def mount(door: StreamingEndpoint) -> None:
    """Put the fixtures beside what the server has; all else stays answered by its own handlers."""
    server = door.server
    for method, extended in HANDLERS.items():
        entry = server.get_request_handler(method)
        if entry is not None:
            server.add_request_handler(method, entry.params_type, partial(extended, entry.handler))
    calling = server.get_request_handler("tools/call")
    if calling is not None:
        server.add_request_handler("tools/call", calling.params_type, partial(change_tools, door, calling.handler))
    own = server.get_tool_input_schema
    server.get_tool_input_schema = lambda name: SCHEMAS.get(name) or (own(name) if own else None)


async def list_tools(own: Handler, context: Context, params: types.PaginatedRequestParams) -> Any:
    found = await own(context, params)
    return found.model_copy(update={"tools": [*found.tools, *TOOLS]})


async def change_tools(door: StreamingEndpoint, own: Handler, context: Context, params: types.CallToolRequestParams) -> Any:
    """The suite's way to see that a change of the list of tools is announced. An error, since no other answer comes twice."""
    if params.name != "test_trigger_tool_change":
        return await own(context, params)
    door._tools_seen = None
    await door.announce_list_changes()
    return types.CallToolResult(content=[_text("The list of tools counts as changed.")], is_error=True)


async def call_tool(own: Handler, context: Context, params: types.CallToolRequestParams) -> Any:
    if params.name not in CALLED:
        return await own(context, params)
    able = context.session.client_capabilities
    if params.name == "test_missing_capability" and (able is None or able.sampling is None):
        needed: dict[str, Any] = {"requiredCapabilities": {"sampling": {}}}
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "The client must be able to sample.", needed)
    return CALLED[params.name]


async def list_resources(own: Handler, context: Context, params: types.PaginatedRequestParams) -> Any:
    found = await own(context, params)
    return found if params.cursor else found.model_copy(update={"resources": [*RESOURCES, *found.resources]})


async def list_templates(own: Handler, context: Context, params: types.PaginatedRequestParams) -> Any:
    found = await own(context, params)
    return found.model_copy(update={"resource_templates": [*found.resource_templates, TEMPLATE]})


async def read_resource(own: Handler, context: Context, params: types.ReadResourceRequestParams) -> Any:
    uri = str(params.uri)
    contents = READ.get(uri)
    if match := re.fullmatch(r"test://template/([0-9a-z]{1,20})/data", uri):
        data = {"id": match[1], "templateTest": True, "data": f"Data for ID: {match[1]}"}
        contents = types.TextResourceContents(uri=uri, mime_type="application/json", text=json.dumps(data))
    if contents is None:
        return await own(context, params)
    return types.ReadResourceResult(contents=[contents], ttl_ms=HOUR_MS, cache_scope="public")


async def list_prompts(own: Handler, context: Context, params: types.PaginatedRequestParams) -> Any:
    found = await own(context, params)
    return found.model_copy(update={"prompts": [*found.prompts, *PROMPTS]})


async def get_prompt(own: Handler, context: Context, params: types.GetPromptRequestParams) -> Any:
    given = params.arguments or {}
    said: dict[str, list[Any]] = {
        "test_simple_prompt": [_text("This is a simple prompt for testing.")],
        "test_prompt_with_arguments": [_text(f"Prompt with arguments: arg1='{given.get('arg1')}', arg2='{given.get('arg2')}'")],
        "test_prompt_with_embedded_resource": [
            _embedded(given.get("resourceUri", "test://none"), "text/plain", "Embedded resource content for testing."),
            _text("Please process the embedded resource above."),
        ],
        "test_prompt_with_image": [IMAGE, _text("Please analyze the image above.")],
    }
    if params.name not in said:
        return await own(context, params)
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=content) for content in said[params.name]])


HANDLERS: Final[dict[str, Callable[[Handler, Context, Any], Awaitable[Any]]]] = {
    "tools/list": list_tools,
    "tools/call": call_tool,
    "resources/list": list_resources,
    "resources/templates/list": list_templates,
    "resources/read": read_resource,
    "prompts/list": list_prompts,
    "prompts/get": get_prompt,
}
