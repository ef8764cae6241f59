"""A publisher's search: the ranking to the letter, paging, edits."""

import datetime as dt
import importlib

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.django import TestCase

from config.errors import InvalidArgument, NotFound
from sources.entries import Entry
from tests.wire.corpora.articles.factories import NOW, draft, kept, publisher
from wire.corpora.articles import queries, rendering, store
from wire.corpora.articles.models import Article, ArticleAlias, ArticleRevision, Publisher
from wire.corpora.articles.normalize import draft_entry, is_front_page
from wire.corpora.articles.search import build_index_name, extract_keywords
from wire.models import Postings, WireState
from wire.text.tokens import stem_word, words

pytestmark = pytest.mark.django_db


def titles(query: str, limit: int = 20, slug: str = "cake") -> list[str]:
    return [hit.title for hit in queries.search_content(slug, query, limit).articles]


def test_a_keyword_counts_three_in_the_title_and_one_in_the_description() -> None:
    kept(
        draft("a", "Tea", "chocolate cake"),
        draft("b", "Chocolate bread", "plain"),
        draft("c", "Chocolate cake", "chocolate"),
        draft("d", "Cakes", "cake cake cake cake"),
        draft("e", "Soup", "leek"),
    )
    assert titles("chocolate cake") == ["Chocolate cake", "Cakes", "Chocolate bread", "Tea"]
    assert titles("CAKE cake Cakes") == ["Cakes", "Chocolate cake", "Tea"], "a keyword counts once, in any form"
    assert titles("pie") == []


def test_ties_come_newest_first_then_by_address_and_undated_ones_last() -> None:
    kept(draft("b", "Cake B", day=None), draft("z", "Cake Z", day=2), draft("a", "Cake A", day=2), draft("n", "Cake N", day=3))
    assert titles("cake") == ["Cake N", "Cake A", "Cake Z", "Cake B"]
    assert [one.title for one in queries.list_recent("cake", 10).articles] == ["Cake N", "Cake Z", "Cake A", "Cake B"]


def test_an_edit_is_found_by_its_new_words_only_and_what_is_gone_by_none() -> None:
    owner = kept(draft("a", "Chocolate cake"), draft("b", "Lemon cake"))
    store.store_drafts(owner, [draft("a", "Walnut bread")], NOW)
    assert (titles("chocolate"), titles("walnut"), titles("cake")) == ([], ["Walnut bread"], ["Lemon cake"])
    article = Article.objects.get(title="Lemon cake")
    assert not store.mark_missing(article, NOW)
    article.refresh_from_db()
    assert not store.mark_missing(article, NOW + dt.timedelta(hours=23))
    assert store.mark_missing(article, NOW + dt.timedelta(hours=24))
    assert titles("cake bread") == ["Walnut bread"]
    assert store.store_drafts(owner, [draft("b", "Lemon cake")], NOW)["new"] == 1, "it is back"
    assert titles("lemon") == ["Lemon cake"]


def test_publishers_do_not_find_each_others_articles() -> None:
    kept(draft("a", "Cake"))
    kept(draft("b", "Pie cake"), of=publisher("pies"))
    assert (titles("cake"), titles("cake", slug="pies")) == (["Cake"], ["Pie cake"])


def test_a_query_without_a_word_and_a_cursor_of_another_one_are_refused() -> None:
    kept(*(draft(str(n), f"Cake {n}") for n in range(3)))
    cursor = queries.search_content("cake", "cake", 1).next_cursor
    for query, place in (("…", None), ("tea", cursor), ("cake", "nonsense"), ("cake", queries.list_recent("cake", 1).next_cursor)):
        with pytest.raises(InvalidArgument):
            queries.search_content("cake", query, 1, place)


def test_paging_goes_on_behind_an_article_that_left_meanwhile_and_many_ties_come_as_they_were_indexed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    owner = kept(*(draft(name, f"Cake {name}") for name in "dbca"))
    page = queries.search_content("cake", "cake", 2)
    assert [hit.title for hit in page.articles] == ["Cake a", "Cake b"]
    store.store_drafts(owner, [draft("b", "Pie")], NOW)
    following = queries.search_content("cake", "cake", 2, page.next_cursor).articles
    assert "Cake c" in [hit.title for hit in following]
    monkeypatch.setattr("wire.corpora.articles.search.MAX_TIED", 2)
    assert titles("cake") == ["Cake d", "Cake c", "Cake a"]


def test_what_is_left_out_from_now_on_is_found_no_more_and_no_number_is_used_twice() -> None:
    owner = kept(draft("a", "Cake A"), draft("private/b", "Cake B"))
    Publisher.objects.filter(pk=owner.pk).update(left_out=["/private/"])
    owner.refresh_from_db()
    assert store.delete_excluded(owner) == 1
    assert titles("cake") == ["Cake A"]
    store.store_drafts(owner, [draft("c", "Cake C")], NOW)
    assert list(Article.objects.order_by("number").values_list("number", "title")) == [(0, "Cake A"), (2, "Cake C")]


def test_a_page_that_is_there_but_no_article_ends_the_wait_for_another_404() -> None:
    kept(draft("a", "Cake"))
    assert not store.mark_missing(Article.objects.get(), NOW)
    store.mark_failed(Article.objects.get(), "A login.", NOW + dt.timedelta(days=10))
    assert not store.mark_missing(Article.objects.get(), NOW + dt.timedelta(days=30))
    assert Article.objects.get().state == Article.State.LIVE


def test_an_edit_drops_what_is_cached_at_once_and_the_same_again_does_not() -> None:
    def version() -> int:
        return WireState.objects.values_list("version", flat=True).get(pk=1)

    owner = kept(draft("a", "Cake"))
    before = version()
    store.store_drafts(owner, [draft("a", "Cake")], NOW)
    assert version() == before
    store.store_drafts(owner, [draft("a", "Pie")], NOW)
    assert version() == before + 1


def test_a_publisher_is_removed_with_all_it_has_and_without_loading_its_texts() -> None:
    owner = kept(draft("a", "Cake"), draft("b", "Tea"))
    store.store_drafts(owner, [draft("a", "Pie")], NOW)
    store.add_alias(owner, Article.objects.get(title="Tea"), "https://cake.example/t")
    with CaptureQueriesContext(connection) as asked:
        assert store.remove_publisher(owner, NOW) == 2
    assert not [one for one in asked if "SELECT" in one["sql"] and "markdown" in one["sql"]]
    left = (Article, ArticleAlias, ArticleRevision, Postings)
    assert [model.objects.count() for model in left] == [0, 0, 0, 0]
    for again in (lambda: store.remove_publisher(owner, NOW), lambda: store.store_drafts(owner, [draft("c", "Late")], NOW)):
        with pytest.raises(NotFound):
            again()


def test_the_wires_own_publisher_stays() -> None:
    own = Publisher.objects.get(slug="wire")
    with pytest.raises(InvalidArgument):
        store.remove_publisher(own, NOW)


def test_an_excerpt_is_cut_and_never_decoded() -> None:
    assert rendering.cut_excerpt("One.\n\nTwo.\n\nThree.", 11) == "One.\n\nTwo."
    assert rendering.cut_excerpt("&lt;script&gt; " + "word " * 30, 30) == "&lt;script&gt; word word word…"


def test_a_date_ahead_makes_no_edit_and_an_address_of_parameters_is_an_article() -> None:
    early = publisher("early")
    entry = Entry("", "Cake", "https://early.example/?p=7", NOW + dt.timedelta(hours=9))
    assert draft_entry(early, entry, NOW) == draft_entry(early, entry, NOW + dt.timedelta(hours=1))
    assert not is_front_page(early, entry.url)


WORDS = st.lists(st.sampled_from(["cake", "tea", "bread", "pie", "lemon"]), max_size=4).map(" ".join)


class TestRanking(TestCase):
    @pytest.mark.slow
    @settings(max_examples=40, deadline=None)
    @given(st.lists(st.tuples(WORDS, WORDS, st.none() | st.integers(1, 5)), max_size=12), WORDS.filter(bool), st.integers(1, 4))
    def test_pages_together_are_what_a_plain_reading_of_the_rule_gives(
        self, articles: list[tuple[str, str, int | None]], query: str, limit: int
    ) -> None:
        Article.objects.all().delete()
        owner = publisher(f"p{publisher_number()}")
        drafts = [draft(str(n), f"{title} {n}", text, day) for n, (title, text, day) in enumerate(articles)]
        store.store_drafts(owner, drafts, NOW)

        def score(title: str, text: str) -> int:
            held = [{stem_word(word) for word in words(part)} for part in (title, text)]
            return sum(3 * (one in held[0]) + (one in held[1]) for one in extract_keywords(query))

        ranked = sorted(
            (-score(title, text), -(day or 0), drafts[n].url) for n, (title, text, day) in enumerate(articles) if score(title, text)
        )
        expected = [url for _, _, url in ranked]
        found: list[str] = []
        cursor = None
        while True:
            page = queries.search_content(owner.slug, query, limit, cursor)
            found += [hit.url for hit in page.articles]
            assert len(page.articles) <= limit
            if (cursor := page.next_cursor) is None:
                break
        assert found == expected


def publisher_number() -> int:
    from wire.corpora.articles.models import Publisher

    return Publisher.objects.count()


def test_a_word_inside_a_title_without_spaces_finds_it_and_a_whole_word_comes_first() -> None:
    kept(
        draft("a", "東京と京都のケーキ", day=9), draft("b", "東京都のケーキ"), draft("c", "초콜릿케이크 만들기"), draft("d", "Cake")
    )
    assert titles("東京都") == ["東京都のケーキ", "東京と京都のケーキ"]
    assert (titles("ｹｰｷ"), titles("케이크"), titles("都")) == (titles("ケーキ"), ["초콜릿케이크 만들기"], titles("東京都")[::-1])


def test_the_migration_indexes_publishers_with_such_titles_again() -> None:
    owner = kept(draft("a", "東京都のケーキ"), draft("b", "Lemon cake"))
    before = list(Postings.objects.filter(index=build_index_name(owner)).order_by("token").values_list("token", "block", "found"))
    rows = Postings.objects.filter(index=build_index_name(owner)).exclude(token="")
    rows.delete()
    Postings.objects.create(index=build_index_name(owner), token="xold", block=0, found=b"\0" * 4)
    importlib.import_module("wire.corpora.articles.migrations.0005_character_pairs").index_again(apps, None)
    assert (
        list(Postings.objects.filter(index=build_index_name(owner)).order_by("token").values_list("token", "block", "found"))
        == before
    )
