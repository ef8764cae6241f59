"""What an entry takes from RSS, Atom and RDF."""

import datetime as dt
from contextlib import suppress
from xml.sax.saxutils import escape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sources.entries import Entry
from sources.parse import InvalidFeed, Parsed, parse_feed
from wire.text.plain_text import plain_text


def rss(*items: str, head: str = "<title>Wire</title>") -> bytes:
    return f'<rss version="2.0"><channel>{head}{"".join(f"<item>{item}</item>" for item in items)}</channel></rss>'.encode()


def atom(*entries: str, head: str = "<title>Wire</title>") -> bytes:
    body = "".join(f"<entry>{entry}</entry>" for entry in entries)
    return f'<feed xmlns="http://www.w3.org/2005/Atom">{head}{body}</feed>'.encode()


def only(data: bytes, url: str = "") -> Entry:
    (entry,) = parse_feed(data, url=url).entries
    return entry


def test_an_rss_item_gives_its_fields() -> None:
    item = """<title>Robots &amp; us</title><link>https://x.example/1</link><guid isPermaLink="false">7</guid>
    <pubDate>Thu, 15 Jan 2026 10:00:00 +0100</pubDate><description>It walks.</description><author>ada@x.example (Ada)</author>
    <source url="https://r.example">Reuters</source><enclosure url="https://x.example/1.jpg" type="image/jpeg" length="1"/>"""
    assert parse_feed(rss(item, head="<title>Wire</title><language>en-GB</language>")) == Parsed(
        [
            Entry(
                publisher="Wire",
                title="Robots & us",
                url="https://x.example/1",
                published_at=dt.datetime(2026, 1, 15, 9, tzinfo=dt.UTC),
                summary="It walks.",
                author="ada@x.example (Ada)",
                guid="7",
                credited_source="Reuters",
                language="en-GB",
                image="https://x.example/1.jpg",
                source_url="https://r.example",
            )
        ],
        "Wire",
        "rss",
    )


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (rss(), "rss"),
        (atom(), "atom"),
        (b'<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"/>', "rdf"),
        (b'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"/>', "sitemap"),
        (b'{"version":"https://jsonfeed.org/version/1.1","items":[]}', "json"),
    ],
)
def test_a_feed_without_items_is_no_error(data: bytes, kind: str) -> None:
    parsed = parse_feed(data, content_type="text/html")
    assert (parsed.entries, parsed.kind) == ([], kind)


@pytest.mark.parametrize(
    ("links", "expected"),
    [
        ('<link href="/none"/>', "/none"),
        ('<link rel="self" href="/self"/><link rel="alternate" href="/page"/>', "/page"),
        ('<link rel="alternate" type="application/json" href="/data"/><link type="text/html" href="/page"/>', "/page"),
        ('<link rel="enclosure" href="/sound"/><id>https://x.example/id</id>', "/id"),
        ('<link rel="enclosure">Listen</link><link href="/page"/>', "/page"),
        ('<link rel="enclosure">/sound</link><id>https://x.example/id</id>', "/id"),
        ('<link rel="self">/self</link>', ""),
        ('<link rel="">/page</link>', "/page"),
        ('<link rel=" Alternate " href="/page"/>', "/page"),
        ('<id>tag:x.example,2026:1</id><link rel="edit" href="/edit"/>', ""),
    ],
)
def test_atom_prefers_the_alternate_page(links: str, expected: str) -> None:
    assert only(atom(links), "https://x.example/feed").url == (f"https://x.example{expected}" if expected else "")


def test_feedburners_original_link_goes_before_its_own() -> None:
    original = '<feedburner:origLink xmlns:feedburner="http://rssnamespace.org/feedburner/ext/1.0">https://x.example/a</feedburner:origLink>'
    assert only(rss("<link>https://feedproxy.example/~r/1</link>" + original)).url == "https://x.example/a"


@pytest.mark.parametrize(
    ("guid", "url"),
    [
        ("<guid>https://x.example/a</guid>", "https://x.example/a"),
        ('<guid isPermaLink="false">https://x.example/a</guid>', ""),
        ("<guid>17</guid>", ""),
    ],
)
def test_a_guid_is_the_link_when_there_is_none_and_it_can_be_one(guid: str, url: str) -> None:
    assert only(rss(guid)).url == url


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (rss("<link>/a</link>", head="<link>https://site.example/blog/</link>"), "https://site.example/a"),
        (rss("<link>/a</link>"), "https://feeds.example/a"),
        (atom('<link href="a"/>', head='<link href="/blog/"/>'), "https://feeds.example/a"),
        (atom('<link href="a"/>', head='<link href="https://site.example/"/>'), "https://feeds.example/a"),
        (atom('<link href="//host.example/a"/>'), "https://host.example/a"),
        (
            b'<rss xml:base="https://base.example/x/"><channel><link>https://site.example/</link><item><link>a</link></item></channel></rss>',
            "https://base.example/x/a",
        ),
        (
            b'<feed><link href="https://site.example/"/><entry><link xml:base="/y/" href="a"/></entry></feed>',
            "https://feeds.example/y/a",
        ),
        (rss("<link>https://other.example/a</link>"), "https://other.example/a"),
        (rss("<link>javascript:alert(1)</link>"), "javascript:alert(1)"),
        (rss("<link>http://[bad</link>"), "http://[bad"),
        (
            b'<feed xml:base="https://base.example/x/"><entry xml:base="y/"><link href="a"/></entry></feed>',
            "https://base.example/x/y/a",
        ),
    ],
)
def test_a_relative_link_is_resolved_against_base_site_or_address(data: bytes, expected: str) -> None:
    assert only(data, "https://feeds.example/x.rss").url == expected


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ('<link rel="self" href="https://x.example/blog/feed.xml"/><link href="https://x.example/"/>', "https://x.example/blog/a"),
        ('<link href="https://x.example/"/>', "https://x.example/a"),
        ("", "a"),
    ],
)
def test_a_feed_out_of_an_archive_says_itself_what_its_links_are_relative_to(head: str, expected: str) -> None:
    assert only(atom('<link href="a"/>', head=head)).url == expected


def test_all_addresses_of_an_atom_entry_have_the_same_base() -> None:
    source = '<source><title>Reuters</title><link href="/"/></source>'
    fields = f'<link href="a"/><link rel="enclosure" type="image/png" href="a.png"/>{source}'
    entry = only(atom(fields, head='<link href="https://site.example/"/>'), "https://feeds.example/x/feed")
    assert (entry.url, entry.image) == ("https://feeds.example/x/a", "https://feeds.example/x/a.png")
    assert entry.source_url == "https://feeds.example/"


MEDIA = 'xmlns:media="http://search.yahoo.com/mrss/"'


@pytest.mark.parametrize(
    ("markup", "expected"),
    [
        (f'<media:content {MEDIA} url="/a.jpg" medium="image"/>', "https://x.example/a.jpg"),
        (
            f'<media:group {MEDIA}><media:content url="/v.mp4" type="video/mp4"/><media:content url="/a.png"/></media:group>',
            "/a.png",
        ),
        (f'<media:thumbnail {MEDIA} url="/t.jpg"/>', "https://x.example/t.jpg"),
        (f'<media:thumbnail {MEDIA} url="/t.jpg"/><media:content {MEDIA} url="/a.jpg"/>', "https://x.example/a.jpg"),
        ('<enclosure url="/e.mp3" type="audio/mpeg"/><enclosure url="/e.webp" type="image/webp"/>', "https://x.example/e.webp"),
        ('<itunes:image href="/i.jpg"/>', "https://x.example/i.jpg"),
        ("<image><url>/own.gif</url></image>", "https://x.example/own.gif"),
        ('<enclosure url="javascript:alert(1)" type="image/png"/>', ""),
        ('<enclosure url="data:image/png;base64,AA" type="image/png"/>', ""),
        ('<enclosure url="/sound.mp3" type="audio/mpeg"/>', ""),
        ('<enclosure type="image/png">A picture</enclosure>', ""),
        ('<link rel="enclosure" type="image/png">A picture</link>', ""),
        ("<image>A picture</image>", ""),
        ("<image>https://x.example/own.gif</image>", "https://x.example/own.gif"),
    ],
)
def test_an_image_is_an_absolute_web_address_or_nothing(markup: str, expected: str) -> None:
    image = only(rss(markup), "https://x.example/feed").image
    assert image == (f"https://x.example{expected}" if expected.startswith("/") else expected)


DC = 'xmlns:dc="http://purl.org/dc/elements/1.1/"'


@pytest.mark.parametrize(
    ("data", "author"),
    [
        (rss(f"<author>a@x.example</author><dc:creator {DC}>Ada</dc:creator><dc:creator {DC}>Ben</dc:creator>"), "Ada, Ben"),
        (atom("<author><name>Ada</name><email>a@x.example</email></author><author><name>Ada</name></author>"), "Ada"),
        (atom("", head="<author><name>House</name></author>"), "House"),
        (atom("<author><name>Ada</name></author>", head="<author><name>House</name></author>"), "Ada"),
        (rss("", head="<managingEditor>House</managingEditor>"), ""),
    ],
)
def test_authors_are_joined_once_each(data: bytes, author: str) -> None:
    assert only(data).author == author


XHTML = 'xmlns:xhtml="http://www.w3.org/1999/xhtml"'


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ("<content:encoded>long</content:encoded><description>short</description>", "short"),
        ("<content:encoded>long</content:encoded><description/>", "long"),
        ("<description>a <b>bold</b> &lt; word</description>", "a <b>bold</b> &lt; word"),
        ("<description><![CDATA[<p>It &amp; we</p>]]></description>", "<p>It &amp; we</p>"),
        (
            f"<xhtml:body {XHTML}><xhtml:p>It &amp;amp; <xhtml:b>we</xhtml:b></xhtml:p></xhtml:body>",
            "<p>It &amp;amp; <b>we</b></p>",
        ),
        ('<body xmlns="http://www.w3.org/1999/xhtml"><p>It walks.</p></body><link>/a</link>', "<p>It walks.</p>"),
        ("<xhtml:body><p>It walks.</p></xhtml:body>", "<p>It walks.</p>"),
        (f"<xhtml:body {XHTML}><p>long</p></xhtml:body><description>short</description>", "short"),
    ],
)
def test_a_summary_goes_before_the_content(fields: str, expected: str) -> None:
    assert only(rss(fields)).summary == expected


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ('<title mode="base64">Um9ib3Rz</title>', "Robots"),
        ('<title mode="base64" type="text/plain">\n VGhlID\n xiPiB0YWc=\n</title>', "The &lt;b&gt; tag"),
        ('<title mode="base64">Robots walk again</title>', "Robots walk again"),
        ('<title type="image/png">iVBORw0KGgo=</title>', ""),
        ('<title type="Application/Octet-Stream">Um9ib3Rz</title><dc:title>Robots</dc:title>', "Robots"),
        ('<title type="text/html; charset=utf-8">Robots</title>', "Robots"),
        ('<title type="text/markdown">Robots</title>', "Robots"),
        ('<title type="application/xhtml+xml">Robots</title>', "Robots"),
        ('<title type="text">The &lt;b&gt; tag</title>', "The &lt;b&gt; tag"),
        ('<media:title type="plain">The &lt;b&gt; tag</media:title>', "The &lt;b&gt; tag"),
    ],
)
def test_what_is_no_text_is_no_headline_and_what_is_no_markup_keeps_its_angle_brackets(title: str, expected: str) -> None:
    assert only(atom(title)).title == expected


def test_content_that_is_no_text_is_no_summary() -> None:
    assert only(atom('<content type="application/json">{}</content>')).summary == ""


def test_an_elements_own_language_goes_before_the_feeds() -> None:
    data = b'<feed xml:lang="de"><entry xml:lang="fr"/><entry/></feed>'
    assert [entry.language for entry in parse_feed(data).entries] == ["fr", "de"]


@pytest.mark.parametrize(
    ("dates", "day"),
    [
        ("<updated>2026-01-16</updated><published>2026-01-15</published>", 15),
        ("<updated>2026-01-16</updated>", 16),
        ("<published>2026-13-45</published><updated>2026-01-16</updated>", 16),
        ("<published>0000-00-00</published>", None),
    ],
)
def test_published_goes_before_updated_and_an_absurd_date_is_none(dates: str, day: int | None) -> None:
    found = only(atom(dates)).published_at
    assert found == (dt.datetime(2026, 1, day, tzinfo=dt.UTC) if day else None)


WORDS = st.text(st.characters(categories=["L", "N", "P", "S"], exclude_characters="&"), min_size=1)  # a & may begin a reference


@given(st.lists(st.tuples(WORDS, st.integers(0)), max_size=8))
def test_what_was_written_is_read_back(items: list[tuple[str, int]]) -> None:
    written = [(title, f"https://x.example/{number}") for title, number in items]
    parsed = parse_feed(rss(*(f"<title>{escape(title)}</title><link>{link}</link>" for title, link in written)))
    assert [(entry.title.replace("&lt;", "<"), entry.url) for entry in parsed.entries] == written


@pytest.mark.parametrize(
    ("escaped", "headline"),
    [
        ("When a&lt;b in maths", "When a<b in maths"),
        ("I &lt;3 robots", "I <3 robots"),
        ("1 &lt; 2 &gt; 1 and a&lt;b&gt;c", "1 < 2 > 1 and a<b>c"),
        ("Use &lt;svg&gt; or &lt;canvas&gt; for charts", "Use <svg> or <canvas> for charts"),
        ("How to close a &lt;script&gt; tag", "How to close a <script> tag"),
        ("&lt;Robots&gt; in angle brackets", "<Robots> in angle brackets"),
        ("Mail to &lt;ada@example.org&gt; leaks", "Mail to <ada@example.org> leaks"),
        ("A &lt;!-- note --&gt; in a title", "A <!-- note --> in a title"),
        ("&lt;b&gt;Bold&lt;/b&gt; claims", "Bold claims"),
        ("<![CDATA[The <em>last</em> robot]]>", "The last robot"),
        ("&lt;p&gt;Whole title&lt;/p&gt;", "Whole title"),
        ("AT&amp;amp;T signs", "AT&T signs"),
        ("AT&amp;amp;amp;T signs", "AT&T signs"),
        ("<![CDATA[Don&amp;#8217;t trust]]>", "Don’t trust"),
        ("The &amp;lt;b&amp;gt; tag", "The <b> tag"),
    ],
)
def test_a_plain_title_keeps_its_words(escaped: str, headline: str) -> None:
    assert plain_text(only(rss(f"<title>{escaped}</title>")).title, 1000) == headline


@given(st.lists(WORDS, min_size=1, max_size=6))
def test_a_plain_title_of_any_words_and_loose_tags_loses_nothing(words: list[str]) -> None:
    title = " <svg> ".join(words)
    read = only(rss(f"<title>{escape(title)}</title>")).title
    assert read.replace("&lt;", "<") == title


@given(st.binary(max_size=300) | st.binary(max_size=200).map(lambda middle: b"<rss><channel><item>" + middle + b"</item>"))
def test_any_bytes_end_in_entries_or_a_refusal(data: bytes) -> None:
    with suppress(InvalidFeed):
        assert len(parse_feed(data).entries) <= len(data)


@given(st.text("<>/!-[]&;\"'= abit?CDAT#x0", max_size=120))
def test_any_broken_markup_ends_in_entries_or_a_refusal(markup: str) -> None:
    with suppress(InvalidFeed):
        assert len(parse_feed(f"<rss><item>{markup}</item></rss>".encode()).entries) <= 1
