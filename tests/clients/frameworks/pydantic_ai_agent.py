"""Pydantic AI: a whole agent run, in which a function stands for the model and calls one tool."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from harness import Answer, Ask, main
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Ask]:
    toolset = MCPToolset(url)
    async with toolset:

        async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            read: list[Answer] = []

            def model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
                assert tool in {one.name for one in info.function_tools}
                for part in messages[-1].parts:
                    if isinstance(part, ToolReturnPart):
                        read.append(Answer(part.model_response_str(), is_error=False))
                    if isinstance(part, RetryPromptPart):
                        read.append(Answer(part.model_response(), is_error=True))
                return ModelResponse([TextPart("done")] if read else [ToolCallPart(tool, arguments)])

            await Agent(FunctionModel(model), toolsets=[toolset]).run("Ask.")
            return read[0]

        yield ask


if __name__ == "__main__":
    main(connect)
