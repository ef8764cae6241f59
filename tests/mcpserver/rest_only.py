"""Run in a directory without mcpserver/: starts the application and prints what REST, the site and /mcp answer, as JSON."""

import asyncio
import json
import os
import sys
from typing import Any

os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings"
sys.path.insert(0, os.getcwd())

from django.core.management import call_command

from config.asgi import application


async def status(path: str) -> int:
    statuses: list[int] = []
    body = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive() -> dict[str, Any]:
        if not body:
            await asyncio.Event().wait()
        return body.pop()

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    scope: dict[str, Any] = {
        "type": "http",
        "http_version": "1.1",
        "method": "GET",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
    }
    scope |= {
        "scheme": "http",
        "query_string": b"",
        "headers": [(b"host", b"localhost")],
        "client": ("192.0.2.1", 1),
        "server": None,
    }
    await application(scope, receive, send)
    return statuses[0]


async def main() -> None:
    found = {path: await status(path) for path in sys.argv[1:]}
    sdk = sorted(name for name in sys.modules if name.partition(".")[0] in {"mcp", "mcp_types", "mcpserver"})
    sys.stdout.write(json.dumps({"statuses": found, "imported": sdk}))


if __name__ == "__main__":
    call_command("migrate", verbosity=0)
    asyncio.run(main())
