"""The sample publisher on the sample wire: from files, the same as over HTTP, and never beside real news."""

from typing import Any

import pytest
from django.core.management import CommandError

from sources.fetch import Ask, Failed
from tests.almanac import ARTICLES, SLUG, publishers
from wire.corpora.articles import queries, sample
from wire.corpora.articles.models import Article
from wire.ingest import feed_entries
from wire.models import WireState


@pytest.mark.slow
def test_it_needs_no_network_and_again_changes_nothing_and_one_that_was_removed_stays_so(
    db: None,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def never(*_given: Any) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr("sources.fetch.fetch_all", never)
    WireState.objects.update(is_sample=True)
    assert "almanac: 2 asked, 1 front page, 1 left out, 18 listed, 40 new, 19 pages" in publishers("sample")
    assert len(queries.list_recent(SLUG, 50).articles) == ARTICLES
    assert queries.buy_article(SLUG, f"{sample.SITE}/2026/01/plum-dumplings")[0].citation == (
        "According to Ada Quill, The Pumpwick Almanac (11 January 2026): “[Fictional] Plum dumplings for a wet Sunday.” "
        "Source: https://almanac.example/2026/01/plum-dumplings"
    )
    before = (WireState.objects.get().version, list(Article.objects.order_by("pk").values()))
    assert "Articles of almanac: 2 asked, 2 unchanged; all pages are read (" in publishers("sample")
    assert "almanac: 2 asked, 2 unchanged" in publishers("index")
    assert (WireState.objects.get().version, list(Article.objects.order_by("pk").values())) == before
    assert "removed, with 40 articles" in publishers("remove", SLUG)
    assert "was removed here, and stays removed" in publishers("sample")
    assert not Article.objects.filter(publisher__slug=SLUG).exists()


def test_it_is_never_put_beside_real_news(db: None) -> None:  # noqa: ARG001
    with pytest.raises(CommandError, match=r"not a sample wire.* Nothing was changed\. Use another WIRE_DATA_DIR"):
        publishers("sample")
    assert not Article.objects.filter(publisher__slug=SLUG).exists()


@pytest.mark.parametrize("path", ["/../../../README.md", "/notes", "/", "/notes/../../../roster.json", "/nothing", "/editors/rota"])
def test_no_other_file_is_one_of_its_pages(path: str) -> None:
    ((_, outcome),) = sample.fetch_all([Ask(0, f"{sample.SITE}{path}")], feed_entries.get_fetch_policy(), {})
    assert isinstance(outcome, Failed)
    assert outcome.code == "http_404"


def test_every_title_and_description_says_that_it_is_fiction_and_all_of_it_is_small() -> None:
    files = [file for file in sample.FILES.rglob("*") if file.is_file()]
    assert sum(file.stat().st_size for file in files) < 250_000
    feed = (sample.FILES / "feed.xml").read_text(encoding="utf-8")
    items = feed.split("<item>")[1:]
    assert all("<title>[Fictional] " in one and "<description>[Fictional] " in one for one in items)
    told = [file.read_text(encoding="utf-8") for file in files if file.suffix == ".html"]
    assert all("<title>[Fictional] " in one and 'name="description" content="[Fictional] ' in one for one in told)
