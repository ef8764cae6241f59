"""The server that misbehaves on command."""

from collections.abc import Iterator
from ipaddress import ip_network
from pathlib import Path

import pytest
from pytest_django import Settings

from tests.mcpserver.upstreams.bench import Bench


@pytest.fixture
def bench(tmp_path: Path, settings: Settings) -> Iterator[Bench]:
    settings.WIRE_FETCH_ALLOW = (ip_network("127.0.0.0/8"),)
    made = Bench(tmp_path)
    made.order("ok")
    yield made
    if made.server is not None:
        made.server.kill()
        made.server.wait()
