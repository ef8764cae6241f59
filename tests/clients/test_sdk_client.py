"""The official SDK's own Python client asks everything there is, in both eras."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Literal

import mcp
import mcp_types as types
import pytest

from tests.clients import questions

pytestmark = pytest.mark.clients

Mode = Literal["legacy", "2026-07-28"]
SPOKEN: Final[dict[Mode, str]] = {"legacy": "2025-11-25", "2026-07-28": "2026-07-28"}
both_eras = pytest.mark.parametrize("mode", SPOKEN)


@asynccontextmanager
async def connected(url: str, mode: Mode) -> AsyncIterator[mcp.Client]:
    async with mcp.Client(url, mode=mode) as client:
        assert client.protocol_version == SPOKEN[mode]
        yield client


@both_eras
def test_it_lists_and_calls_every_tool(wire: str, listed: list[str], mode: Mode) -> None:
    calls = questions.tool_calls(questions.a_story(listed))

    async def ask() -> None:
        async with connected(wire, mode) as client:
            tools = (await client.list_tools()).tools
            assert {tool.name for tool in tools} == set(calls)
            for name, arguments in calls.items():
                answer = await client.call_tool(name, arguments)
                assert not answer.is_error, (name, answer.content)
                assert answer.structured_content, name

    asyncio.run(ask())


@both_eras
def test_it_reads_every_kind_of_address(wire: str, listed: list[str], mode: Mode) -> None:
    async def ask() -> None:
        async with connected(wire, mode) as client:
            for uri in questions.addresses(listed):
                (content,) = (await client.read_resource(uri)).contents
                assert isinstance(content, types.TextResourceContents)
                assert (str(content.uri), bool(content.text)) == (uri, True)

    asyncio.run(ask())


@both_eras
def test_it_lists_and_gets_every_prompt(wire: str, listed: list[str], mode: Mode) -> None:
    wanted = questions.prompts(questions.a_story(listed))

    async def ask() -> None:
        async with connected(wire, mode) as client:
            assert {prompt.name for prompt in (await client.list_prompts()).prompts} == set(wanted)
            for name, arguments in wanted.items():
                (message,) = (await client.get_prompt(name, arguments)).messages
                assert isinstance(message.content, types.TextContent)
                assert "as summarized by ChatbotNews.ai" in message.content.text, name

    asyncio.run(ask())


@both_eras
def test_a_source_outside_the_roster_is_a_protocol_error_that_names_the_closest(wire: str, mode: Mode) -> None:
    async def ask() -> None:
        async with connected(wire, mode) as client:
            with pytest.raises(mcp.MCPError, match="TechCrunch") as refused:
                await client.call_tool("search_wire", {"query": "moon", "source": "TechCrunch Japan"})
            assert refused.value.error.code == types.INVALID_PARAMS

    asyncio.run(ask())
