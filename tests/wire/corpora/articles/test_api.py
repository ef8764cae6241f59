"""REST of publisher content: its routes, their bounds and errors, and what becomes of a publisher that was removed."""

from typing import Any

import pytest
from django.test import Client

from config.api import api
from config.errors import UpstreamFailed
from tests.contract import BRIEFLY
from tests.wire.corpora.articles.publishers import NOW, draft, publisher, store, titles
from wire.corpora.articles import page_fetch
from wire.corpora.articles import store as storing
from wire.corpora.articles.models import Publisher

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nobody(db: None) -> None:  # noqa: ARG001
    """No publisher but those that a test makes."""
    Publisher.objects.all().delete()


ROUTES = ("", "/search", "/recent", "/article")
ASKING: dict[str, dict[str, Any]] = {
    "": {},
    "/search": {"query": "quince"},
    "/recent": {},
    "/article": {"url": "https://quill.example/article-0"},
}


def ask(client: Client, path: str, status: int = 200, **params: Any) -> Any:
    answer = client.get(f"/api/articles/{path}.json", params)
    assert answer.status_code == status, answer.content
    return answer.json()


def test_publishers_are_listed_with_their_terms_and_how_much_they_have(client: Client) -> None:
    assert ask(client, "publishers") == {"publishers": []}
    publisher("quill", 2, full_text=False, licence_kind="cc", licence="https://creativecommons.org/licenses/by/4.0/")
    publisher("medlar", may_train=True, may_answer=False)
    medlar, quill = ask(client, "publishers")["publishers"]
    assert quill == ask(client, "quill")
    assert quill == {
        "slug": "quill",
        "name": "Quill",
        "homepage": "https://quill.example/",
        "page": "http://localhost:8000/articles/quill",
        "mcp": "http://localhost:8000/mcp/articles/quill",
        "articles": 2,
        "newest": "2026-03-15T11:00:00.000Z",
        "full_text": False,
        "excerpt_length": 600,
        "licence_kind": "cc",
        "licence": "https://creativecommons.org/licenses/by/4.0/",
        "may_answer": True,
        "may_train": False,
        "price": None,
        "per_minute": None,
    }
    assert (medlar["articles"], medlar["newest"], medlar["licence_kind"], medlar["licence"]) == (0, None, "none", None)
    assert (medlar["may_answer"], medlar["may_train"]) == (False, True)


def test_a_search_ranks_by_title_then_description_and_pages_to_its_end(client: Client) -> None:
    quill = publisher("quill", 7)
    store(quill, draft(quill, 9, title="Medlar", description="Not a quince."), draft(quill, 10, title="Sloe", description=""))
    first = ask(client, "quill/search", query="quince")
    assert titles(first["articles"]) == [f"Quince number {number}" for number in (6, 5, 4, 3, 2)]
    assert list(first["articles"][0]) == ["title", "url", "snippet", "publishedAt", "author", "untrusted_instructions"]
    second = ask(client, "quill/search", query="quince", cursor=first["next_cursor"], limit=20)
    assert titles(second["articles"]) == ["Quince number 1", "Quince number 0", "Medlar"]
    assert second["next_cursor"] is None
    assert ask(client, "quill/search", query="walrus") == {"articles": [], "next_cursor": None}


def test_the_newest_come_first_and_those_without_a_date_last(client: Client) -> None:
    quill = publisher("quill", 11)
    store(quill, draft(quill, 20, title="Undated", published_at=None))
    first = ask(client, "quill/recent")
    assert len(first["articles"]) == 10
    assert list(first["articles"][0]) == ["title", "url", "publishedAt", "author", "snippet", "untrusted_instructions"]
    assert titles(first["articles"])[0] == "Quince number 10"
    rest = ask(client, "quill/recent", cursor=first["next_cursor"])
    assert titles(rest["articles"]) == ["Quince number 0", "Undated"]
    assert (rest["next_cursor"], rest["articles"][1]["publishedAt"]) == (None, None)


def test_an_article_is_given_in_parts_and_in_three_formats(client: Client) -> None:
    publisher("quill", 1)
    url = "https://quill.example/article-0"
    found = ask(client, "quill/article", url=url)
    assert found["text"] == "# Quince\n\nText 0 of the *quince*."
    assert found["citation"] == f"According to Ada Quill, Quill (15 March 2026): “Quince number 0.” Source: {url}"
    assert (found["format"], found["next_offset"], found["is_excerpt"]) == ("markdown", None, False)
    part = ask(client, "quill/article", url=url, max_chars=8)
    assert (part["text"], part["next_offset"], part["total_chars"]) == ("# Quince", 8, len(found["text"]))
    assert found["text"] == part["text"] + ask(client, "quill/article", url=url, offset=8)["text"]
    assert ask(client, "quill/article", url=url, format="html")["text"].startswith("<h1>Quince</h1>")
    assert "#" not in ask(client, "quill/article", url=url, format="text")["text"]


@pytest.mark.parametrize(
    ("path", "params"),
    [
        ("quill/search", {}),
        ("quill/search", {"query": ""}),
        ("quill/search", {"query": "…"}),
        ("quill/search", {"query": "q" * 301}),
        ("quill/search", {"query": "quince", "limit": 0}),
        ("quill/search", {"query": "quince", "limit": 21}),
        ("quill/search", {"query": "quince", "cursor": "nonsense"}),
        ("quill/recent", {"limit": 0}),
        ("quill/recent", {"limit": 51}),
        ("quill/recent", {"limit": "many"}),
        ("quill/recent", {"cursor": "WyJmb3VuZCJd"}),
        ("quill/article", {}),
        ("quill/article", {"url": "https://elsewhere.example/article-0"}),
        ("quill/article", {"url": "file:///etc/passwd"}),
        ("quill/article", {"url": "https://quill.example/article-0", "format": "pdf"}),
        ("quill/article", {"url": "https://quill.example/article-0", "max_chars": 0}),
        ("quill/article", {"url": "https://quill.example/article-0", "offset": -1}),
    ],
)
def test_what_cannot_be_used_is_refused_and_named(client: Client, path: str, params: dict[str, object]) -> None:
    publisher("quill", 1)
    found = ask(client, path, 422, **params)
    assert found["error"] == "invalid_argument"
    assert found["message"]
    assert found["hint"]


def test_a_cursor_is_worth_no_more_than_its_list(client: Client) -> None:
    publisher("quill", 7)
    publisher("medlar", 7)
    cursor = ask(client, "quill/search", query="quince")["next_cursor"]
    ask(client, "quill/search", 422, query="golden", cursor=cursor)
    ask(client, "medlar/search", 422, query="quince", cursor=cursor)
    ask(client, "quill/recent", 422, cursor=cursor)
    newest = ask(client, "quill/recent", limit=3)["next_cursor"]
    ask(client, "medlar/recent", 422, cursor=newest)


def test_an_unknown_parameter_is_refused_by_name(client: Client) -> None:
    publisher("quill")
    found = ask(client, "quill/recent", 400, page=2)
    assert (found["error"], found["hint"]) == ("unknown_parameter", "This address takes cursor, limit.")


@pytest.mark.parametrize("slug", ["nobody", "Quill", "quill\x00", "a b", "q" * 100])
@pytest.mark.parametrize("route", ROUTES)
def test_an_unknown_publisher_is_not_found(client: Client, slug: str, route: str) -> None:
    publisher("quill", 1)
    assert ask(client, f"{slug}{route}", 404, **ASKING[route])["error"] == "not_found"


@pytest.mark.parametrize("route", ROUTES)
def test_a_removed_publisher_is_a_tombstone_everywhere(client: Client, route: str) -> None:
    quill = publisher("quill", 1)
    ask(client, f"quill{route}", **ASKING[route])
    assert storing.remove_publisher(quill, NOW) == 1
    found = ask(client, f"quill{route}", 404, **ASKING[route])
    assert found["message"] == "Quill was removed on 2026-03-15 and is no longer served."
    assert ask(client, "publishers") == {"publishers": []}


def test_a_page_that_cannot_be_read_is_an_upstreams_failure(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    publisher("quill")

    def fail(*_args: object) -> None:
        raise UpstreamFailed("The publisher's server answered 503.", "Try again later.")

    monkeypatch.setattr(page_fetch, "get_or_fetch_article", fail)
    assert ask(client, "quill/article", 502, url="https://quill.example/x")["error"] == "upstream_failed"


def test_answers_may_be_cached_briefly_and_errors_never(client: Client) -> None:
    publisher("quill", 1)
    for route in ROUTES:
        answer = client.get(f"/api/articles/quill{route}.json", ASKING[route])
        assert answer["Cache-Control"] == BRIEFLY
        assert answer["ETag"]
    assert client.get("/api/articles/nobody.json")["Cache-Control"] == "no-store"


def test_each_operation_has_an_id_of_its_own_and_says_what_each_error_means() -> None:
    paths = api.get_openapi_schema()["paths"]
    ids = [methods["get"]["operationId"] for methods in paths.values()]
    assert len(set(ids)) == len(ids)
    ours = {path: methods["get"] for path, methods in paths.items() if path.startswith("/api/articles/")}
    assert [one["operationId"] for one in ours.values()] == [
        *("wire_api_publishers", "wire_api_publisher", "wire_api_search_articles"),
        *("wire_api_recent_articles", "wire_api_article"),
    ]
    for path, one in ours.items():
        refusals = {status: said["description"] for status, said in one["responses"].items() if status != 200}
        assert all(said.startswith("`") for said in refusals.values()), path
    assert set(ours["/api/articles/{publisher}/article.json"]["responses"]) == {200, 400, 402, 404, 422, 502}
