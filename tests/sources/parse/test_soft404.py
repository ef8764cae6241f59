"""Pages that say they do not exist while their status is 200."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sources.parse import parse_page
from sources.parse.article import InvalidArticle, parse_article
from sources.parse.page_metadata import is_not_found_title

SAID = (
    *("Page not found", "404", "404 Not Found", "Error 404 (Not Found)", "404: This page could not be found.", "Not found"),
    *("Page not found | The Fern Gazette", "The Fern Gazette — 404 – Page Not Found", "Oops! That page can’t be found."),
    *("This page doesn't exist", "The page you requested was not found", "Sorry, the page you’re looking for does not exist"),
    *("Sorry, we couldn't find that page", "This page isn’t available", "Article not found - Fern", "HTTP 404 - File not found"),
    *("Seite nicht gefunden", "Diese Seite existiert leider nicht mehr | Farn", "Page introuvable", "Cette page n’existe pas"),
    *("Página no encontrada", "Esta página no existe", "Página não encontrada", "Pagina non trovata", "Pagina niet gevonden"),
    *("Страница не найдена", "Ошибка 404. Страница не найдена", "Nie znaleziono strony", "Sidan kunde inte hittas"),
    *("ページが見つかりません", "お探しのページは見つかりませんでした", "页面不存在", "找不到该页面", "페이지를 찾을 수 없습니다"),
    "Pa\u0301gina no encontrada",
)
NOT_SAID = (
    *("", "Quince ships", "Why “page not found” became a joke", "404 Media sues a robot", "Quince ships - 404 Media", "Error"),
    *("Page not found: how the web forgets", "Lost and not found", "The page that nobody found", "Sorry", "410 robots dismissed"),
    *("The missing story was found", "Model not found in any store, makers say", "Seite an Seite", "Страница истории"),
)


@pytest.mark.parametrize("heading", SAID)
def test_a_heading_that_says_only_that_a_page_is_missing_is_recognised(heading: str) -> None:
    assert is_not_found_title(heading)
    assert is_not_found_title(heading.upper())


@pytest.mark.parametrize("heading", NOT_SAID)
def test_a_heading_that_says_more_is_no_such_page(heading: str) -> None:
    assert not is_not_found_title(heading)


@given(st.text(), st.sampled_from(SAID))
def test_a_word_more_makes_a_headline_of_it(text: str, said: str) -> None:
    is_not_found_title(text)  # never raises
    assert not is_not_found_title(f"quince {said.partition(' | ')[0].partition(' — ')[0].partition(' - ')[0]} quince")


def page(title: str = "Page not found", head: str = "", heading: str = "") -> bytes:
    text = "Sorry, the page that you look for is not here any more. It may have moved; try the search. " * 4
    body = f"<article><h1>{heading or title}</h1><p>{text}</p></article>"
    return f"<html><head><title>{title}</title>{head}</head><body>{body}</body></html>".encode()


MARKS = (
    '<meta property="article:published_time" content="2026-11-20T10:00:00Z">',
    '<meta property="og:type" content="article">',
    '<script type="application/ld+json">{"@type": "NewsArticle", "headline": "Page not found"}</script>',
)


@pytest.mark.parametrize("body", [page(), page("Fern", heading="Page not <em>found</em>"), page('" content="', heading="404")])
def test_a_title_or_first_heading_makes_a_page_missing(body: bytes) -> None:
    entry = parse_page(body, url="https://a.example/x")
    assert entry is not None
    assert entry.is_not_found
    with pytest.raises(InvalidArticle) as refused:
        parse_article(body, url="https://a.example/x")
    assert refused.value.code == "not_found_page"


@pytest.mark.parametrize("head", MARKS)
def test_a_page_that_is_marked_as_an_article_is_one_whatever_its_headline(head: str) -> None:
    entry = parse_page(page(head=head), url="https://a.example/x")
    assert entry is not None
    assert not entry.is_not_found
    assert parse_article(page(head=head), url="https://a.example/x").markdown


def test_a_missing_page_has_its_own_address_and_not_the_one_that_it_leads_to() -> None:
    entry = parse_page(page(head='<link rel="canonical" href="https://a.example/">'), url="https://a.example/x")
    assert entry is not None
    assert entry.url == "https://a.example/x"


def test_a_page_with_a_heading_alone_is_missing_too() -> None:
    with pytest.raises(InvalidArticle) as refused:
        parse_article(b"<body><h1>404 Not Found</h1><p>nginx</p></body>")
    assert refused.value.code == "not_found_page"


def test_a_heading_within_the_text_says_nothing_of_the_page() -> None:
    text = "The oven on Fern Street answers every question with a riddle, and nobody knows why it does so."
    body = f"<title>An oven speaks</title><article><p>{text}</p><h1>Page not found</h1><p>{text}</p></article>"
    entry = parse_page(body.encode(), url="https://a.example/x")
    assert entry is not None
    assert not entry.is_not_found
