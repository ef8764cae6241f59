"""Addresses of MCP servers as a browser opens them: a page that says what they are. Clients notice nothing of it."""

from typing import Final

import pytest
from pytest_django import Settings

from mcpserver.servers import SERVERS
from tests.mcpserver.asgi import request, rpc
from tests.publishers import publisher

pytestmark = pytest.mark.django_db(transaction=True)

BROWSER: Final = {"accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"}
ALONE: Final = [path for path in SERVERS if not path.endswith("/")]


@pytest.mark.parametrize("path", ALONE)
def test_a_browser_reads_the_server_s_name_and_its_address(path: str) -> None:
    answer = request("GET", path, headers=BROWSER)
    assert (answer.status, answer["content-type"]) == (200, "text/html; charset=utf-8")
    text = answer.body.decode()
    title = rpc("server/discover", path=path).result["_meta"]["io.modelcontextprotocol/serverInfo"]["title"]
    assert f'<h1 dir="auto">{title}</h1>' in text
    assert f">http://localhost:8000{path}</pre>" in text
    assert 'href="/for-agents.html"' in text
    assert request("GET", f"{path}/", headers=BROWSER).body == answer.body


def test_a_member_of_a_family_has_a_page_and_a_name_that_nobody_has_is_missing() -> None:
    publisher(name="Chef & Co <b>")
    text = request("GET", "/mcp/articles/chef", headers=BROWSER).body.decode()
    assert ">Chef &amp; Co &lt;b&gt;</h1>" in text
    assert ">http://localhost:8000/mcp/articles/chef</pre>" in text
    publisher("gone", removed_at="2026-01-15T10:00:00Z")
    for path in ("/mcp/articles/nobody", "/mcp/articles/gone", "/mcp/articles/", "/mcp/articles", "/mcp/timeline/nobody"):
        answer = request("GET", path, headers=BROWSER)
        assert (answer.status, answer["content-type"]) == (404, "text/html; charset=utf-8"), path


def test_the_address_is_the_one_that_operators_set(settings: Settings) -> None:
    settings.WIRE_MCP_URL = "https://mcp.wire.example/mcp"
    text = request("GET", "/mcp/factchecks", headers=BROWSER).body.decode()
    assert ">https://mcp.wire.example/mcp/factchecks</pre>" in text


def test_it_is_cached_and_guarded_like_every_page_and_tells_caches_what_decides() -> None:
    answer, other = (request("GET", path, headers=BROWSER) for path in ("/mcp", "/about"))
    for name in ("cache-control", "content-security-policy", "x-content-type-options", "x-frame-options", "referrer-policy"):
        assert answer[name] == other[name] is not None, name
    assert set((answer["vary"] or "").split(", ")) == {"Accept", "Accept-Encoding"}
    again = request("GET", "/mcp", headers=BROWSER | {"if-none-match": answer["etag"] or ""})
    assert (again.status, again.body, again["vary"]) == (304, b"", answer["vary"])
    head = request("HEAD", "/mcp", headers=BROWSER)
    assert (head.status, head.headers, head.body) == (200, answer.headers, b"")


@pytest.mark.parametrize("path", [*ALONE, "/mcp/articles/chef"])
def test_no_client_ever_gets_the_page(path: str) -> None:
    publisher()
    assert request("GET", path, headers=BROWSER).status == 200  # and is cached
    for accept in ("application/json", "*/*", "application/json, text/html", "text/html;q=0.9, */*"):
        for method in ("GET", "HEAD"):
            answer = request(method, path, headers={"accept": accept})
            assert (answer.status, answer.body, answer["vary"]) == (405, b"", None), (method, accept)
    assert request("GET", path).status == 405
    for method, status in (("POST", 415), ("DELETE", 405), ("PUT", 405), ("OPTIONS", 204)):
        answer = request(method, path, headers=BROWSER)
        ends_session = path == "/mcp/factchecks" and method == "DELETE"  # without naming one
        assert answer.status == (400 if ends_session else status), (path, method)
        assert answer["content-type"] in (None, "application/json")
    assert rpc("tools/list", path=path).status == 200


def test_the_page_counts_towards_the_limit_like_the_server(settings: Settings) -> None:
    settings.WIRE_RATE_LIMIT = "2/m"
    statuses = [request("GET", "/mcp", headers=BROWSER, client="198.51.100.77").status for _ in range(3)]
    assert statuses == [200, 200, 429]


def test_a_reserved_address_stays_reserved() -> None:
    assert request("GET", "/mcp/v2", headers=BROWSER)["content-type"] == "application/json"
