"""Pages of publisher content: with none, one and many, whatever publishers wrote; what agents asked, as a page and as a file."""

import csv
import datetime as dt
import io
import re
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.http import HttpResponse
from django.test import AsyncClient, Client
from django.utils import timezone

from config.http.request_guard import _get_rate_bucket
from tests.wire.corpora.articles.publishers import HOSTILE, NOW, count, draft, publisher, store
from tests.wire.desk import words
from wire.corpora.articles import plugin, usage_counts
from wire.corpora.articles import store as storing
from wire.corpora.articles.models import Publisher

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def nobody(db: None) -> None:  # noqa: ARG001
    """No publisher but those that a test makes."""
    Publisher.objects.all().delete()


def page(client: Client, path: str, status: int = 200, **params: Any) -> str:
    answer = client.get(f"/articles{path}", params)
    assert answer.status_code == status, answer.content
    assert "script-src 'self'" in answer["Content-Security-Policy"]
    assert (
        re.findall(r"<script(?![^>]* src=)(?![^>]*json)[^>]*>|<style|<[^>]* (?:on[a-z]+|style)=|javascript:", _html(answer)) == []
    )
    return words(answer)


def _html(answer: Any) -> str:
    return str(answer.content.decode())


def listed(client: Client, address: str) -> list[str]:
    """Titles of a page's list, and nothing else of it."""
    return re.findall(r'rel="noopener external" dir="auto">(.*?)</a>', _html(client.get(address)))


def next_of(client: Client, address: str) -> str | None:
    found = re.search(r'rel="next" href="([^"]+)"', _html(client.get(address)))
    return found and address.partition("?")[0] + found[1].replace("&amp;", "&")


def test_the_list_has_none_one_and_many_publishers(client: Client) -> None:
    assert "No publishers yet." in page(client, "")
    publisher("quill", 1)
    shown = page(client, "")
    assert "Quill 1 article · newest 15 Mar 2026, 10:00 UTC · whole articles" in shown
    for number in range(30):
        publisher(f"house-{number}", full_text=False, may_train=True, may_answer=False)
    shown = page(client, "")
    assert shown.count("0 articles · excerpts · no use in answers · training allowed") == 30
    assert "No publishers yet." not in shown


def test_a_publisher_without_articles_shows_its_terms_and_how_to_connect(client: Client) -> None:
    publisher("quill")
    shown = page(client, "/quill")
    for said in (
        "Articles 0 ",
        "Whole articles",
        "Allowed: models may use the text to answer a question if they cite it",
        "Not allowed: the rights are reserved",
        "All rights reserved",
        "No articles yet.",
        "http://localhost:8000/mcp/articles/quill Copy the address",
        "curl http://localhost:8000/mcp/articles/quill",
        "curl &#x27;http://localhost:8000/api/articles/quill/search.json?query=news&#x27;",
    ):
        assert said.replace("&#x27;", "'") in shown, said
    assert next_of(client, "/articles/quill") is None


def test_terms_are_said_in_words(client: Client) -> None:
    facts = {"full_text": False, "excerpt_length": 120, "may_answer": False, "may_train": True}
    publisher("quill", **facts, licence_kind="text", licence="Ask us first.\nhttps://quill.example/terms")
    shown = page(client, "/quill")
    assert "Excerpts of up to 120 characters, and the address of each article" in shown
    assert "Not allowed: models may find articles here, and send readers to them" in shown
    assert "Training Allowed Licence Ask us first. https://quill.example/terms" in shown
    assert '<a href="https://quill.example/terms"' in _html(client.get("/articles/quill"))


def test_many_articles_are_paged_from_the_newest_to_the_last(client: Client) -> None:
    publisher("quill", 45)
    address, seen, pages = "/articles/quill", list[str](), 0
    while address:
        shown = words(client.get(address))
        assert ("← Newest articles" in shown) is bool(pages)
        seen, pages = seen + listed(client, address), pages + 1
        address = next_of(client, address) or ""
    assert pages == 3
    assert seen == [f"Quince number {number}" for number in reversed(range(45))]
    assert "45, newest 17 Mar 2026, 06:00 UTC" in page(client, "/quill")


def test_a_description_that_repeats_the_title_is_shown_once(client: Client) -> None:
    made = publisher()
    store(made, draft(made, 0, title="The plum advantage", description="The plum advantage"))
    assert page(client, "/quill").count("The plum advantage") == 1


def test_the_search_box_shows_hits_page_by_page_and_says_when_there_are_none(client: Client) -> None:
    quill = publisher("quill", 25)
    store(quill, draft(quill, 90, title="A medlar", description=""))
    assert "A medlar" not in page(client, "/quill", query="quince")
    first = "/articles/quill?query=quince"
    assert len(listed(client, first)) == 20
    assert "noindex" in _html(client.get(first))
    assert len(listed(client, next_of(client, first) or "")) == 5
    assert listed(client, "/articles/quill?query=medlar") == ["A medlar"]
    assert "No article contains any of these words." in page(client, "/quill", query="walrus")
    assert "Query has no words." in page(client, "/quill", 422, query="…")
    assert "longer than 300 characters" in page(client, "/quill", 422, query="q" * 301)
    assert "Cursor does not belong" in page(client, "/quill", 422, cursor="nonsense")


def test_what_publishers_and_readers_write_is_text(client: Client) -> None:
    quill = publisher("quill", name=HOSTILE, licence_kind="text", licence=HOSTILE)
    store(quill, draft(quill, 0, title=HOSTILE, author=HOSTILE, description=HOSTILE, markdown=HOSTILE))
    today = timezone.now().date()
    count(quill, today, "get-article", 0)
    for path in ("", "/quill", "/quill/asked"):
        page(client, path)
        assert "<b>" not in _html(client.get(f"/articles{path}"))
        assert "&lt;script&gt;alert(1)" in _html(client.get(f"/articles{path}"))
    page(client, "/quill", query=HOSTILE)
    storing.remove_publisher(quill, NOW)
    page(client, "/quill", 404)


def test_an_unknown_publisher_and_a_removed_one_have_a_page_that_says_so(client: Client) -> None:
    for path in ("/quill", "/quill/asked", "/a%00b"):
        assert "There is no publisher with this name." in page(client, path, 404)
    assert client.get("/articles/quill/asked.csv").status_code == 404
    quill = publisher("quill", 2)
    count(quill, NOW.date(), "list-recent")
    page(client, "/quill")
    storing.remove_publisher(quill, NOW)
    for path in ("/quill", "/quill/asked"):
        assert "Quill was removed on 2026-03-15 and is no longer served." in page(client, path, 404)
    assert client.get("/articles/quill/asked.csv").status_code == 404
    assert "Quill" not in page(client, "")


def test_what_agents_asked_is_counted_by_day_and_by_article(client: Client) -> None:
    quill, today = publisher("quill", 3), timezone.now().date()
    assert "No calls in this period." in page(client, "/quill/asked")
    count(quill, today, "search-content", times=3)
    shown = page(client, "/quill/asked")
    assert "3 calls." in shown
    assert "No article was requested." in shown
    count(quill, today, "get-article", 1, times=2)
    count(quill, today, "get-article", 2, times=5)
    count(quill, today - dt.timedelta(days=29), "get-article", 1, times=4)
    count(quill, today - dt.timedelta(days=30), "get-article", 0, times=99)
    found = usage_counts.report_usage(quill, today)
    assert found["days"] == [
        (today, 10, [3, 7, 0]),
        (today - dt.timedelta(days=29), 4, [0, 4, 0]),
    ]
    assert [(one["title"], one["calls"]) for one in found["articles"]] == [("Quince number 1", 6), ("Quince number 2", 5)]
    shown = page(client, "/quill/asked")
    assert "14 calls." in shown
    assert "Quince number 1 6 Quince number 2 5" in shown
    assert client.get("/articles/quill/asked")["Cache-Control"] == "no-store"


def download(slug: str) -> tuple[HttpResponse, list[list[str]]]:
    """The file as the server sends it, piece by piece."""

    async def read() -> tuple[Any, list[bytes]]:
        answer: Any = await AsyncClient().get(f"/articles/{slug}/asked.csv")
        return answer, [piece async for piece in answer.streaming_content]

    answer, pieces = async_to_sync(read)()
    return answer, list(csv.reader(io.StringIO(b"".join(pieces).decode(), newline="")))


def test_counts_come_as_a_file_that_no_spreadsheet_runs() -> None:
    quill = publisher("quill", 1)
    answer, rows = download("quill")
    assert rows == [["day", "tool", "url", "title", "count"]]
    assert answer.streaming
    assert (answer["Content-Type"], answer["tdm-reservation"]) == ("text/csv; charset=utf-8", "1")
    assert answer["Content-Disposition"] == 'attachment; filename="quill-asked.csv"'
    formulas = ['=HYPERLINK("https://evil.example")', "+1", "-1", "@SUM(A1)", "\t=1", "  =1", "＝1"]
    hostile = [*formulas, 'Quoted "word", and\na line']
    store(quill, *(draft(quill, number, title=title) for number, title in enumerate(hostile, 1)))
    for number in range(1, 1 + len(hostile)):
        count(quill, NOW.date(), "get-article", number, times=number)
    count(quill, NOW.date() + dt.timedelta(days=1), "list-recent")
    _, rows = download("quill")
    assert rows[1] == ["2026-03-16", "list-recent", "", "", "1"]
    assert [row[3] for row in rows[2:]] == [*(f"'{title}" for title in formulas), hostile[-1]]
    assert rows[2] == ["2026-03-15", "get-article", "https://quill.example/article-1", f"'{formulas[0]}", "1"]


def test_many_counts_come_in_pieces_and_in_order() -> None:
    quill = publisher("quill", 3)
    days = [NOW.date() - dt.timedelta(days=number) for number in range(700)]
    for day in days:
        count(quill, day, "get-article", 1)
        count(quill, day, "search-content")
    _, rows = download("quill")
    assert [row[0] for row in rows[1:]] == [str(day) for day in days for _ in range(2)]


def test_what_depends_on_the_articles_alone_is_cached_and_what_agents_asked_is_not() -> None:
    assert plugin.get_page_parameters("/articles") == frozenset()
    assert plugin.get_page_parameters("/articles/quill") == frozenset({"query", "cursor"})
    for name in ("llms.txt", "ai.txt", "license.xml"):
        assert plugin.get_page_parameters(f"/articles/quill/{name}") == frozenset()
    for name in ("asked", "asked.csv", "else"):
        assert plugin.get_page_parameters(f"/articles/quill/{name}") is None
    assert plugin.may_read_live("/api/articles/quill/article.json")
    assert not plugin.may_read_live("/api/articles/quill/recent.json")


def test_pages_of_publishers_count_towards_the_limit() -> None:
    assert _get_rate_bucket({"method": "GET", "path": "/articles/quill"}, None) == "wire"


def test_readers_find_the_publishers(client: Client) -> None:
    for address in ("/about", "/for-agents.html"):
        assert '<a href="/articles">' in _html(client.get(address))


def test_a_sitemap_names_the_pages_of_those_who_are_served(client: Client) -> None:
    quill, removed = publisher("quill", 1), publisher("gherkin")
    storing.remove_publisher(removed, NOW)
    told = re.findall("<loc>(.*?)</loc>", _html(client.get("/sitemap-articles.xml")))
    paths = [address.removeprefix("http://localhost:8000") for address in told]
    assert paths == ["/articles", f"/articles/{quill.slug}", f"/articles/{quill.slug}/asked"]
    assert [client.get(path).status_code for path in paths] == [200] * 3
