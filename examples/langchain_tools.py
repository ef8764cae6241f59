"""Ask the wire with LangChain. Needs: pip install langchain-mcp-adapters 'mcp<2'"""

import asyncio
import os

from langchain_mcp_adapters.client import MultiServerMCPClient

WIRE_URL = os.environ.get("WIRE_URL", "http://localhost:8000")


async def main() -> None:
    client = MultiServerMCPClient({"chatbotnews-wire": {"transport": "streamable_http", "url": f"{WIRE_URL}/mcp"}})
    tools = {tool.name: tool for tool in await client.get_tools()}
    print(f"{len(tools)} tools: {', '.join(tools)}")
    # With a model: agent = create_agent("openai:…", list(tools.values())), from langchain.agents.
    # Without one, this is the call that the model would make:
    arguments = {"query": "OpenAI", "limit": 1, "detail": "standard"}
    call = {"type": "tool_call", "id": "1", "name": "search_wire", "args": arguments}
    message = await tools["search_wire"].ainvoke(call)
    for story in message.artifact["structured_content"]["stories"]:
        print(story["headline"])
        print(story["citation_objects"]["layered_ready"])


asyncio.run(main())
