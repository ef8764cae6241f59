"""Asks every tool through an agent framework, on the way that its agent's tool calls take, and prints what came of it as JSON.

Each framework's script runs in a virtual environment of its own, where nothing of the wire is installed: this file imports nothing
but the standard library.
"""

import asyncio
import json
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """What the model reads, and whether it is told as an error."""

    text: str
    is_error: bool


Ask = Callable[[str, dict[str, Any]], Awaitable[Answer]]
Connect = Callable[[str], AbstractAsyncContextManager[Ask]]


def drop_empty(arguments: dict[str, Any], properties: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments without the empty texts that some frameworks refuse: for numbers, lists, enumerations and dates."""
    plain = {name: about.get("anyOf", [about])[0] for name, about in properties.items()}
    texts = {name for name, about in plain.items() if about.get("type") == "string" and not {"enum", "format"} & set(about)}
    return {name: value for name, value in arguments.items() if value != "" or name in texts}


def questions(calls: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Every tool with some of its optional arguments, without any, and with each of them null or empty."""
    for tool, asked in calls.items():
        needed = {name: asked["arguments"][name] for name in asked["required"]} or asked["instead"]
        others = [name for name in asked["optional"] if name not in needed]
        yield tool, "with some", asked["arguments"]
        yield tool, "with none", needed
        yield tool, "with null", needed | dict.fromkeys(others)
        yield tool, "with empty texts", needed | dict.fromkeys(others, "")


async def report(connect: Connect, url: str, calls: dict[str, Any], wrong: dict[str, Any]) -> dict[str, Any]:
    failed, number = [], 0
    async with connect(url) as ask:
        for tool, how, arguments in questions(calls):
            number += 1
            try:
                answer = await ask(tool, arguments)
            except Exception as error:
                answer = Answer(f"{type(error).__name__}: {error}", is_error=True)
            if answer.is_error or len(answer.text) < 20:
                failed.append([tool, how, answer.text[:500]])
        errors = {}
        for name, (tool, arguments) in wrong.items():
            try:
                answer = await ask(tool, arguments)
                errors[name] = {"told": answer.text[:500], "raised": False}
            except Exception as error:
                errors[name] = {"told": str(error)[:500], "raised": True}
    return {"asked": number, "failed": failed, "errors": errors}


def main(connect: Connect) -> None:
    """The address, the calls, and by name those that are wrong, are read from standard input."""
    given = json.load(sys.stdin)
    found = asyncio.run(report(connect, given["url"], given["calls"], given["wrong"]))
    print("REPORT " + json.dumps(found))  # noqa: T201  read by the test; frameworks may print as well
