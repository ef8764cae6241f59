"""The doors as other tests of them ask them: no limit, and no connection left open; and a door that may be started anew."""

import pytest

from config import asgi
from mcpserver import registry
from mcpserver.servers import SERVERS
from tests.mcpserver.conftest import close_connections, no_rate_limit, sample  # noqa: F401
from tests.threads import close_query_threads


@pytest.fixture
def own_door(monkeypatch: pytest.MonkeyPatch) -> None:
    """A door of its own, since the SDK's streams start once only, and no connection that a test before it broke."""
    close_query_threads()
    monkeypatch.setitem(registry.doors, "/mcp", registry.build_endpoints(SERVERS)["/mcp"])
    monkeypatch.setattr(asgi, "LOOK", 3600.0)  # seconds; nothing is published meanwhile
