"""The doors as other tests of them ask them: no limit unless one sets it, and no connection left open."""

from tests.mcpserver.conftest import close_connections, no_rate_limit  # noqa: F401  autouse
