"""The policy beside what upstreams list in truth: tools with their arguments, and resources."""

import asyncio
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import mcp_types as types
from mcp import ClientSession

from mcpserver.upstreams.client_interface import TIMEOUT, UpstreamError
from mcpserver.upstreams.config import Adapter
from mcpserver.upstreams.connection import Connection
from mcpserver.upstreams.contents import list_all_pages

PATIENCE = 30.0  # seconds for each upstream
_HOLE = re.compile(r"\{[^{}]*\}")


async def list_differences(connection: Connection, adapters: Mapping[str, Adapter], addresses: Sequence[str]) -> list[str]:
    """Connect, list, and return a sentence for each adapter, and each address of a resource without one, that is not offered."""

    async def compare_with_upstream(client: ClientSession) -> list[str]:
        tools = {tool.name: tool for tool in await list_all_pages(client.list_tools)}
        listed = [str(one.uri) for one in await list_all_pages(client.list_resources)]
        listed += [one.uri_template for one in await list_all_pages(client.list_resource_templates)]
        found = [f"{name}: {fault}" for name, one in adapters.items() if one.tool for fault in _compare_tool(one, tools)]
        wanted = [*addresses, *(one.resource for one in adapters.values() if one.resource and not _HOLE.fullmatch(one.resource))]
        return found + [f"there is no resource {uri}" for uri in wanted if not any(_has_form(uri, form) for form in listed)]

    try:
        async with asyncio.timeout(PATIENCE):
            return await connection.run_with_retry(compare_with_upstream)
    except UpstreamError as error:
        return [f"{error.code}: {error.detail} {error.words}".rstrip()]
    except TimeoutError:
        return [f"{TIMEOUT}: no answer within {PATIENCE:g} s"]


def _compare_tool(adapter: Adapter, tools: Mapping[str, types.Tool]) -> Iterator[str]:
    tool = tools.get(adapter.tool)
    if tool is None:
        yield f"there is no tool {adapter.tool}; it has {', '.join(sorted(tools)) or 'none'}"
        return
    known = _get_properties(tool.input_schema)
    yield from (f"{tool.name} takes no argument {name}" for name in adapter.arguments if known and name not in known)
    needed = tool.input_schema.get("required") or []
    yield from (f"{tool.name} needs the argument {name}" for name in needed if name not in adapter.arguments)
    if tool.annotations is not None and tool.annotations.read_only_hint is False:
        yield f"{tool.name} says that it changes something"
    place, answered = adapter.at.partition(".")[0], _get_properties(tool.output_schema)
    if place and answered and place not in answered:
        yield f"{tool.name} answers nothing at {place}"


def _get_properties(schema: Any) -> Mapping[str, Any]:
    found = schema.get("properties") if isinstance(schema, Mapping) else None
    return found if isinstance(found, Mapping) else {}


def _has_form(uri: str, form: str) -> bool:
    """Return whether an address, perhaps with holes of its own, is one that a listed address or template has."""
    pattern = ".+".join(map(re.escape, _HOLE.split(form)))
    return re.fullmatch(pattern, _HOLE.sub("x", uri.partition("?")[0]), re.S) is not None
