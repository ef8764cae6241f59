"""Publishers' pages, files and REST as they are served: cached until their articles change, and the counts never."""

from collections.abc import Iterator

import pytest

from config.http import memory_cache
from tests.mcpserver.asgi import get, request
from tests.wire.corpora.articles.publishers import NOW, count, publisher
from wire.corpora.articles import store
from wire.corpora.articles.models import Article

pytestmark = pytest.mark.django_db(transaction=True)

URL = "https://quill.example/article-0"


@pytest.fixture(autouse=True)
def opened() -> Iterator[None]:
    """As the application is while it serves."""
    memory_cache.answers.set_version(1)
    yield
    memory_cache.answers.set_version(None)


def test_a_page_is_cached_until_its_articles_change() -> None:
    publisher("quill", 1)
    first = request("GET", "/articles/quill")
    assert (first.status, first["tdm-reservation"]) == (200, "1")
    Article.objects.update(title="Rewritten")
    for path in ("/articles/quill", "/articles/quill?utm_source=elsewhere"):
        again = request("GET", path)
        assert (again.body, again["tdm-reservation"], again["etag"]) == (first.body, "1", first["etag"])
    assert request("GET", "/articles/quill?query=quince").body != first.body
    store.invalidate_caches()
    assert b"Rewritten" in request("GET", "/articles/quill").body


def test_new_terms_and_a_removal_show_at_once() -> None:
    quill = publisher("quill", 1)
    for path in ("/articles/quill", "/articles/quill/ai.txt", "/articles/quill/license.xml", "/api/articles/quill.json"):
        assert request("GET", path).status == 200
    quill.may_train = True
    quill.save()
    store.invalidate_caches()
    assert request("GET", "/articles/quill/ai.txt")["tdm-reservation"] == "0"
    assert get("/api/articles/quill.json")["may_train"] is True
    store.remove_publisher(quill, NOW)
    for path in ("/articles/quill", "/articles/quill/ai.txt", "/articles/quill/license.xml", "/api/articles/quill.json"):
        answer = request("GET", path)
        assert (answer.status, b"was removed on 2026-03-15" in answer.body) == (404, True), path
    assert b"/articles/quill" not in request("GET", "/articles").body


def test_an_article_that_may_be_read_live_is_answered_apart_from_those_who_only_read() -> None:
    publisher("quill", 1)
    assert get(f"/api/articles/quill/article.json?url={URL}")["title"] == "Quince number 0"
    Article.objects.update(title="Rewritten")
    assert get(f"/api/articles/quill/article.json?url={URL}")["title"] == "Rewritten"
    assert request("GET", f"/api/articles/quill/article.json?url={URL}&page=2").status == 400


def test_counts_are_never_cached_and_come_as_a_stream() -> None:
    quill = publisher("quill", 1)
    assert request("GET", "/articles/quill/asked.csv").body == b"day,tool,url,title,count\r\n"
    count(quill, NOW.date(), "get-article", 0, times=7)
    body = request("GET", "/articles/quill/asked.csv").body.decode()
    assert body.splitlines()[1] == f"2026-03-15,get-article,{URL},Quince number 0,7"
    assert request("GET", "/articles/quill/asked")["cache-control"] == "no-store"
