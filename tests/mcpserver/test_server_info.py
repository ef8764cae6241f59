"""Names of MCP servers: the same wherever a server is named, to clients, in cards, on pages and in files."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any, Final

import pytest

from config.server_info import NAME, NAMESPACE, REGISTRY_NAME, TITLE, VERSION
from tests.mcpserver.asgi import get, request, rpc
from tests.publishers import publisher
from tests.wire.corpora.timeline.corpora import harbour
from wire.site.llms_txt import SPEC_VERSION

pytestmark = pytest.mark.django_db(transaction=True)

ROOT: Final = Path(__file__).parents[2]
SITE: Final = "http://localhost:8000"


def read_server_info(path: str) -> Any:
    return rpc("server/discover", path=path).result["_meta"]["io.modelcontextprotocol/serverInfo"]


def test_a_server_says_the_names_that_its_card_does() -> None:
    publisher()
    harbour()
    servers = get("/.well-known/mcp.json")["servers"]
    assert len(servers) >= 5
    for listed in servers:
        info = read_server_info(listed["url"].removeprefix(SITE))
        assert (info["title"], info["name"]) == (listed["title"], listed["name"].replace(f"{NAMESPACE}/", "chatbotnews-"))
        card = get(listed["server_card"].removeprefix(SITE))
        assert (card["title"], card["name"]) == (listed["title"], listed["name"])


def test_the_wire_s_server_has_one_title_and_one_name() -> None:
    assert read_server_info("/mcp")["title"] == TITLE
    assert get("/api/openapi.json")["info"]["title"] == TITLE
    for file in ("server.json", "docs/chatgpt-submission.json"):
        published = json.loads((ROOT / file).read_text(encoding="utf-8"))
        assert published.get("title", published["name"]) == TITLE
    assert json.loads((ROOT / "server.json").read_text(encoding="utf-8"))["name"] == REGISTRY_NAME
    (graph,) = re.findall(r'"application/ld\+json">(.*?)</script>', request("GET", "/about").body.decode(), re.S)
    (service,) = [node for node in json.loads(graph)["@graph"] if node["@type"] == "Service"]
    assert service["name"] == TITLE
    contract = (ROOT / "docs" / "mcp-spec.md").read_text(encoding="utf-8")
    assert f"**Server.** `{NAME}`, titled *{TITLE}*" in contract
    assert f"`{REGISTRY_NAME}`" in contract


def test_the_product_has_one_version_and_the_contract_one_of_its_own() -> None:
    publisher()
    harbour()
    assert tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"] == VERSION
    assert json.loads((ROOT / "server.json").read_text(encoding="utf-8"))["version"] == VERSION
    assert get("/api/openapi.json")["info"]["version"] == VERSION
    for listed in get("/.well-known/mcp.json")["servers"]:
        assert read_server_info(listed["url"].removeprefix(SITE))["version"] == VERSION
        assert get(listed["server_card"].removeprefix(SITE))["version"] == VERSION
    released = re.findall(r"^## \[(\d+\.\d+\.\d+)\]", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.M)
    assert released[0] == VERSION
    title = (ROOT / "docs" / "mcp-spec.md").read_text(encoding="utf-8").splitlines()[0]
    contract = title.rpartition("version ")[2]
    assert contract == SPEC_VERSION


@pytest.mark.parametrize(
    ("file", "pattern"),
    [
        ("README.md", r"mcp add --transport http (\S+)"),
        ("examples/langchain_tools.py", r'{"([\w-]+)": {"transport"'),
        ("examples/openai_agents_sdk.py", r'/mcp"}, name="(.*?)"'),
    ],
)
def test_clients_call_it_by_its_name(file: str, pattern: str) -> None:
    assert re.findall(pattern, (ROOT / file).read_text(encoding="utf-8")) == [NAME]


def test_quick_starts_call_it_by_its_name() -> None:
    text = request("GET", "/for-agents.html").body.decode()
    assert text.count(f"mcp add --transport http {NAME} ") == 1
    assert text.count(f"&quot;{NAME}&quot;: {{ &quot;") == 2  # Cursor and VS Code
    assert f"Name: {TITLE}\n" in text
