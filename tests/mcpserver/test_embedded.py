"""The servers inside another ASGI application, as the documented example has them."""

import pytest
from starlette.testclient import TestClient

from tests.mcpserver.asgi import LEGACY, message
from tests.publishers import CAKE, cake, publisher, store

pytestmark = pytest.mark.django_db(transaction=True)
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream", "mcp-protocol-version": LEGACY}


@pytest.mark.slow
def test_another_application_serves_its_own_routes_and_the_mcp_servers() -> None:
    from examples.embedded_server import app

    store(publisher(), cake())
    with TestClient(app, base_url="http://localhost") as client:
        assert client.get("/about").json()["mcp"] == "/mcp/factchecks"
        for path, tool in (("/mcp/factchecks", "search_factchecks"), ("/mcp/articles/chef", "get-article")):
            listed = client.post(path, json=message("tools/list", {}, LEGACY), headers=JSON).json()
            assert tool in {one["name"] for one in listed["result"]["tools"]}
        asked = message("tools/call", {"name": "get-article", "arguments": {"url": CAKE}}, LEGACY)
        answer = client.post("/mcp/articles/chef", json=asked, headers=JSON).json()
        assert answer["result"]["structuredContent"]["url"] == CAKE
