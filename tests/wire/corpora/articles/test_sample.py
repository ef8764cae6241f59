"""The sample publisher's site, indexed over HTTP: forty articles are found, listed, read and cited."""

import re
from collections.abc import Callable, Iterator
from typing import Any, Final

import pytest
from django.db.models import QuerySet
from pytest_django import DjangoDbBlocker

from tests import almanac
from tests.almanac import ARTICLES, SLUG, publishers
from tests.feedserver import FeedServer
from wire.corpora.articles import queries, sample, store
from wire.corpora.articles.models import Article, ArticleRevision

pytestmark = pytest.mark.django_db

SPOKEN: Final = {"de": 3, "en": 35, "fr": 2}


@pytest.fixture(scope="module")
def server() -> Iterator[FeedServer]:
    with FeedServer(hosts=1) as started:
        yield started


@pytest.fixture(scope="module")
def indexed(django_db_setup: None, django_db_blocker: DjangoDbBlocker, server: FeedServer) -> Iterator[str]:  # noqa: ARG001
    """Once for all tests here, which change nothing of it that lasts; what the command said."""
    with django_db_blocker.unblock(), almanac.loopback_asked(), almanac.undone():
        yield almanac.index(server)


def articles() -> QuerySet[Article]:
    return Article.objects.filter(publisher__slug=SLUG, state=Article.State.LIVE)


def found(query: str) -> list[str]:
    return [one.url.rpartition("/")[2] for one in queries.search_content(SLUG, query, 20).articles]


def walked(ask: Callable[[str | None], Any]) -> list[str]:
    """Every article's address, along the cursors; no page but the last is short."""
    urls, cursor = list[str](), None
    while True:
        page = ask(cursor)
        urls += [one.url for one in page.articles]
        if (cursor := page.next_cursor) is None:
            return urls
        assert len(page.articles) == 7


@pytest.mark.slow
def test_every_article_of_its_site_is_found_listed_read_and_cited(indexed: str, server: FeedServer) -> None:
    assert "2 asked, 1 failed, 1 front page, 18 listed, 40 new, 20 pages" in indexed
    assert not server.seen("/editors/rota"), "robots.txt forbids it"
    urls = set(articles().values_list("url", flat=True))
    assert len(urls) == ARTICLES
    for ask in (
        lambda cursor: queries.list_recent(SLUG, 7, cursor),
        lambda cursor: queries.search_content(SLUG, "fictional", 7, cursor),
    ):
        seen = walked(ask)
        assert len(seen) == ARTICLES, "each once"
        assert set(seen) == urls
    server.requests.clear()
    for url in urls:
        read = queries.buy_article(SLUG, url)[0]
        assert read.title.startswith("[Fictional] ")
        assert read.citation.startswith("According to ")
        assert read.citation.endswith(f"Source: {url}")
        assert sample.NAME in read.citation
        assert f"“{read.title}" in read.citation
        assert read.total_chars > 200
        beside = ("Imprint", "cookies", "newsletter", "by post", "Read next", "Filed under", "Print", "counter.example", "![")
        assert [words for words in beside if words in read.text] == []
        title = read.title.removeprefix("[Fictional] ")
        assert any(url.endswith(f"/{name}") for name in found(" ".join(re.findall(r"\w+", title)[:12])))
    assert not server.requests, "no page is asked twice"


def test_lists_begin_with_the_newest_and_equal_dates_have_one_order(indexed: str) -> None:  # noqa: ARG001
    listed = queries.list_recent(SLUG, 50).articles
    dates = [one.publishedAt for one in listed]
    assert dates[-2:] == [None, None], "the two without a date come last"
    assert dates[:-2] == sorted(filter(None, dates), reverse=True)
    notes = [place for place, one in enumerate(listed) if "weather-notes" in one.url]
    assert len({listed[place].publishedAt for place in notes}) == 1
    assert notes == list(range(notes[0], notes[0] + 3))
    assert [one.url for one in listed if one.author is None] == [url for url in walked_urls() if url.endswith("suggestions-box")]


def walked_urls() -> list[str]:
    return walked(lambda cursor: queries.list_recent(SLUG, 7, cursor))


def test_german_and_french_articles_are_found_by_their_own_words(indexed: str) -> None:  # noqa: ARG001
    languages = list(articles().values_list("language", flat=True))
    assert {language: languages.count(language) for language in sorted(set(languages))} == SPOKEN
    for query, name in (
        ("Zwetschgenknödel", "zwetschgenknoedel"),
        ("zwetschgenknodel teig", "zwetschgenknoedel"),
        ("Kuchen fällt", "warum-der-kuchen-faellt"),
        ("Uhr Rathaus", "die-uhr-am-rathaus"),
        ("étang", "lire-une-carte-d-etang"),
        ("carte marine", "lire-une-carte-d-etang"),
        ("pain rassis", "pain-d-hier"),
    ):
        assert found(query)[0] == name, query


def test_tables_lists_code_and_quotations_come_out_as_markdown(indexed: str, server: FeedServer) -> None:  # noqa: ARG001
    for path, parts in {
        "/2026/01/plum-dumplings": ("| what | how much |\n| --- | --- |", "## How it is done", "- cinnamon, if you like it"),
        "/2026/01/leap-years-in-nine-lines": ("```python\ndef is_leap(year: int) -> bool:\n    if year % 400 == 0:",),
        "/2026/01/a-letter-about-thorn": ("> I doe not doubt but",),
        "/features/one-liners-for-the-parish-archive": ("```sh\ncut -c1-3 baptisms.tsv | sort | uniq -c\n```",),
        "/kitchen/what-a-loaf-costs-in-time": ("| **in all** | **2 h 25 min** | **22 min** |",),
        "/outdoors/packing-for-one-day": ("   - a layer against rain\n     - in summer the thin one",),
        "/words/names-with-dots-and-hooks": ("| 山田 | was asked for a first letter | a locker |", "2. Store what was written"),
        "/workshop/writing-html-by-hand": ("1. Use `&amp;` for an ampersand and `&lt;`", "2. Use `strong` when"),
        "/letters/a-quarrel-in-the-margins": ("> It has now. Thank you.",),
        "/2026/02/frost-on-the-mill-window": ("*Photograph: Wilhelmina Reed / The Pumpwick Almanac*",),
        "/notes/how-we-check-a-claim": (f"[the bridge toll]({server.url('/2026/02/bridge-toll')})",),
    }.items():
        text = queries.buy_article(SLUG, server.url(path))[0].text
        assert [part for part in parts if part not in text] == [], path


def test_only_the_article_that_addresses_its_reader_is_marked(indexed: str, server: FeedServer) -> None:  # noqa: ARG001
    marked = [url for url in articles().values_list("url", flat=True) if queries.buy_article(SLUG, url)[0].untrusted_instructions]
    assert marked == [server.url("/2026/02/noticeboard")]
    assert [one.url for one in queries.list_recent(SLUG, 50).articles if one.untrusted_instructions] == marked


def test_what_its_editors_change_is_a_revision_and_what_they_take_away_is_gone(
    indexed: str,  # noqa: ARG001
    server: FeedServer,
) -> None:
    feed = (sample.FILES / "feed.xml").read_text(encoding="utf-8").replace(sample.SITE, server.url(""))
    server.route("/feed.xml", body=feed.replace("spent to within six pennies", "spent to within five pennies").encode())
    publishers("index", SLUG)
    toll = Article.objects.get(url=server.url("/2026/02/bridge-toll"))
    assert "within five pennies" in queries.buy_article(SLUG, toll.url)[0].text
    assert ["within six pennies" in revision.markdown for revision in ArticleRevision.objects.all()] == [True]
    assert not store.mark_missing(toll, toll.first_seen_at)
    toll.refresh_from_db()
    assert store.mark_missing(toll, toll.first_seen_at + store.APART)
    assert toll.url not in walked_urls()
    assert len(walked_urls()) == ARTICLES - 1
