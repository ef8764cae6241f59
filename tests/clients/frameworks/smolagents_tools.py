"""smolagents: tools of MCPClient, checked and called as its tool-calling agent does it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from harness import Answer, Ask, main
from smolagents import MCPClient
from smolagents.tools import validate_tool_arguments


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Ask]:
    with MCPClient({"url": f"{url}?schemas=types", "transport": "streamable-http"}, structured_output=False) as found:
        tools = {tool.name: tool for tool in found}

        async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            tool = tool.replace("-", "_")  # its agents write calls as Python
            # Its agent wants every argument named, and knows null for those that may be left out; an empty text for a number it
            # refuses itself.
            named = dict.fromkeys(tools[tool].inputs)
            kinds = {name: about["type"] for name, about in tools[tool].inputs.items()}
            given = {name: part for name, part in arguments.items() if part != "" or "string" in kinds[name]}
            validate_tool_arguments(tools[tool], named | given)
            text = await asyncio.to_thread(tools[tool], **arguments)
            return Answer(str(text), is_error=False)

        yield ask


if __name__ == "__main__":
    main(connect)
