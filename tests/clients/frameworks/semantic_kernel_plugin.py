"""Semantic Kernel: functions of MCPStreamableHttpPlugin, called as a kernel calls them for a model."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from harness import Answer, Ask, main
from semantic_kernel import Kernel
from semantic_kernel.connectors.ai.function_calling_utils import kernel_function_metadata_to_function_call_format
from semantic_kernel.connectors.mcp import MCPStreamableHttpPlugin
from semantic_kernel.contents import ChatHistory, FunctionCallContent


@asynccontextmanager
async def connect(url: str) -> AsyncIterator[Ask]:
    kernel = Kernel()
    async with MCPStreamableHttpPlugin(name="wire", url=url) as plugin:
        for function in kernel.add_plugin(plugin).functions.values():
            kernel_function_metadata_to_function_call_format(function.metadata)  # what a model is given

        async def ask(tool: str, arguments: dict[str, Any]) -> Answer:
            history = ChatHistory()
            call = FunctionCallContent(id="1", plugin_name="wire", function_name=tool, arguments=arguments)
            await kernel.invoke_function_call(call, history)
            text = str(history.messages[-1].items[0].result)
            return Answer(text, is_error="error" in text[:100].lower())

        yield ask


if __name__ == "__main__":
    main(connect)
