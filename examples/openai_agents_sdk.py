"""Ask the wire with the OpenAI Agents SDK. Needs: pip install openai-agents"""

import asyncio
import json
import os

from agents import Agent, RunContextWrapper
from agents.mcp import MCPServerStreamableHttp
from agents.tool_context import ToolContext

WIRE_URL = os.environ.get("WIRE_URL", "http://localhost:8000")


async def main() -> None:
    async with MCPServerStreamableHttp({"url": f"{WIRE_URL}/mcp"}, name="chatbotnews-wire") as server:
        # With a model: add model="…" and await Runner.run(agent, "What is new about OpenAI?").
        agent = Agent(name="Reader", mcp_servers=[server])
        tools = {tool.name: tool for tool in await agent.get_mcp_tools(RunContextWrapper(None))}
        print(f"{len(tools)} tools: {', '.join(tools)}")
        # Without one, this is the call that the model would make:
        arguments = json.dumps({"query": "OpenAI", "limit": 1, "detail": "standard"})
        context = ToolContext(context=None, tool_name="search_wire", tool_call_id="1", tool_arguments=arguments)
        output = await tools["search_wire"].on_invoke_tool(context, arguments)
        for story in json.loads(output["text"])["stories"]:
            print(story["headline"])
            print(story["citation_objects"]["layered_ready"])


asyncio.run(main())
