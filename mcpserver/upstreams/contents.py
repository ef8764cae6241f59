"""What an upstream answers, as JSON values: contents of resources and tools, lists of resources, and the schemas of its tools."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from typing import Any, Final

import mcp_types as types
from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError
from mcp.shared.exceptions import MCPError
from referencing import Registry
from referencing.exceptions import Unresolvable

from mcpserver.upstreams.client_interface import INVALID, UpstreamError
from mcpserver.upstreams.mapping import parse_json

OWN_FORMS: Final = ("text", "blob", "contents", "listing")  # answers that are made of contents and not of JSON
MAX_PAGES: Final = 20  # of a list


def read_contents(contents: Sequence[Any], answers: str) -> Any:
    """Return the contents in the form that a resource answers. Raises: UpstreamError for none that has this form."""
    found = list(_list_contents(contents))
    if answers == "contents":
        return {"contents": found}
    texts = [content for content in found if "text" in content]
    if answers == "text" and texts:
        return {"text": "\n".join(content["text"] for content in texts), "mime_type": texts[0]["mime_type"]}
    if answers == "blob" and (blob := next((content for content in found if "blob" in content), None)):
        return {"blob": blob["blob"], "mime_type": blob["mime_type"]}
    if answers in OWN_FORMS or not texts or not texts[0]["text"].strip():
        raise UpstreamError(INVALID, f"The answer holds no {'text' if answers != 'blob' else 'blob'}.")
    return parse_json(texts[0]["text"])


def _list_contents(contents: Sequence[Any]) -> Iterator[dict[str, Any]]:
    for content in contents:
        inner = content.resource if isinstance(content, types.EmbeddedResource) else content
        about = {"uri": str(getattr(inner, "uri", "")), "mime_type": getattr(inner, "mime_type", None)}
        if isinstance(inner, types.TextContent | types.TextResourceContents):
            yield about | {"text": inner.text}
        elif isinstance(inner, types.BlobResourceContents):
            yield about | {"blob": inner.blob}
        elif isinstance(inner, types.ImageContent | types.AudioContent):
            yield about | {"blob": inner.data}
        else:  # a link
            yield about


def read_listing(resources: Sequence[types.Resource], templates: Sequence[types.ResourceTemplate]) -> dict[str, Any]:
    return {
        "resources": [{"uri": str(one.uri), "name": one.title or one.name, "mime_type": one.mime_type} for one in resources],
        "templates": [{"uri": one.uri_template, "name": one.title or one.name, "mime_type": one.mime_type} for one in templates],
    }


async def list_all_pages(list_page: Callable[..., Awaitable[Any]]) -> list[Any]:
    """Return the items of a list, of so many pages at most; none where the server has no such list. Raises: MCPError."""
    found: list[Any] = []
    cursor = None
    for _ in range(MAX_PAGES):
        try:
            page = await list_page(params=types.PaginatedRequestParams(cursor=cursor))
        except MCPError as error:
            if error.code != types.METHOD_NOT_FOUND:
                raise
            break
        found += next(getattr(page, name) for name in ("tools", "resources", "resource_templates") if hasattr(page, name))
        if not (cursor := page.next_cursor):
            break
    return found


def fits_schema(schema: Mapping[str, Any], value: Any) -> bool:
    """Return whether a value fits an upstream's JSON Schema, True for one that cannot be used. No `$ref` is fetched."""
    try:
        return bool(Draft202012Validator(schema, registry=Registry()).is_valid(value))
    except (SchemaError, Unresolvable, RecursionError, ValueError, TypeError, AttributeError):
        return True
