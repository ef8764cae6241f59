"""A server that misbehaves on command, and the clients that ask it."""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from mcpserver.upstreams.client_interface import UpstreamAnswer, UpstreamCall, UpstreamError
from mcpserver.upstreams.config import Adapter, Upstream
from mcpserver.upstreams.upstream_clients import Upstreams
from tests.mcpserver.upstreams import fault_server

NAME = "mcp-server-market"
CALL = UpstreamCall(NAME, "market_crypto_trending", "market://crypto/base/trending", {"asset": "base", "limit": 5})


class Bench:
    def __init__(self, folder: Path) -> None:
        self.control = folder / "control"
        self.port_file = folder / "port"
        self.server: subprocess.Popen[bytes] | None = None

    def order(self, mode: str, **more: Any) -> None:
        self.control.write_text(json.dumps({"mode": mode, **more}))

    def upstreams(self, kind: Any, era: Any, adapters: dict[str, Adapter] | None = None) -> Upstreams:
        command = (sys.executable, "-S", str(fault_server.__file__), str(self.control))
        eras = ("--era", "legacy" if era == "legacy" else "both")
        address = ""
        if kind == "http":
            self.server = subprocess.Popen([*command, *eras, "--http", str(self.port_file)])
            while not self.port_file.exists():
                time.sleep(0.01)
            address = f"http://127.0.0.1:{self.port_file.read_text()}/mcp"
        one = Upstream(NAME, kind, (*command, *eras), address, mode=era, adapters=adapters or {})
        return Upstreams({NAME: one})


async def outcome(upstreams: Upstreams, call: UpstreamCall = CALL, wait: float = 5.0) -> UpstreamAnswer | UpstreamError:
    try:
        async with asyncio.timeout(wait):
            return await upstreams.ask(call)
    except UpstreamError as error:
        return error
