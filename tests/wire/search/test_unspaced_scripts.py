"""Stories in scripts without spaces between words: each word in a title finds it, and a whole word comes before its parts."""

import importlib
from typing import Any

import pytest
from django.apps import apps
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from tests.examples import examples
from tests.factories import entry, publish
from wire import queries
from wire.models import SearchDocument
from wire.models.search import find_newest
from wire.publishing.indexing import build_document
from wire.search.service import suggest_spellings
from wire.text import tokens
from wire.text.highlighting import mark_matches
from wire.text.search_query import Term, Text, list_query_forms

pytestmark = pytest.mark.django_db

TITLES = [
    "OpenAIがGPT-5を発表、東京都の企業も採用",
    "ソフトバンク、生成ＡＩの新会社を設立",
    "ｿﾆｰが新型ﾛﾎﾞｯﾄを公開",
    "谷歌发布新的人工智能模型",
    "삼성전자, 새로운 인공지능 반도체 공개",
    "นักวิจัยไทยเปิดตัวแบบจำลองภาษาใหม่",
]
LETTERS = "".join(map(chr, [*range(0xE01, 0xE3B), *range(0xE40, 0xE4F), *range(0x3041, 0x3097), *range(0x30A1, 0x30FF)]))
SCRIPTS = st.sampled_from(LETTERS) | st.characters(min_codepoint=0x4E00, max_codepoint=0x9FFF)
SCRIPTS |= st.characters(min_codepoint=0xAC00, max_codepoint=0xD7A3) | st.characters(min_codepoint=0xFF66, max_codepoint=0xFF9D)


def publish_titles(*given: str) -> None:
    publish(*(entry(title=title, summary="") for title in given))


def titles(query: str, **filters: Any) -> list[str]:
    return [story.headline for story in queries.search_wire(query, **filters).stories]


def text_of(title: str) -> Text:
    words = tokens.tokenize(title)
    return Text(words, [], [*tokens.encode_pairs(words), *tokens.list_run_tokens(title)])


@given(st.text(SCRIPTS | st.just(" "), min_size=2, max_size=60), st.data())
def test_a_title_holds_every_piece_of_it(title: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(title) - 2))
    piece = title[start : data.draw(st.integers(start + 2, len(title)))]
    for query in (piece, f'"{piece}"', f"{piece} "):
        asked = list_query_forms(query)
        text = text_of(title)
        padded = f" {' '.join((*text.headline, *text.marks))} "
        assert asked or not tokens.split_written_words(piece)
        assert all(text.holds(form) for form in asked)
        assert all(any(all(term.measure_match(padded) for term in terms) for terms in form.lookup_sets) for form in asked[:1])


@examples(60)
@given(st.sampled_from(TITLES), st.data())
def test_a_search_finds_a_title_by_every_piece_of_it(some_titles: None, title: str, data: st.DataObject) -> None:  # noqa: ARG001
    start = data.draw(st.integers(0, len(title) - 2))
    piece = title[start : data.draw(st.integers(start + 2, len(title)))]
    if all(map(tokens.is_unspaced, tokens.split_written_words(piece))) and tokens.split_written_words(piece):
        assert titles(piece)[0] == title


@pytest.fixture
def some_titles(db: None) -> None:  # noqa: ARG001
    publish_titles(*TITLES)


@pytest.mark.usefixtures("some_titles")
@pytest.mark.parametrize(
    ("query", "number"),
    [
        *(("東京", 0), ("発表", 0), ("OpenAI", 0), ("GPT-5", 0), ("gpt 5", 0), ("GPT-5を発表", 0), ("OpenAIが", 0), ("都", 0)),
        *(('"GPT-5を"', 0), ('"東京都"', 0), ("生成AI", 1), ("ロボット", 2), ("ソニー", 2), ("人工智能", 3), ("모델 인공지능", 4)),
        *(("인공", 4), ("반도체", 4), ("แบบจำลอง", 5), ("ภาษา", 5)),
    ],
)
def test_a_word_in_a_title_finds_it(query: str, number: int) -> None:
    assert titles(query)[0] == TITLES[number]
    assert queries.search_wire(query).suggestion is None


@pytest.mark.usefixtures("some_titles")
def test_the_site_marks_the_word_inside(client: Client) -> None:
    page = client.get("/search", {"query": "人工智能"}).content.decode()
    assert "谷歌发布新的<mark>人工智能</mark>模型" in page


def test_a_whole_word_comes_before_its_pairs_apart() -> None:
    publish(
        *(entry(title=f"東京と京都の展示会 {number}", summary="", published_at="2026-01-15T12:00:00Z") for number in range(6)),
        entry(title="東京都の展示会", summary="", published_at="2025-12-31T10:00:00Z"),
    )
    assert titles("東京都")[0] == "東京都の展示会"
    assert len(titles("東京都")) == 7


@pytest.mark.usefixtures("some_titles")
def test_spelling_is_left_alone() -> None:
    assert suggest_spellings("東京郡 GPT-5お発表 생성 นักวิจย") == {}


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("東京都の企業", "東京都", "[東京都]の企業"),
        ("東京都の企業", "都", "東京[都]の企業"),
        ("ﾛﾎﾞｯﾄを公開", "ロボット", "[ﾛﾎﾞｯﾄ]を公開"),
        ("삼성전자, 새로운", "성전자", "삼[성전자], 새로운"),
    ],
)
def test_what_was_found_is_marked(text: str, query: str, marked: str) -> None:
    pieces = mark_matches(text, list_query_forms(query)[0])
    assert "".join(f"[{piece}]" if found else piece for piece, found in pieces) == marked


def test_the_migration_indexes_such_stories_again_and_no_others() -> None:
    publish_titles("谷歌发布新的模型", "Quince robots")
    chinese, english = SearchDocument.objects.get(tokens__startswith="x"), SearchDocument.objects.get(tokens__startswith="quinc")
    for row in (chinese, english):
        SearchDocument.objects.filter(pk=row.pk).update(tokens="xold", headline_length=1, marks="")
    importlib.import_module("wire.migrations.0022_character_pairs").index_again(apps, None)
    again = SearchDocument.objects.select_related("story__current").get(pk=chinese.pk)
    assert again.story.current is not None
    assert {name: getattr(again, name) for name in ("tokens", "headline_length", "marks", "story_id")} == build_document(
        again.story, again.story.current
    )
    assert find_newest([[Term(("xold",))]], limit=5) == [english.pk], "the index has no old word of what was made anew"
    assert titles("模型") == ["谷歌发布新的模型"]
