"""The resource gateway is found by clients that did not connect yet."""

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


def test_the_list_of_servers_names_the_gateway_and_its_card(client: Client) -> None:
    listed = {one["url"]: one for one in client.get("/.well-known/mcp.json").json()["servers"]}
    (url,) = [url for url in listed if url.endswith("/mcp/gateway")]
    answer = client.get("/mcp/gateway/server-card")
    card = answer.json()
    assert (card["remotes"][0]["url"], card["title"]) == (url, listed[url]["title"])
    assert listed[url]["server_card"].endswith("/mcp/gateway/server-card")
    assert answer["Access-Control-Allow-Origin"] == "*"
