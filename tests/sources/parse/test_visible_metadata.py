"""Date and authors of a page: from its metadata, else from what it shows, and never a word that is no name."""

import datetime as dt
import json

import pytest

from sources.entries import Entry
from sources.parse.article import parse_article

PAGE = "https://x.example/news/a"
TEXT = "The first walking quince of the town was seen on the market place yesterday, where it bought a newspaper and left. " * 3
PEOPLE = {"@type": "Person", "@id": "#ada", "name": "Ada Lovelace"}


def entry(above: str = "", head: str = "", url: str = PAGE, below: str = "") -> Entry:
    page = f"<html><head><title>Quince</title>{head}</head><body><article>{above}<p>{TEXT}</p></article>{below}</body></html>"
    return parse_article(page.encode(), url=url).entry


def linked(data: object) -> str:
    return f'<script type="application/ld+json">{data if isinstance(data, str) else json.dumps(data)}</script>'


@pytest.mark.parametrize(
    ("head", "author"),
    [
        ('<meta name="author" content="By Ada Lovelace">', "Ada Lovelace"),
        ('<meta name="author" content="Ada Lovelace and Grace Hopper, THE WIRE">', "Ada Lovelace, Grace Hopper"),
        ('<meta name="author" content="Ada Lovelace"><meta name="author" content="Grace Hopper">', "Ada Lovelace, Grace Hopper"),
        ('<meta name="author" content="The Quince Desk">', "The Quince Desk"),
        (linked({"@graph": [{"@type": "NewsArticle", "author": {"@id": "#ada"}}, PEOPLE]}), "Ada Lovelace"),
        (linked({"mainEntity": {"@type": "BlogPosting", "author": [PEOPLE, "Grace Hopper"]}}), "Ada Lovelace, Grace Hopper"),
        (linked('//<![CDATA[\n{"@type": "Article", "author": {"name": "Ada\nLovelace",},}\n//]]>'), "Ada Lovelace"),
        (linked('<!-- {"@type": "Article", "author": "Ada Lovelace"}; -->'), "Ada Lovelace"),
        (linked("{" * 100_000), ""),
    ],
)
def test_authors_come_from_the_metadata(head: str, author: str) -> None:
    assert entry(head=head).author == author


@pytest.mark.parametrize(
    ("above", "author"),
    [
        ("<p>By <a href=/ada>Ada Lovelace</a> and Grace Hopper</p>", "Ada Lovelace, Grace Hopper"),
        ("<div class=byline>BY ADA LOVELACE<br>Quince Times<br>12 March</div>", "ADA LOVELACE"),
        ('<p class="author vcard"><b class="fn">Ada Lovelace</b> <span>Senior Correspondent</span></p>', "Ada Lovelace"),
        ('<span itemprop="author"><span itemprop="name">Ada de la Cruz</span></span>', "Ada de la Cruz"),
        ("<p>By Ada Lovelace Tuesday, Aug. 17, 2010</p>", "Ada Lovelace"),
        ("<p>By April May Aug 17, 2010</p>", "April May"),
        ("<p>Von Jürgen Müller-Lüdenscheid, Berlin</p>", "Jürgen Müller-Lüdenscheid"),
        ("<p class=firma><em>Ángeles Escrivá</em> | Madrid</p>", "Ángeles Escrivá"),
        ("<p class=firma><strong>Ada Lovelace</strong> | Palma de Mallorca | 2 March</p>", "Ada Lovelace"),
        ("<p><a rel=author>Ada Lovelace</a> / <a rel=author>Grace Hopper</a></p>", "Ada Lovelace, Grace Hopper"),
        ("<p>-- By Ada Lovelace</p>", "Ada Lovelace"),
        ("<p>Designed by Quince Media Ltd</p>", ""),
        ("<p class=author>Ada Lovelace</p></article><article class=teaser><p class=author>Grace Hopper</p>", "Ada Lovelace"),
        ("<p class=author>Ada Lovelace</p><div class=card><p class=author>Grace Hopper</p></div>", "Ada Lovelace"),
        ("<p class=author>Follow us on Twitter</p>", ""),
        ("<p>By the river they sat down and waited for the rain.</p>", ""),
        ("", ""),
    ],
)
def test_a_byline_gives_the_authors_that_the_metadata_lacks(above: str, author: str) -> None:
    assert entry(above).author == author


def test_who_comments_is_no_author() -> None:
    assert entry(below='<div id="comments"><p class="author">Ned Neighbour</p></div>').author == ""


def test_the_name_of_the_site_gives_way_to_a_byline() -> None:
    head = '<meta property="og:site_name" content="The Quince"><meta name="author" content="The Quince">'
    assert entry("<p>By Ada Lovelace</p>", head).author == "Ada Lovelace"
    assert entry("", head).author == "The Quince"
    head = '<meta property="og:site_name" content="The Quince"><meta name="author" content="The Quince Publishers">'
    assert entry("<p>By Ada Lovelace</p>", head).author == "Ada Lovelace"


def test_a_name_that_only_holds_the_letters_of_the_site_is_an_author() -> None:
    head = '<meta property="og:site_name" content="MIT"><meta name="author" content="John Smith and Ada Lovelace, MIT News">'
    assert entry(head=head).author == "John Smith, Ada Lovelace"


def test_an_account_is_no_author_and_the_name_of_one_is() -> None:
    assert entry(head='<meta name="twitter:creator" content="@ada">').author == ""
    assert entry(head='<meta name="twitter:creator" content="Ada Lovelace">').author == "Ada Lovelace"


@pytest.mark.parametrize(
    ("above", "head", "url", "expected"),
    [
        ("", '<meta name="dc.date.issued" content="2026-03-02">', PAGE, "2026-03-02"),
        ("", linked({"@graph": [{"@type": "WebPage", "datePublished": "2026-03-02T10:00:00Z"}]}), PAGE, "2026-03-02 10:00"),
        ('<time datetime="2026-03-02T10:00:00Z">', "", PAGE, "2026-03-02 10:00"),
        ('<time class="updated" datetime="2026-03-09">x</time><time datetime="2026-03-02">', "", PAGE, "2026-03-02"),
        ("", "", "https://x.example/2026/03/02/quince", "2026-03-02"),
        ("", "", "https://x.example/2026/FOOD/3/2/quince", "2026-03-02"),
        ("", "", "https://x.example/20260302/quince", "2026-03-02"),
        ('<time datetime="2025-01-09">', "", "https://x.example/2026/03/02/quince", "2026-03-02"),  # of something in the text
        ('<time datetime="2026-03-02T23:00:00Z">', "", "https://x.example/2026/03/02/quince", "2026-03-02 23:00"),
        ("<p>Published on March 2, 2026</p>", "", PAGE, "2026-03-02"),
        ("", "", "https://x.example/id/20261399/2026/13/41", ""),
    ],
)
def test_a_page_says_when_it_was_published(above: str, head: str, url: str, expected: str) -> None:
    moment = dt.datetime.fromisoformat(expected).replace(tzinfo=dt.UTC) if expected else None
    assert entry(above, head, url).published_at == moment


def test_the_year_of_a_copyright_is_no_date() -> None:
    assert entry(below="<footer>© 2019 The Quince</footer>").published_at is None
