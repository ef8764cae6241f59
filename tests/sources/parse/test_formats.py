"""JSON Feed, sitemaps, Google News and article pages."""

import datetime as dt
import gzip
import json
from collections.abc import Callable
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sources.entries import Entry
from sources.parse import MAX_ITEMS, InvalidFeed, Sitemap, build_search_url, parse_feed, parse_page, parse_sitemap
from sources.parse.feed_items import strip_google_additions
from tests.sources.parse.test_feed_items import atom, only, rss

NOON = dt.datetime(2026, 1, 15, 12, tzinfo=dt.UTC)


def json_feed(item: object, **head: object) -> bytes:
    return json.dumps({"version": "https://jsonfeed.org/version/1.1", "title": "Wire", "items": [item], **head}).encode()


def test_a_json_feed_gives_its_fields() -> None:
    item = {
        "id": 7,
        "url": "/a",
        "title": "T",
        "content_html": "<p>long</p>",
        "summary": "short",
        "date_published": "2026-01-15T12:00:00Z",
        "authors": [{"name": "Ada"}, {"name": "Ben"}],
        "image": "/a.jpg",
        "language": "de",
    }
    expected = Entry(
        "Wire",
        "T",
        "https://x.example/a",
        NOON,
        "short",
        "Ada, Ben",
        "7",
        language="de",
        image="https://x.example/a.jpg",
        content="<p>long</p>",
    )
    assert only(json_feed(item), "https://x.example/feed.json") == expected


@pytest.mark.parametrize("item", [{"id": [], "url": 5, "authors": "x", "title": None, "image": {}}, {"authors": [None, 5, {}]}, {}])
def test_values_of_a_wrong_type_in_a_json_feed_count_as_absent(item: object) -> None:
    assert only(json_feed(item)) == Entry("Wire", "", "", None)


def test_version_one_of_json_feed_has_one_author_and_a_banner() -> None:
    entry = only(json_feed({"id": "https://x.example/1", "banner_image": "https://x.example/b.png"}, author={"name": "House"}))
    assert (entry.url, entry.author, entry.image) == ("https://x.example/1", "House", "https://x.example/b.png")


@pytest.mark.parametrize(("name", "field"), [("title", "title"), ("summary", "summary"), ("content_text", "summary")])
def test_text_of_a_json_feed_is_no_markup_but_its_html(name: str, field: str) -> None:
    plain = only(json_feed({"id": "1", "content_html": "<p>long</p>", name: "How <script> tags, a<b and R&D trick agents"}))
    assert getattr(plain, field) == "How &lt;script&gt; tags, a&lt;b and R&amp;D trick agents"
    assert only(json_feed({"id": "1", "content_html": "<p>long</p>"})).summary == "<p>long</p>"


@pytest.mark.parametrize(
    ("escaped", "read"),
    [
        (r"cut \ud83d", "cut �"),
        (r"cut \uDE00 \ud83d\ud83d\ude00!", "cut � �😀!"),
        (r"C:\\ud83d \ud83d", r"C:\ud83d �"),
        (r"\\\ud83d", "\\�"),
    ],
)
def test_half_a_surrogate_pair_costs_no_more_than_itself(escaped: str, read: str) -> None:
    assert only(json_feed({"id": "1", "title": "@"}).replace(b"@", escaped.encode())).title == read


def sitemap(*urls: str) -> bytes:
    spaces = 'xmlns:n="http://www.google.com/schemas/sitemap-news/0.9" xmlns:i="http://www.google.com/schemas/sitemap-image/1.1"'
    body = "".join(f"<url>{url}</url>" for url in urls)
    return f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" {spaces}>{body}</urlset>'.encode()


def test_a_news_sitemap_gives_title_date_and_publication() -> None:
    news = """<loc>https://x.example/a</loc><lastmod>2026-01-20</lastmod><n:news><n:publication><n:name>Wire</n:name>
    <n:language>en</n:language></n:publication><n:publication_date>2026-01-15T12:00:00Z</n:publication_date><n:title>T</n:title>
    </n:news><i:image><i:loc>https://x.example/a.jpg</i:loc></i:image>"""
    assert only(sitemap(news)) == Entry(
        "Wire",
        "T",
        "https://x.example/a",
        NOON,
        guid="https://x.example/a",
        language="en",
        image="https://x.example/a.jpg",
        changed_at=dt.datetime(2026, 1, 20, tzinfo=dt.UTC),
    )


def test_a_plain_sitemap_only_bounds_the_date() -> None:
    entry = only(sitemap("<loc>https://x.example/a</loc><lastmod>2026-01-15T12:00:00Z</lastmod>"))
    assert (entry.title, entry.published_at, entry.published_at_estimated) == ("", NOON, True)


def test_an_address_without_a_date_has_no_estimate() -> None:
    entry = only(sitemap("<loc>https://x.example/a</loc>"))
    assert (entry.published_at, entry.published_at_estimated) == (None, False)


def test_an_index_of_sitemaps_is_refused_and_names_its_first_children() -> None:
    children = "".join(f"<sitemap><loc>https://x.example/{n}.xml</loc></sitemap>" for n in range(7))
    with pytest.raises(InvalidFeed, match=r"index of sitemaps.*https://x.example/0.xml.*4.xml and 2 more"):
        parse_feed(f"<sitemapindex>{children}</sitemapindex>".encode())


def test_a_news_sitemap_tells_its_last_change_beside_its_publication() -> None:
    dated = "<n:news><n:publication_date>2026-01-10</n:publication_date></n:news><lastmod>2026-01-15T12:00:00Z</lastmod>"
    entry = only(sitemap(f"<loc>https://x.example/a</loc>{dated}"))
    assert (entry.published_at, entry.changed_at, entry.published_at_estimated) == (
        dt.datetime(2026, 1, 10, tzinfo=dt.UTC),
        NOON,
        False,
    )


def index(*children: str) -> bytes:
    return f"<sitemapindex>{''.join(f'<sitemap><loc>{child}</loc></sitemap>' for child in children)}</sitemapindex>".encode()


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_an_index_of_sitemaps_is_followed(packed: Callable[[bytes], bytes]) -> None:
    found = parse_sitemap(packed(index("/a.xml.gz", "https://y.example/b.xml", " ")), url="https://x.example/map.xml")
    assert found == Sitemap([], ["https://x.example/a.xml.gz", "https://y.example/b.xml"])


@pytest.mark.parametrize("packed", [bytes, gzip.compress])
def test_a_sitemap_gives_the_entries_that_parse_gives(packed: Callable[[bytes], bytes]) -> None:
    data = sitemap("<loc>/a</loc><lastmod>2026-01-15</lastmod>", "<loc>/b</loc>")
    found = parse_sitemap(packed(data), url="https://x.example/map.xml")
    assert found == Sitemap(parse_feed(data, url="https://x.example/map.xml").entries, [])


def test_a_sitemap_that_breaks_off_gives_what_came_before() -> None:
    data = gzip.compress(sitemap(*("<loc>/a</loc>" for _ in range(5000))))
    assert parse_sitemap(data[:-20]).whole is False
    assert parse_sitemap(index("/a", "/b")[:-20]) == Sitemap([], ["/a"], whole=False)


@pytest.mark.slow
def test_more_than_a_feed_may_hold_is_read_of_a_sitemap() -> None:
    assert len(parse_sitemap(sitemap(*("<loc>/a</loc>" for _ in range(MAX_ITEMS + 1)))).entries) == MAX_ITEMS + 1
    assert len(parse_sitemap(index(*["/a"] * MAX_ITEMS)).children) == MAX_ITEMS
    with pytest.raises(InvalidFeed, match="more than 50,000"):
        parse_sitemap(index(*["/a"] * (MAX_ITEMS + 1)))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"<rss><channel/></rss>", "a feed, not a sitemap"),
        (b"<!DOCTYPE html><html>", "a web page"),
        (b"<!DOCTYPE a [<!ENTITY b 'c'>]><urlset/>", "document type"),
        (b"", "empty"),
        (b"\x1f\x8bnonsense", "damaged"),
        (gzip.compress(b"<urlset>" + b" " * (51 << 20)), "more than 50 MB"),
    ],
)
def test_what_is_no_sitemap_is_refused(data: bytes, words: str) -> None:
    with pytest.raises(InvalidFeed, match=words):
        parse_sitemap(data)


XHTML = '<div xmlns="http://www.w3.org/1999/xhtml"><p>Q<br/>&amp; <a href="/b">R</a></p></div>'


@pytest.mark.parametrize(
    ("data", "content"),
    [
        (rss("<description>Q</description><content:encoded><![CDATA[<p>Q <b>R</b></p>]]></content:encoded>"), "<p>Q <b>R</b></p>"),
        (rss("<description>short</description>"), ""),
        (atom('<summary>short</summary><content type="html">&lt;p&gt;Q&lt;/p&gt;</content>'), "<p>Q</p>"),
        (atom(f'<content type="xhtml">{XHTML}</content>'), '<div><p>Q<br>&amp; <a href="/b">R</a></p></div>'),
        (atom('<content type="text">One &lt;b&gt;\nline.\n\nTwo.</content>'), "<p>One &lt;b&gt;<br>line.</p><p>Two.</p>"),
        (atom('<content type="xhtml">a &lt; b</content>'), "a &lt; b"),
        (atom('<content type="image/png">iVBORw0KGgo=</content>'), ""),
        (atom('<content type="html" xml:base="/deep/">Q</content>'), '<base href="https://x.example/deep/">Q'),
        (json_feed({"content_html": "<p>Q</p>", "content_text": "Q"}), "<p>Q</p>"),
        (json_feed({"content_text": "Q & R\n\n<b>"}), "<p>Q &amp; R</p><p>&lt;b&gt;</p>"),
    ],
)
def test_the_full_text_of_an_item_is_html(data: bytes, content: str) -> None:
    assert only(data, "https://x.example/feed").content == content


GOOGLE = """<title>Robots - a history - Reuters</title><link>https://news.google.com/rss/articles/CBMi?oc=5</link>
<description>&lt;ol&gt;&lt;li&gt;&lt;a href="https://news.google.com/x" target="_blank"&gt;Robots - a history&lt;/a&gt;
&lt;font color="#6f6f6f"&gt;Reuters&lt;/font&gt;&lt;/li&gt;&lt;/ol&gt;</description><source url="https://www.reuters.com">Reuters</source>"""


def test_an_item_of_google_news_loses_publisher_and_list_of_links() -> None:
    entry = only(rss(GOOGLE))
    assert (entry.title, entry.summary) == ("Robots - a history", "")
    assert (entry.credited_source, entry.source_url) == ("Reuters", "https://www.reuters.com")


@pytest.mark.parametrize(
    ("url", "source"), [("https://x.example/", "Reuters"), ("https://news.google.com/1", ""), ("https://news.google.com/1", "AP")]
)
def test_a_title_keeps_what_google_has_not_added(url: str, source: str) -> None:
    entry = Entry("Wire", "Robots - Reuters", url, None, "Words.", credited_source=source)
    assert strip_google_additions(entry) == entry


@given(st.text(min_size=1), st.text(min_size=1))
def test_the_suffix_goes_once_and_then_there_is_nothing_to_do(headline: str, source: str) -> None:
    entry = Entry("Wire", f"{headline} - {source}", "https://news.google.com/1", None, credited_source=source)
    assert strip_google_additions(entry).title == headline
    if not headline.endswith(f" - {source}"):
        assert strip_google_additions(strip_google_additions(entry)) == strip_google_additions(entry)


@pytest.mark.parametrize(
    ("query", "asked"),
    [
        ("site:reuters.com", "site:reuters.com when:7d"),
        ('"AI & us" when:2d', '"AI & us" when:2d'),
        ("AI after:2026-01-01", "AI after:2026-01-01"),
        ("somewhen:x", "somewhen:x when:7d"),
    ],
)
def test_a_search_is_quoted_and_bound_in_time(query: str, asked: str) -> None:
    parts = urlsplit(build_search_url(query))
    assert (parts.scheme, parts.netloc, parts.path) == ("https", "news.google.com", "/rss/search")
    assert parse_qs(parts.query) == {"q": [asked], "hl": ["en-US"], "gl": ["US"], "ceid": ["US:en"]}


PAGE = """<!DOCTYPE html><html lang="en-GB"><head><title>Plain | Wire</title>
<meta property="og:title" content="Robots &amp; us | Wire"><meta property="og:site_name" content="Wire">
<meta property='og:description' content='It walks.'><meta name=author content="Ada"><meta property="og:image" content="/a.jpg">
<meta property="article:published_time" content="2026-01-15T12:00:00Z"><link rel="canonical" href="https://www.x.example/a">
<script>if (1 < 2) document.write("<title>No</title>")</script></head><body><p>5 < 6 & 7</p></body></html>"""


def test_a_page_gives_its_metadata() -> None:
    assert parse_page(PAGE.encode(), url="https://x.example/a?utm=1") == Entry(
        "Wire",
        "Robots & us",
        "https://www.x.example/a",
        NOON,
        "It walks.",
        "Ada",
        language="en-GB",
        image="https://x.example/a.jpg",
    )


def test_a_page_never_speaks_for_another_host() -> None:
    entry = parse_page(PAGE.encode(), url="https://evil.example/a")
    assert entry is not None
    assert entry.url == "https://evil.example/a"


def test_a_pages_linked_data_is_read_when_it_has_no_open_graph() -> None:
    data = {
        "@graph": [
            {"@type": "Organization", "name": "Wire"},
            {
                "@type": ["NewsArticle"],
                "headline": "Robots",
                "datePublished": "2026-01-15T12:00:00Z",
                "author": [{"name": "Ada"}, {"name": "Ben"}],
                "image": [{"url": "https://x.example/a.jpg"}],
            },
        ]
    }
    page = f'<title>Else</title><script type="application/ld+json">{json.dumps(data)}</script>'
    assert parse_page(page.encode(), url="https://x.example/a") == Entry(
        "", "Robots", "https://x.example/a", NOON, author="Ada, Ben", image="https://x.example/a.jpg"
    )


@pytest.mark.parametrize("title", ["Robots | Wire", "Robots - Wire", "Robots \\ Wire", "Robots – Wire", "Robots"])
def test_a_pages_title_loses_the_name_of_its_site(title: str) -> None:
    entry = parse_page(f'<title>{title}</title><meta property="og:site_name" content="Wire">'.encode())
    assert entry is not None
    assert entry.title == "Robots"


@pytest.mark.parametrize("page", ["", "<html><body>Words", "<title> </title>", "<title>never closed"])
def test_a_page_without_title_is_none(page: str) -> None:
    assert parse_page(page.encode()) is None


def test_all_descriptions_of_a_page_are_given_the_best_first_and_at_last_its_first_paragraph() -> None:
    data = json.dumps({"@type": "NewsArticle", "headline": "T", "description": "In JSON-LD."})
    page = f"""<title>T</title><meta name="description" content="For search.">
    <meta property="og:description" content="For sharing.">
    <meta name="twitter:description" content="For sharing."><script type="application/ld+json">{data}</script>
    <p>{"A banner about cookies before the article. " * 3}</p><main><header><p>{"Who wrote it and when they did. " * 3}</p></header>
    <p>By Ada</p><figure><figcaption><p>{"What the picture shows. " * 4}</p></figcaption></figure>
    <p>Quince &amp; Co has <a href="/b">shipped</a> its first robot, <em>which</em> walks through the town every day.</p>
    <p>{"Nobody has asked it where to so far. " * 3}</p></main>"""
    entry = parse_page(page.encode())
    assert entry is not None
    paragraph = "Quince & Co has shipped its first robot, which walks through the town every day."
    assert (entry.summary, *entry.other_summaries) == ("For sharing.", "For search.", "In JSON-LD.", paragraph)


def test_a_page_that_describes_itself_nowhere_has_no_summary() -> None:
    entry = parse_page(b"<title>T</title><p>Words outside of any article, however long they may go on and on.</p>")
    assert entry is not None
    assert (entry.summary, entry.other_summaries) == ("", ())


def test_a_date_beside_the_text_is_the_last_resort() -> None:
    entry = parse_page(b'<title>T</title><time itemprop="datePublished" datetime="2026-01-15T12:00:00Z">today</time>')
    assert entry is not None
    assert entry.published_at == NOON


@given(st.binary(max_size=300) | st.text("<>/!-[]&;\"'= metailnkhd?#x0{}:,").map(str.encode))
def test_any_page_is_an_entry_or_none(data: bytes) -> None:
    found = parse_page(data, url="https://x.example/")
    assert found is None or found.title
