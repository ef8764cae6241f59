"""What must be refused, what must be forgiven, and what neither may cost."""

import time
from contextlib import suppress

import pytest

from sources.parse import MAX_ITEMS, InvalidFeed, parse_feed, parse_page
from tests.sources.parse.test_feed_items import rss

MEGABYTES = 2_000_000
HEAD = "<rss><channel><item>"


def filled(piece: str) -> str:
    return piece * (MEGABYTES // len(piece))


HOSTILE = {
    "nested": HEAD + filled("<a>"),
    "bare brackets": HEAD + filled("<") + ">",
    "tags that never end": HEAD + filled('<a b="') + ">",
    "end tags of nothing": HEAD + filled("</a>"),
    "comments": HEAD + filled("<!--"),
    "sections": HEAD + filled("<![CDATA["),
    "ampersands": HEAD + "<title>" + filled("&a"),
    "references": HEAD + "<title>" + filled("&#1;"),
    "a long number": HEAD + "<title>&#" + "9" * MEGABYTES + ";</title></item>",
    "one title": HEAD + "<title>" + filled("x") + "</title></item></channel></rss>",
    "one author": HEAD + "<author>" + filled("a") + "</author></item></channel></rss>",
    "one date": HEAD + "<pubDate>" + filled("1 ") + "</pubDate></item></channel></rss>",
    "links": HEAD + filled("<link/>"),
    "attributes": HEAD + "<a " + "".join(f'a{number}="" ' for number in range(200_000)) + "/>",
    "namespaces": "<rss " + "".join(f'xmlns:a{n}="http://purl.org/dc/terms/" ' for n in range(50_000)) + ">" + "<a0:b/>" * 50_000,
    "namespaces one by one": "<rss><channel>" + "".join(f'<item xmlns:a{n}="u{n}"/>' for n in range(10_000)),
    "links in the head": "<rss><channel>" + "<link>x</link>" * 3000 + "<item/>" * 10_000,
    "Google's links": HEAD
    + "<link>https://news.google.com/1</link><source>y</source><title>"
    + filled("&lt;a ")
    + "</title></item></channel></rss>",
    "JSON lists": '{"version": "https://jsonfeed.org/version/1", "items": ' + filled("["),
    "processing instructions": filled(" <?a?>") + HEAD,
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.slow
def test_a_hostile_document_costs_no_more_than_its_size(text: str) -> None:
    began = time.process_time()
    with suppress(InvalidFeed):
        assert len(parse_feed(text.encode()).entries) <= MAX_ITEMS
    assert time.process_time() - began < 5  # anything quadratic takes minutes


@pytest.mark.parametrize("text", [filled("<"), filled("<meta "), filled("<title>"), filled("<script>"), filled('<meta content="')])
def test_a_hostile_page_costs_no_more_than_its_size(text: str) -> None:
    began = time.process_time()
    assert parse_page((text + ">").encode()) is None
    assert time.process_time() - began < 5


@pytest.mark.slow
def test_reading_stops_at_the_limit_of_items() -> None:
    assert len(parse_feed(b"<urlset>" + b"<url/>" * MAX_ITEMS + b"</urlset>").entries) == MAX_ITEMS
    with pytest.raises(InvalidFeed, match="more than 50,000 items"):
        parse_feed(b"<urlset>" + b"<url/>" * (MAX_ITEMS + 1) + b"<broken")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"])
@pytest.mark.parametrize("root", ["<rss>&a;</rss>", "<urlset>&a;</urlset>"])
@pytest.mark.parametrize("before", ["", "<?xml version='1.0'?>", "<!-- a --> "])
def test_a_document_type_is_refused_in_any_encoding(encoding: str, root: str, before: str) -> None:
    with pytest.raises(InvalidFeed, match="document type"):
        parse_feed(f'{before}<!DOCTYPE rss [<!ENTITY a SYSTEM "file:///etc/passwd">]>{root}'.encode(encoding))


@pytest.mark.parametrize(
    "before",
    [
        '<!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN" "http://my.netscape.com/publish/formats/rss-0.91.dtd">',
        "<!DOCTYPE rss>",
        "<!DOCTYPE a>" * 5000,
        "<br />\n<b>Warning</b>: Undefined variable $a in <b>/srv/x.php</b> on line <b>3</b><br />\n<?xml version='1.0'?>",
        "Notice: undefined index\n",
    ],
)
def test_what_stands_before_a_feed_and_declares_nothing_is_passed_over(before: str) -> None:
    (entry,) = parse_feed(f"{before}<rss><item><title>Robots</title></item></rss>".encode()).entries
    assert entry.title == "Robots"


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b" \n", "empty"),
        (b"<!DOCTYPE html><html></html>", "a web page, not a feed"),
        (b"<HTML><body>502 Bad Gateway", "a web page, not a feed"),
        (b"Not found", "neither RSS nor Atom"),
        (b"<opml/>", "neither RSS nor Atom"),
        (b"[]", "neither RSS nor Atom"),
        (b'{"items": []}', "not a JSON Feed"),
        (b'{"version": "https://jsonfeed.org/version/1.1", "items": [', "not JSON"),
        (b"<rss><item><title>A</item></title></rss>", "tags cross"),
    ],
)
def test_what_is_no_feed_is_refused_in_words(data: bytes, words: str) -> None:
    with pytest.raises(InvalidFeed, match=words):
        parse_feed(data)


def test_a_feed_that_breaks_off_gives_its_closed_items_only() -> None:
    whole = rss("<title>One</title>", "<title>Two words</title>", "<title>Three</title>")
    titles = ["One", "Two words", "Three"]
    for length in range(whole.index(b"<item>"), len(whole)):
        parsed = parse_feed(whole[:length])
        assert [entry.title for entry in parsed.entries] == titles[: whole[:length].count(b"</item>")]
        assert not parsed.whole
    assert parse_feed(whole).whole


@pytest.mark.parametrize(
    ("title", "read"),
    [
        ("A & B", "A & B"),
        ("A&nbsp;B", "A\xa0B"),
        ("A &copy=1", "A &copy=1"),
        ("1 < 2", "1 < 2"),
        ("A\x08B", "A\x08B"),
        ("A<br>B", "A<br>B</br>"),
        ("<x:b>A</x:b>", "<b>A</b>"),
        ("A&unknown;", "A&unknown;"),
    ],
)
def test_common_mistakes_of_markup_are_forgiven(title: str, read: str) -> None:
    (first, second) = parse_feed(rss(f"<title>{title}</title>", "<title>Next</title>")).entries
    assert (first.title.replace("&lt;", "<"), second.title) == (read, "Next")
