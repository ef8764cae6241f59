"""Microsoft's Agent Framework: functions of MCPStreamableHTTPTool, invoked as its agents invoke them."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from agent_framework import MCPStreamableHTTPTool
from harness import Answer, Ask, main


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Ask]:
    async with MCPStreamableHTTPTool(name="wire", url=url) as server:
        functions = {function.name: function for function in server.functions}
        for function in functions.values():
            assert function.parameters()["type"] == "object"  # what a model is given

        async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            try:
                result = await functions[tool].invoke(arguments=arguments)
            except Exception as error:  # as its agents do, which give the text to the model
                return Answer(str(error), is_error=True)
            return Answer(result if isinstance(result, str) else str(result[0].text), is_error=False)

        yield ask


if __name__ == "__main__":
    main(connect)
