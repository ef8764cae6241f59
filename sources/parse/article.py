"""Text of articles as Markdown: of a page, boilerplate left out, or of what a feed gives as its full content.

Pages should go through `extractor`: some cost trafilatura seconds, and only a process can be ended.
"""

import html
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal

from lxml.html import HTMLParser, document_fromstring

from sources.entries import Entry
from sources.parse import page_metadata
from sources.parse.charsets import decode_text
from sources.parse.links import resolve_web_link
from sources.parse.markdown import Element, move_attributes_to_text, render_markdown

MAX_SIZE: Final = 5 << 20  # bytes, or characters of a feed's content; as much as is fetched
MAX_TAGS: Final = 50_000  # "<"; real pages have up to 3,229, and 200,000 cost trafilatura 9.7 s
MAX_ABOVE: Final = 3  # blocks at the top of a text, of which one may be its title
MAX_BESIDE: Final = 30  # characters of a byline that are no names
FEW: Final = 600  # characters up to which a page with a password field is a login
_TOO_LARGE: Final = f"The page is larger than {MAX_SIZE >> 20} MB; it was refused unread."
_BROKEN: Final = "The page's markup could not be read."
_HTML_TYPES: Final = {
    *("", "text/html", "text/plain", "application/octet-stream", "application/xhtml+xml", "text/xml", "application/xml")
}
# How other files begin.
_OTHERS: Final = (
    *(b"%PDF", b"PK\x03\x04", b"\x89PNG", b"\xff\xd8\xff", b"GIF8", b"RIFF", b"\x1f\x8b", b"{\\rtf", b"\xd0\xcf\x11\xe0"),
)
_FIRST_TAG: Final = re.compile(r"<(?:!doctype\s+)?([a-z][\w:-]*)", re.I)
_BASE: Final = re.compile(r"""<base\s[^<>]{0,500}?\bhref\s{0,9}=\s{0,9}(?:"([^"<>]*)"|'([^'<>]*)'|([^\s"'<>]+))""", re.I)
_PASSWORD: Final = re.compile(r"""<input\s[^<>]{0,500}?\btype\s{0,9}=\s{0,9}["']?password\b""", re.I)
_TARGET: Final = re.compile(r"\]\([^()]*\)")
# Blocks that belong to the page around a text.
_LEFTOVER: Final = re.compile(
    r"(?:#+ |\*\*)?(?:advertisement|(?:\d+ )?comments?(?: \(\d+\))?|leave a (?:comment|reply)|share (?:this|on)\b.{0,40}"
    r"|(?:sign up|subscribe|register)\b.{0,80}\bnewsletters?\b.{0,60})(?:\*\*)?",
    re.I,
)
# What stands in these is no tag, whatever it looks like; one that never ends reaches to the end (HTML §13.2.5).
_CODE: Final = re.compile(r"<!--(?:-?>|.*?(?:--!?>|\Z))|<(script|style)(?=[\s/>]).*?(?:</\1(?=[\s/>])|\Z)", re.I | re.S)
# A tag with 200 attributes, as HTML §13.2.5 reads them, long names counting more than once: libxml2 compares each attribute with
# all others of its tag, and takes 10 s for 40,000.
_CROWDED: Final = re.compile(
    r"""<[a-z][^\s/>]{0,99}+
    (?: [\s/]*+ [^\s/>][^\s/>=]{0,199}+ (?> \s*+ = \s*+ (?> "[^"]*+" | '[^']*+' | [^\s>]{0,1999}+ ) )?+ ){200,200}+""",
    re.I | re.X,
)
# What no XML may hold (XML 1.0 §2.2), as itself or as a reference: lxml refuses to write such a text, and trafilatura gives up.
_CONTROL: Final = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]"
    r"|&#(?:x0*(?:[0-8bcef]|1[0-9a-f]|fff[ef])|0*(?:[0-8]|1[124-9]|2[0-9]|3[01]|6553[45]))(?:;|(?![0-9a-f]))",
    re.I,
)
_STYLES: Final = {"#b": "strong", "#i": "em", "#t": "code", "#sup": "sup", "#sub": "sub"}
_NAMES: Final = {"item": "li", "lb": "br", "row": "tr", "cell": "td", "quote": "blockquote"}

Code = Literal["not_html", "too_complex", "login_wall", "not_found_page", "no_text", "too_large", "timeout", "broken"]


class InvalidArticle(ValueError):
    """There is no article to be read; `code` is stable, the message is a sentence."""

    def __init__(self, code: Code, message: str) -> None:
        super().__init__(message)
        self.code: Final = code


@dataclass(frozen=True, slots=True)
class Article:
    """A page's metadata, untrusted as any entry, and its text: Markdown without HTML, pictures, trackers and relative links."""

    entry: Entry
    markdown: str


def to_markdown(html: str, url: str) -> str:
    """Return a feed's full content as Markdown, links resolved against its `<base>`, else `url`; empty if it has no text.

    Raises: InvalidArticle too_large, too_complex.
    """
    _check_size(_CODE.sub("", html))
    parser = HTMLParser(encoding="utf-8")
    text = _CONTROL.sub("", f"<html><body>{html}")  # lxml takes these from a page, but not when a text is set
    root = document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    move_attributes_to_text(root)
    return "\n\n".join(render_markdown(root, _find_base(html, url)))


def parse_article(data: bytes, *, content_type: str = "", url: str = "") -> Article:
    """Return the article that a page shows. `content_type` is the header as sent, `url` where the page came from, after redirects.

    A heading that repeats the title is left out, and so is the site's name behind a title; a main heading stands in for a title.
    Raises: InvalidArticle not_html, too_large, too_complex, login_wall, not_found_page, no_text, broken.
    """
    if len(data) > MAX_SIZE:
        raise InvalidArticle("too_large", _TOO_LARGE)
    text, bare = _decode_page(data, content_type)
    _check_size(bare)
    entry, is_paid = page_metadata.parse_page_text(text, url)
    if is_paid:
        raise InvalidArticle("login_wall", "The page says that only subscribers may read it.")
    tree = _load_tree(text)
    headings = [] if tree is None else [" ".join(" ".join(heading.itertext()).split()) for heading in tree.iter("h1")]
    heading = next(iter(headings), "")
    if entry.is_not_found if entry else page_metadata.is_not_found_title(heading):
        raise InvalidArticle("not_found_page", "The page says that it does not exist, though its server answers as if it did.")
    if entry is None:
        entry = Entry(publisher="", title=html.escape(heading, quote=False), url=url, published_at=None)
    else:
        entry = replace(entry, title=_strip_site_name(entry.title, headings))
    if tree is not None:
        moment = entry.published_at or page_metadata.find_page_date(tree, url)
        names = page_metadata.parse_byline(entry.author, entry.publisher) or page_metadata.find_page_authors(tree)
        entry = replace(entry, published_at=moment, author=names or entry.author)
    body = None if tree is None else _extract_body(tree)
    blocks = [] if body is None else render_markdown(body, _find_base(bare, url))
    repeated = (place for place, block in enumerate(blocks[:MAX_ABOVE]) if _repeats_title(block, entry.title))
    del blocks[: next(repeated, -1) + 1]
    blocks = [
        block
        for place, block in enumerate(blocks)
        if not _LEFTOVER.fullmatch(block) and not (place < MAX_ABOVE and _is_byline(block, entry.author))
    ]
    while blocks and blocks[-1].startswith("#"):  # it heads what was left out
        del blocks[-1]
    markdown = "\n\n".join(blocks)
    if len(markdown) < FEW and _PASSWORD.search(bare):
        raise InvalidArticle("login_wall", "The page asks for a password and shows no article.")
    if len(markdown) < 80:  # characters of an article
        raise InvalidArticle("no_text", "The page has no text that looks like an article.")
    return Article(entry, markdown)


def _decode_page(data: bytes, content_type: str) -> tuple[str, str]:
    """Return a page's text, and that without scripts, styles and comments. Raises: InvalidArticle not_html, no_text."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type not in _HTML_TYPES or data.lstrip().startswith(_OTHERS):
        raise InvalidArticle("not_html", f"The address answers with {media_type or 'a file'}, not with a web page."[:200])
    text = decode_text(data, content_type).replace("\0", "")
    if not text.strip():
        raise InvalidArticle("no_text", "The page is empty.")
    bare = _CODE.sub("", text)
    tag = _FIRST_TAG.search(bare)
    if tag is None or tag[1].lower() in {"rss", "feed", "rdf:rdf", "urlset", "sitemapindex", "svg"}:
        raise InvalidArticle("not_html", "The address answers with something other than a web page.")
    return text, bare


def _check_size(text: str) -> None:
    """Raises: InvalidArticle too_large, too_complex."""
    if len(text) > MAX_SIZE:
        raise InvalidArticle("too_large", _TOO_LARGE)
    if text.count("<") > MAX_TAGS:
        raise InvalidArticle("too_complex", f"The page has more than {MAX_TAGS:,} tags; it was refused unread.")
    if _CROWDED.search(text):
        raise InvalidArticle("too_complex", "The page has a tag with more than 200 attributes; it was refused unread.")


def _find_base(text: str, url: str) -> str:
    found = _BASE.search(text)
    return (resolve_web_link(url, html.unescape(found[1] or found[2] or found[3] or "")) if found else "") or url


def _load_tree(text: str) -> Element | None:
    from trafilatura import load_html  # it costs 0.1 s and 20 MB, which only the process that reads pages should pay

    try:
        tree = load_html(_CONTROL.sub("", text))
    except Exception as error:
        raise InvalidArticle("broken", _BROKEN) from error
    if tree is None:
        return None
    move_attributes_to_text(tree)
    for element in tree.iter("pre"):
        element.tag = "code"  # trafilatura takes code without brackets for a quotation, and its lines for one
    for figure in list(tree.iter("figure")):
        _rescue_figure_text(figure)
    body = tree.find("body")
    if body is not None and next(tree.iter("article", "main"), None) is None:
        bare = len(body.findall("p"))
        if bare > 1 and 2 * bare > sum(1 for _ in body.iter("p")):  # most paragraphs stand in the page itself
            body.tag = "main"  # else trafilatura takes its paragraphs, and no list
    return tree


def _rescue_figure_text(figure: Element) -> None:
    """Keep what trafilatura would drop: code, tables and quotations in a figure, and the words of a picture within the text."""
    if next(figure.iter("code", "table", "blockquote"), None) is not None:
        figure.tag = "div"
    elif figure.xpath("(. | ..)/preceding-sibling::p"):  # one at the top repeats what the title says
        alt = next((str(picture.get("alt") or "") for picture in figure.iter("img")), "")
        caption = next(("".join(caption.itertext()) for caption in figure.iter("figcaption")), "")
        words = " ".join(caption.split()) or " ".join(alt.split())
        if " " in words:
            paragraph = figure.makeelement("p")
            emphasis = figure.makeelement("em")
            emphasis.text = words
            paragraph.append(emphasis)
            figure.addprevious(paragraph)


def _extract_body(tree: Element) -> Element | None:
    """Return the body of the article, in HTML's elements. Changes `tree`."""
    from trafilatura import bare_extraction

    for moment in [element for element in tree.iter("time") if len(element)]:
        moment.drop_tag()  # one that never ends holds the text behind it, and dates are left out
    try:
        # Markdown is what makes it keep headings, emphasis and code.
        found: Any = bare_extraction(
            tree,
            favor_precision=True,  # else readers' comments and offers pass for text
            include_comments=False,
            include_links=True,
            include_formatting=True,
            output_format="markdown",
        )
    except Exception as error:  # its rules meet trees that nobody thought of
        raise InvalidArticle("broken", _BROKEN) from error
    if found is None:
        return None
    body: Element = found.body
    # trafilatura's names (of TEI) become HTML's, but for links, whose addresses may hold what lxml does not write.
    for element in body.iter("*"):
        rend = element.get("rend") or ""
        match element.tag:
            case "head":
                element.tag = rend if re.fullmatch("h[1-6]", rend) else "h3"
            case "list":
                element.tag = "ol" if rend == "ol" else "ul"
            case "hi":
                element.tag = _STYLES.get(rend, "span")
            case "code" if element.getparent() is body or "\n" in "".join(element.itertext()).strip():
                element.tag = "pre"
            case tag if tag in _NAMES:  # others may be names that lxml reads and does not write
                element.tag = _NAMES[tag]
    return body


def _strip_site_name(title: str, headings: Sequence[str]) -> str:
    """Return a title, markup, without the site's name behind it, by a heading; the longer part is taken for the article's."""
    for heading in map(html.escape, headings):
        rest = html.escape(html.unescape(title)).removeprefix(heading)
        if len(rest) < len(heading) and rest.startswith(page_metadata.SEPARATORS):
            return html.escape(html.unescape(heading), quote=False)
    return title


def _is_byline(block: str, author: str) -> bool:
    text = _TARGET.sub("", block).replace("[", "").replace("*", "")
    return bool(author) and len(text) < len(author) + MAX_BESIDE and page_metadata.parse_byline(text) == author


def _repeats_title(block: str, title: str) -> bool:
    """Return whether a block is a heading with the title, behind which a site may have put its name."""
    level, _, heading = block.partition(" ")
    if level.strip("#") or not level:
        return False
    texts = (_TARGET.sub("", heading), title)
    told, meant = (re.sub(r"[\W_]+", " ", html.unescape(text)).strip().casefold() for text in texts)
    return bool(told) and (f"{meant} ").startswith(f"{told} ")
