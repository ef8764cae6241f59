"""What publishers' servers keep of those who ask them, and what they give of a publisher that sells or holds back."""

import asyncio
import json
from typing import Final

import pytest
from django.apps import apps
from django.test import Client

from mcpserver.servers import articles
from mcpserver.tooling import batched_counter
from tests.mcpserver.asgi import LEGACY, http_scope, message, rpc_headers, send_request
from tests.publishers import CAKE, cake, publisher, store
from wire.corpora.articles.models import ArticleCount, Publisher

pytestmark = pytest.mark.django_db(transaction=True)

ASKER: Final = "203.0.113.77"
WORDS: Final = "zebrafish aquarium"
PROGRAM: Final = "Nosy-Agent/7"


@pytest.mark.slow
def test_nothing_of_who_asked_a_publisher_or_for_which_words_is_stored(client: Client) -> None:
    articles.calls.clear()
    store(publisher(), cake())
    for tool, arguments in (("search-content", {"query": f"cake {WORDS}"}), ("get-article", {"url": CAKE}), ("list-recent", {})):
        asked = message("tools/call", {"name": tool, "arguments": arguments}, LEGACY)
        headers = dict(rpc_headers(asked, LEGACY)) | {"user-agent": PROGRAM}
        scope = http_scope("POST", "/mcp/articles/chef", headers, client=ASKER)
        answer = asyncio.run(send_request(scope, [json.dumps(asked).encode()]))
        assert not answer.result.get("isError")
    about = {"x-forwarded-for": ASKER, "user-agent": PROGRAM}
    assert (
        client.get("/api/articles/chef/search.json", {"query": f"cake {WORDS}"}, headers=about, REMOTE_ADDR=ASKER).status_code
        == 200
    )
    asyncio.run(batched_counter.flush_all())
    assert ArticleCount.objects.count() == 3, "they were counted"
    stored = "\n".join(str(row) for model in apps.get_models() for row in model._default_manager.values())
    assert CAKE in stored, "this looks where articles are"
    for told in (ASKER, PROGRAM, *WORDS.split()):
        assert told not in stored
    shown = client.get("/articles/chef/asked").content.decode()
    assert "Best Chocolate Cake" in shown
    assert [told for told in (ASKER, PROGRAM, *WORDS.split()) if told in shown] == []


def test_of_a_publisher_that_gives_excerpts_no_door_gives_more(client: Client) -> None:
    secret = "The secret of the cake is its lemon."
    store(publisher(), cake(markdown=f"{'Rich, moist chocolate cake. ' * 10}\n\n{secret}"))
    Publisher.objects.update(full_text=False, excerpt_length=100)
    for form in ("markdown", "text", "html"):
        asked = message("tools/call", {"name": "get-article", "arguments": {"url": CAKE, "format": form, "offset": 90}}, LEGACY)
        scope = http_scope("POST", "/mcp/articles/chef", rpc_headers(asked, LEGACY))
        assert b"lemon" not in asyncio.run(send_request(scope, [json.dumps(asked).encode()])).body
        assert b"lemon" not in client.get("/api/articles/chef/article.json", {"url": CAKE, "format": form}).content
    for path in ("/articles", "/articles/chef", "/articles/chef/llms.txt", "/api/articles/chef/recent.json"):
        answer = client.get(path)
        assert answer.status_code == 200
        assert b"lemon" not in answer.content
    assert client.get("/api/articles/chef/search.json", {"query": "lemon"}).json()["articles"] == []
