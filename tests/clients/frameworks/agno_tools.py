"""Agno: functions of MCPTools, executed as its agents execute what a model calls."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agno.tools.function import FunctionCall
from agno.tools.mcp import MCPTools
from harness import Answer, Ask, main


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Ask]:
    async with MCPTools(url=url, transport="streamable-http") as tools:
        for function in tools.functions.values():
            assert function.to_dict()["parameters"]["type"] == "object"  # what a model is given

        async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            call = FunctionCall(function=tools.functions[tool], arguments=arguments)
            result = await call.aexecute()
            text = getattr(result.result, "content", None) or str(result.result or result.error)
            return Answer(text, result.status == "failure" or text.startswith("Error"))

        yield ask


if __name__ == "__main__":
    main(connect)
