"""A page or a feed's content as Markdown: what is kept, what is left out, what is refused."""

import html
import json
import re
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from sources.parse.article import MAX_SIZE, MAX_TAGS, Article, InvalidArticle, parse_article, to_markdown
from tests.examples import examples
from tests.sources.parse.pages import pages

PAGE = "https://x.example/news/a"
TEXT = "The first walking quince of the town was seen on the market place yesterday, where it bought a newspaper and left. " * 3


def page(body: str, head: str = "<title>Quince walks</title>") -> bytes:
    return f"<!DOCTYPE html><html><head>{head}</head><body>{body}</body></html>".encode()


@pytest.mark.parametrize(
    ("markup", "markdown"),
    [
        ("<p>One.</p><p>Two.</p>", "One.\n\nTwo."),
        ("No markup at all", "No markup at all"),
        ("One.<br><br>Two,<br>three.", "One.\n\nTwo,  \nthree."),
        ("<h2>Part <em>one</em></h2>Text", "## Part *one*\n\nText"),
        ("<b>bold </b>and <strong><i>both</i></strong>", "**bold** and ***both***"),
        ("<ul><li>a<li>b<ol start=3><li>c</ol></ul>", "- a\n- b\n  3. c"),
        ("<ol><li><p>a</p><p>b</p></li><li>c</li></ol>", "1. a\n\n   b\n\n2. c"),
        ("<blockquote><p>a</p><p>b</p></blockquote>", "> a\n>\n> b"),
        ("<pre>if a &lt; b:\n    print(`c`)\n</pre>", "```\nif a < b:\n    print(`c`)\n```"),
        ("<pre>a<br>```</pre>", "````\na\n```\n````"),
        ("Call <code>a`b</code>", "Call ``a`b``"),
        ("<table><tr><th>a<th>b|c</tr><tr><td>1</table>", "| a | b\\|c |\n| --- | --- |\n| 1 |"),
        ("<table><tr><td><p>Layout</p><ul><li>x</ul></td><td>y</td></tr></table>", "Layout\n\n- x\n\ny"),
        ("a<hr>b", "a\n\n* * *\n\nb"),
        ("10<sup>6</sup> and 5<sup>th</sup>", "10^6 and 5th"),
        ("<s>old</s> <del>gone</del>", "~~old~~ ~~gone~~"),
        ("<p hidden>", ""),
        ("", ""),
        ("<!-- note --><?php echo 1 ?>x", "x"),
        ("1. no list<br>- none<br># no heading<br>> none", "1\\. no list  \n\\- none  \n\\# no heading  \n\\> none"),
        ("a *b* _c_ snake_case [d](e) `f` \\g", "a \\*b\\* \\_c\\_ snake_case [d\\](e) \\`f\\` \\g"),
        ("&lt;script&gt; &amp;lt; AT&amp;T", "&lt;script> &amp;lt; AT&T"),
        ("5 * 3 &lt; 16! [sic] C:\\dir", "5 * 3 < 16! [sic] C:\\dir"),
        ("<b>bo</b><b>ld</b> <i>two</i> <i>words</i>", "**bold** *two words*"),
        ('<b><a href="/b"><b>so</b></a> it is</b><i>.</i>', "**[so](https://x.example/b) it is**."),
        ("<h1>Part</h1>", "## Part"),
        ("<ol start=4><li>a<li value=9>b<li>c</ol>", "4. a\n9. b\n10. c"),
        ("<ol start=x><li value=-1>a</ol>", "1. a"),
        ('<pre><code class="hljs language-python">a</code></pre>', "```python\na\n```"),
        ('<div class="highlight-source-c++"><pre>a</pre></div>', "```c++\na\n```"),
        ("<pre>\ue0007\ue000a</pre>", "```7\na\n```"),
        ("<p>zero\u200bwidth\x07 \u202ebidi</p>", "zerowidth bidi"),
    ],
)
def test_html_becomes_markdown(markup: str, markdown: str) -> None:
    assert to_markdown(markup, PAGE) == markdown


@pytest.mark.parametrize(
    ("href", "address"),
    [
        ("b?x=1", "https://x.example/news/b?x=1"),
        ("//y.example/b", "https://y.example/b"),
        ("/b?utm_source=feed&amp;id=7&amp;fbclid=abc", "https://x.example/b?id=7"),
        ("/b?utm_source=feed#part", "https://x.example/b#part"),
        ("/a b(c)&quot;&gt;", "https://x.example/a%20b%28c%29%22%3E"),
        ("/b?a=1&amp;copy;=2", "https://x.example/b?a=1&amp;copy;=2"),
    ],
)
def test_links_are_absolute_and_without_trackers(href: str, address: str) -> None:
    assert to_markdown(f'<a href="{href}">so</a>', PAGE) == f"[so]({address})"


@pytest.mark.parametrize(
    "href", ["javascript:alert(1)", " JavaScript:a", "java\nscript:a", "data:text/html,x", "mailto:a@x.example", "http://", ""]
)
def test_what_is_no_web_address_is_its_text(href: str) -> None:
    assert to_markdown(f'<a href="{href}">so</a>', PAGE) == "so"


def test_a_relative_link_without_a_base_is_its_text() -> None:
    assert to_markdown('<a href="/b">so</a>', "") == "so"


def test_the_base_element_says_what_links_are_relative_to() -> None:
    assert to_markdown('<base href="/deep/"><a href="b">so</a>', PAGE) == "[so](https://x.example/deep/b)"
    assert to_markdown('<base href="javascript:"><a href="b">so</a>', PAGE) == "[so](https://x.example/news/b)"


@pytest.mark.parametrize(
    "character", ["&#1;", "&#8;", "&#x1F;", "\x01", "&#xFFFE;", "&#xD800;", "&#0;", "<a href='/&#1;'>x</a>", "<https://x>"]
)
def test_what_no_document_may_hold_costs_a_page_nothing_else(character: str) -> None:
    body = f"<article><p>{TEXT}{character}</p><p>{character}{TEXT.upper()}</p></article>"
    markdown = parse_article(page(body), url=PAGE).markdown
    assert TEXT.strip() in markdown
    assert TEXT.strip().upper() in markdown


def test_no_picture_and_no_script_is_left() -> None:
    dropped = '<img src="https://t.example/p.gif" width=1 height=1><script>track()</script><iframe src=x></iframe>'
    assert to_markdown(f'Look!<a href="/b">here</a>{dropped}', PAGE) == "Look\\![here](https://x.example/b)"


def test_every_paragraph_of_a_feeds_content_stays() -> None:
    paragraphs = [*(made.text for made in pages(each=1)), "Short.", "Share this", "© 2026", "Read more"]
    written = to_markdown("".join(f'<div class="footer"><p>{html.escape(text)}</p></div>' for text in paragraphs), PAGE)
    assert [words(block) for block in written.split("\n\n")] == [words(text) for text in paragraphs]


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def test_a_page_gives_metadata_and_text_without_its_title() -> None:
    head = '<title>Quince walks | X</title><meta name="author" content="Ada">'
    found = parse_article(
        page(f"<nav><a href=/>Home</a></nav><article><h1>Quince walks</h1><p>{TEXT}</p></article>", head), url=PAGE
    )
    assert (found.entry.author, found.entry.url, found.markdown) == ("Ada", PAGE, TEXT.strip())


def test_another_heading_than_the_title_stays() -> None:
    found = parse_article(page(f"<article><h2>Part one</h2><p>{TEXT}</p></article>"), url=PAGE)
    assert found.markdown.startswith("## Part one\n\n")


def test_a_page_without_a_title_has_its_heading() -> None:
    found = parse_article(page(f"<article><h1>Quinces &amp; <i>pears</i></h1><p>{TEXT}</p></article>", head=""), url=PAGE)
    assert found.entry.title == "Quinces &amp; pears"
    assert found.markdown == TEXT.strip()


def test_a_page_with_nothing_around_its_text_keeps_lists_and_code_in_their_places() -> None:
    body = (
        f'<p><a href="/">Home</a> / <a href="/kitchen/">Kitchen</a></p><h1>Quince walks</h1><p>{TEXT}</p>'
        f"<ol><li>Use <code>a</code> for it.</li><li>Wait.</li></ol><p>{TEXT}</p>"
    )
    found = parse_article(page(body, "<title>Quince walks | The Chef</title>"), url=PAGE)
    assert found.entry.title == "Quince walks"
    assert found.markdown == f"{TEXT.strip()}\n\n1. Use `a` for it.\n2. Wait.\n\n{TEXT.strip()}"


def test_bare_paragraphs_beside_a_text_make_no_article_of_the_menu() -> None:
    notes = "<p>We use cookies.</p><p>Subscribe to our letter.</p>"
    told = [f"Part {number}. {TEXT.strip()}" for number in range(5)]
    body = f'{notes}<div><ul><li>Home</li></ul></div><div class="x">{"".join(f"<p>{part}</p>" for part in told)}</div>'
    markdown = parse_article(page(body), url=PAGE).markdown
    assert [part for part in told if part not in markdown] == []
    assert "Home" not in markdown


@pytest.mark.parametrize(
    ("title", "heading", "expected"),
    [
        ("Quince walks | The Chef", "Quince walks", "Quince walks"),
        ("Quince &amp; plum - The Chef", "Quince &amp; plum", "Quince &amp; plum"),
        ("The Chef | Quince walks", "The Chef", "The Chef | Quince walks"),
        ("Quince walks home", "Quince walks", "Quince walks home"),
        ("Quince walks | The Chef", "Plum sits", "Quince walks | The Chef"),
        ("Quince walks | The Chef", "", "Quince walks | The Chef"),
    ],
)
def test_a_sites_name_behind_a_title_is_left_out_where_the_heading_says_so(title: str, heading: str, expected: str) -> None:
    data = page(f"<article><h1>{heading}</h1><p>{TEXT}</p></article>", f"<title>{title}</title>")
    assert parse_article(data, url=PAGE).entry.title == expected


def test_code_lists_and_tables_of_a_page_are_kept() -> None:
    extra = "<pre>plain lines\nof a poem</pre><ol><li>one thing</li><li>another</li></ol>"
    extra += "<p>Call <code>run()</code>, and 10<sup>6</sup></p>"
    table = "<table><tr><th>name</th><th>size</th></tr><tr><td>quince</td><td>7</td></tr></table>"
    markdown = parse_article(page(f"<article><p>{TEXT}</p>{extra}{table}<p>{TEXT}</p></article>"), url=PAGE).markdown
    for block in (
        "```\nplain lines\nof a poem\n```",
        "1. one thing\n2. another",
        "Call `run()`, and 10^6",
        "| name | size |\n| --- | --- |",
    ):
        assert f"\n\n{block}" in markdown


def test_a_figure_of_a_page_leaves_its_words_and_its_code() -> None:
    figures = (
        '<figure><img src=a.jpg alt="A"><figcaption>A quince, <b>yesterday</b>.</figcaption></figure>'
        '<div><figure><img src=b.jpg alt="Two quinces"></figure></div><figure><img src=c.jpg alt="c.jpg"></figure>'
        '<figure class="highlight"><pre><code class="lang-js">run()</code></pre></figure>'
    )
    body = f'<article><figure><img src=0.jpg alt="The lead picture"></figure><p>{TEXT}</p>{figures}<p>{TEXT}</p></article>'
    markdown = parse_article(page(body), url=PAGE).markdown
    middle = "*A quince, yesterday.*\n\n*Two quinces*\n\n```js\nrun()\n```"
    assert markdown == f"{TEXT.strip()}\n\n{middle}\n\n{TEXT.strip()}"


def test_what_readers_write_below_an_article_is_not_its_text() -> None:
    vote = '<div class=valora><a href="#">Vote</a> <a href="#">Report this one</a></div>'
    comment = f"<div class=row><div class=sf_comment_text><p>A fool wrote this.</p></div>{vote}</div>"
    body = f"<article><div class=cuerpo><p>{TEXT}</p></div><div class=box id=sf_comment_list>{9 * comment}</div></article>"
    assert parse_article(page(body), url=PAGE).markdown == TEXT.strip()


def test_a_date_that_never_ends_keeps_the_text_behind_it() -> None:
    body = f"<article><time datetime=2026-03-02>2 March<p>{TEXT}</p></article>"
    assert TEXT.strip() in parse_article(page(body), url=PAGE).markdown


def test_what_belongs_to_the_page_around_a_text_is_left_out() -> None:
    above = "<p>By <a href=/ada>Ada Lovelace</a></p><p>Advertisement</p>"
    below = "<h2>Comments (3)</h2><p>Sign up for our weekly newsletter today.</p><h3>More</h3>"
    other = TEXT.replace("quince", "marmot")
    found = parse_article(page(f"<article>{above}<p>{TEXT}</p><p>{other}</p>{below}</article>"), url=PAGE)
    assert (found.entry.author, found.markdown) == ("Ada Lovelace", f"{TEXT.strip()}\n\n{other.strip()}")


@pytest.mark.parametrize(
    "hidden",
    [
        f"<script>for (i=0;i<n;i++) {' '.join(f'a{n}' for n in range(300))}</script>",
        f"<style>a<b {' '.join(f'a{n}' for n in range(300))}</style>",
        f"<!-- if a<b {' '.join(f'a{n}' for n in range(300))} -->",
        "<SCRIPT>" + "i<n;" * MAX_TAGS + "</script >",
    ],
)
def test_scripts_styles_and_comments_are_no_tags(hidden: str) -> None:
    assert parse_article(page(f"{hidden}<article><p>{TEXT}</p></article>"), url=PAGE).markdown == TEXT.strip()


@pytest.mark.parametrize("hidden", ["<!-->", "<!--->", "<!-- --!>"])
def test_a_tag_behind_an_empty_comment_is_one(hidden: str) -> None:
    crowded = "<p " + " ".join(f"a{n}" for n in range(300)) + ">"
    with pytest.raises(InvalidArticle, match="more than 200 attributes"):
        parse_article(page(f"{hidden}{crowded}<article><p>{TEXT}</p></article>"), url=PAGE)


PAYWALL = json.dumps({"@type": "NewsArticle", "headline": "Quince", "isAccessibleForFree": "False"})
LOGIN = '<form action="/login"><input name=user><input type="password" name=word></form>'


@pytest.mark.parametrize(
    ("data", "content_type", "code"),
    [
        (b"%PDF-1.7 ...", "application/pdf", "not_html"),
        (b"%PDF-1.7 <html>", "text/html", "not_html"),
        (b"\x89PNG\r\n", "", "not_html"),
        (b'{"a": 1}', "application/json", "not_html"),
        (b'{"a": 1}', "text/html", "not_html"),
        (b"words without markup", "text/plain", "not_html"),
        (b"<?xml version='1.0'?><rss><channel/></rss>", "text/xml", "not_html"),
        (b"", "text/html", "no_text"),
        (page(""), "text/html", "no_text"),
        (page("<nav><a href=/>Home</a></nav><p>Soon.</p>"), "", "no_text"),
        (page(f"<p>{TEXT}</p>", f'<title>Q</title><script type="application/ld+json">{PAYWALL}</script>'), "", "login_wall"),
        (page(f"<p>Please log in to read on.</p>{LOGIN}"), "", "login_wall"),
        (page("<p>x</p>" * (MAX_TAGS // 2)), "", "too_complex"),
        (page("<p>" + "<a>" * 200_000), "", "too_complex"),
        (page("<p " + " ".join(f"a{n}=1" for n in range(200_000)) + ">"), "", "too_complex"),
        (b"<p>" + b"x" * MAX_SIZE, "", "too_large"),
    ],
)
def test_what_is_no_article_is_refused_with_its_code(data: bytes, content_type: str, code: str) -> None:
    with pytest.raises(InvalidArticle) as refusal:
        parse_article(data, content_type=content_type, url=PAGE)
    assert refusal.value.code == code
    assert re.fullmatch(r"[A-Z].*\.", str(refusal.value))


@pytest.mark.parametrize("start", ["", "<?xml version='1.0'?>"])
def test_an_entity_that_a_page_declares_is_none(start: str) -> None:
    declared = '<!DOCTYPE html [<!ENTITY a SYSTEM "file:///etc/hostname"> <!ENTITY b "laughter">]>'
    text = f"{start}{declared}<html><body><article><p>{TEXT} &a; &b;</p></article></body></html>"
    assert parse_article(text.encode(), url=PAGE).markdown.endswith("&amp;a; &amp;b;")
    assert to_markdown(f"{declared}&a; &b;", PAGE).endswith("&amp;a; &amp;b;")


def test_an_article_beside_a_login_is_read() -> None:
    assert parse_article(page(f"{LOGIN}<article><p>{TEXT * 3}</p></article>"), url=PAGE).markdown


@pytest.mark.parametrize(
    "broken",
    [
        f"<article><p>{TEXT}<p>{TEXT}",
        f"<html><body><article><p>{TEXT}</b></div></p></article><p",
        f"<article><h1>x<p>{TEXT}</h1></article></html></body>",
        f"<body><div><article><p>{TEXT}</article></div><table><tr>",
        f"<?xml version='1.0' encoding='latin-1'?><html><body><p>{TEXT}</p></body></html>",
    ],
)
def test_broken_html_is_read_as_far_as_it_goes(broken: str) -> None:
    assert TEXT.strip() in parse_article(broken.encode(), url=PAGE).markdown


@pytest.mark.parametrize(
    "text", ["<p " + "a " * 2_000_000 + ">", "<base href=" + " " * 2_000_000, " " * 2_000_000, "<a " * 40_000, "*" * 2_000_000]
)
@pytest.mark.slow
def test_a_hostile_content_costs_no_more_than_its_size(text: str) -> None:
    with suppress(InvalidArticle):
        to_markdown(text + "x", PAGE)


TAGS = """
a p div b em i s code pre ul ol li blockquote table tr td th h1 h2 br hr sup script style img iframe svg math article nav
"""
ATTRIBUTES = [
    *(
        'href="javascript:alert(1)"',
        'href="/b?utm_source=x"',
        "href='//y.example/(x'",
        'href="data:text/html,x"',
        'href="mailto:a@b"',
    ),
    *(
        'href="https://y.example/a b|`c`"',
        'src="x" onerror="a()"',
        'start="7"',
        "hidden",
        'href="&#106;avascript:x"',
        "href",
        "'\"<",
    ),
]
SNIPPETS = [
    *(
        "<script>alert(1)</script>",
        "[x](javascript:y)",
        "![x](/p.gif)",
        "<!--",
        "-->",
        "]]>",
        "&lt;script&gt;",
        "&#60;img src=x&#62;",
    ),
    *(
        "[a]: javascript:x",
        "[a]",
        "```\n",
        "~~~",
        "    code",
        "<b",
        "\0",
        "&",
        "!",
        "]",
        "(/x)",
        "\\",
        "| a | b |\n| - | - |",
        "<https://x>",
    ),
    *("---", "===", "# x", "> x", "- x", "7. x", "javascript:", "<a href=/x>", "</a>", "http://x.example", TEXT),
]
tags = st.tuples(
    st.sampled_from(["<", "</"]), st.sampled_from(TAGS.split()), st.lists(st.sampled_from(ATTRIBUTES), max_size=2)
).map(lambda tag: f"{tag[0]}{' '.join((tag[1], *tag[2]))}>")
markup = st.lists(tags | st.sampled_from(SNIPPETS) | st.text(max_size=8), max_size=30).map("".join)


@given(markup, st.sampled_from([PAGE, "", "nonsense", "https://["]))
def test_no_markup_picture_or_relative_link_gets_through(text: str, url: str) -> None:
    with suppress(InvalidArticle):
        assert_is_clean(to_markdown(text, url))


def test_text_like_a_picture_within_a_link_becomes_none() -> None:
    assert_is_clean(to_markdown("<p><a href=/x>![x](/p.gif)</a></p>", PAGE))


def test_control_characters_beside_notes_are_left_out() -> None:
    assert to_markdown("<ol><li value=3>a\x01b</li></ol><pre class=language-x>c\x02</pre>", PAGE) == "3. ab\n\n```x\nc\n```"


@given(markup, st.binary(max_size=20), st.sampled_from(["text/html", "text/html; charset=utf-16", "", "x/y"]))
@examples(60)
def test_a_page_is_read_or_refused(text: str, noise: bytes, content_type: str) -> None:
    body = f"<article><p>{TEXT}</p>{text}<p>{TEXT}</p></article>".encode("utf-8", "replace")
    with suppress(InvalidArticle):
        assert_is_clean(parse_article(body + noise, content_type=content_type, url=PAGE).markdown)


def assert_is_clean(markdown: str) -> None:
    """Whoever renders the Markdown, raw HTML allowed, shows no element that it was not written for."""
    assert "<script" not in markdown.lower()
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f\u200b\u202e]", markdown)
    for token in every(MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(markdown)):
        assert token.type not in {"html_block", "html_inline", "image"}
        if token.type == "link_open":
            assert re.match(r"https?://[^/]", str(token.attrs["href"]))


def every(tokens: list[Token]) -> list[Token]:
    return [found for token in tokens for found in (token, *every(token.children or []))]


def test_generated_pages_leave_no_script_tracker_or_relative_link() -> None:
    for one in pages(each=1):
        found = parse_article(one.html.encode(), url=one.url)
        assert isinstance(found, Article)
        assert "(https://news.example/topic?id=7)" in found.markdown
        assert not re.search(r"tracker|utm_|\]\((?!https?://)", found.markdown)
        assert_is_clean(found.markdown)
