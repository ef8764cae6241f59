"""FastMCP's client reading resources: {"url", "uris"} on standard input, the texts by address on standard output."""

import asyncio
import json
import sys

from fastmcp import Client


async def texts(url: str, uris: list[str]) -> dict[str, str]:
    async with Client(url) as client:
        return {uri: (await client.read_resource(uri))[0].text for uri in uris}


if __name__ == "__main__":
    given = json.load(sys.stdin)
    found = asyncio.run(texts(given["url"], given["uris"]))
    print("REPORT " + json.dumps(found))  # noqa: T201  read by the test; the framework may print as well
