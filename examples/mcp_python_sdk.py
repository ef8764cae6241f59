"""Ask the wire with the official MCP SDK. Needs: pip install 'mcp>=2.3'"""

import asyncio
import os

from mcp import Client

WIRE_URL = os.environ.get("WIRE_URL", "http://localhost:8000")


async def main() -> None:
    async with Client(f"{WIRE_URL}/mcp") as client:
        tools = (await client.list_tools()).tools
        print(f"{len(tools)} tools: {', '.join(tool.name for tool in tools)}")
        answer = await client.call_tool("search_wire", {"query": "OpenAI", "limit": 1, "detail": "standard"})
        for story in answer.structured_content["stories"]:
            print(story["headline"])
            print(story["citation_objects"]["layered_ready"])


asyncio.run(main())
