"""Parsing of feeds and sitemaps; the kind of a document is known by its content."""

import re
import zlib
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Final

from sources.entries import Entry
from sources.parse import feeds, jsonfeed, sitemaps
from sources.parse.charsets import decode, decode_with_doubt
from sources.parse.markup import Node, Tree, read
from sources.parse.results import MAX_ITEMS, InvalidFeed, Kind, Parsed, Sitemap, too_many

# XML 1.0 §2.8: what may stand before the root. Of document types only those that declare nothing, and not HTML's.
_BEFORE_ROOT: Final = re.compile(r"[^<]+|<\?.*?\?>|<!--.*?-->|<!(?i:doctype)\s+(?!(?i:html)\b)[^\[<>]{0,500}>", re.S)
_FEED_ROOT: Final = re.compile(r"<(?:[\w.-]{1,40}:)?(?:rss|feed|rdf|urlset|sitemapindex)(?=[\s>])", re.I)
_MOST_BEFORE: Final = 4_096  # characters of warnings that a server may print before the document
_ROOT: Final = re.compile(r"<(?:[\w.-]{1,40}:)?([A-Za-z_][\w.-]{0,40})(?=[\s/>])")
_PAGE: Final = re.compile(r"<(?:!doctype\s+html|(?:html|head|body|script|meta|title|div|p|h1|center)\b)", re.I)
MAX_LOCATIONS: Final = 4 * MAX_ITEMS  # of one sitemap: sites go beyond what sitemaps.org allows
MAX_UNPACKED: Final = 50 << 20  # bytes (sitemaps.org)
_KINDS: Final[dict[str, Kind]] = {
    **{"rss": "rss", "channel": "rss", "feed": "atom", "rdf": "rdf"},
    **{"urlset": "sitemap", "sitemapindex": "sitemap"},
}


def parse(data: bytes, *, content_type: str = "", url: str = "") -> Parsed:
    """Return the entries of an RSS, Atom, RDF, JSON Feed or (news) sitemap document, in its order; none is no error.

    `content_type` is the header as sent, of which only the charset counts; `url` is where the bytes came from, after redirects:
    what relative links are resolved against, unless an `xml:base` or, in RSS and JSON Feed, the feed's site says otherwise.
    Dates are UTC, or None. A document that breaks off gives the items that were closed before: what follows may be cut in the
    middle of a word, or of a link.

    Raises: InvalidFeed for web pages, sitemap indexes, a document type that declares entities (XML bombs are made of them, and
    feeds need none), more than MAX_ITEMS items, tags that cross, and what is none of these formats.
    """
    decoded = decode_with_doubt(data, content_type)
    text, base = _strip(decoded.text), _strip_query(url)
    if text.startswith("{"):
        return replace(jsonfeed.read(text, base), doubt=decoded.doubt)
    text, kind = _find_root(text)
    parsed = _read_news_sitemap(text, base) if kind == "sitemap" else _read_feed(text, base, kind)
    return replace(parsed, doubt=decoded.doubt)


def parse_sitemap(data: bytes, *, content_type: str = "", url: str = "") -> Sitemap:
    """Return the pages of a sitemap and the sitemaps of an index, either of which may be packed with gzip. Arguments as of `parse`.

    Raises: InvalidFeed as `parse`, for feeds too; for more than MAX_LOCATIONS pages, MAX_ITEMS sitemaps, or MAX_UNPACKED bytes.
    """
    text, kind = _find_root(_strip(decode(_unpack(data), content_type)))
    if kind != "sitemap":
        raise InvalidFeed("The address answers with a feed, not a sitemap.")
    entries: list[Entry] = []
    children: list[str] = []

    def fresh() -> Tree:
        entries.clear()
        children.clear()
        return Tree(frozenset({"url", "sitemap"}), add, _strip_query(url), MAX_LOCATIONS)

    def add(item: Node, _tree: Tree) -> None:
        if item.name == "url":
            entries.append(sitemaps.entry(item))
        elif address := sitemaps.child_address(item):
            children.append(address)
            if len(children) > MAX_ITEMS:
                raise too_many()

    _, whole = read(text, fresh)
    return Sitemap(entries, children, whole)


def _strip_query(url: str) -> str:
    # A link that is nothing but a fragment takes its base's query over (RFC 3986 §5.2.2), into a public address, and a feed's own
    # query may hold a token.
    return url.partition("#")[0].partition("?")[0]


def _unpack(data: bytes) -> bytes:
    """Return the content of a gzip file, without what follows it; other bytes as they are. Raises: InvalidFeed."""
    if not data.startswith(b"\x1f\x8b"):
        return data
    inflater = zlib.decompressobj(31)
    try:
        content = inflater.decompress(data, MAX_UNPACKED)
    except zlib.error as error:
        raise InvalidFeed("The packed content is damaged.") from error
    if inflater.unconsumed_tail:
        raise InvalidFeed(f"The file unpacks to more than {MAX_UNPACKED >> 20} MB; none was read.")
    return content


def _strip(text: str) -> str:
    """Raises: InvalidFeed when nothing is left."""
    text = text.replace("\0", "").lstrip("\ufeff \t\r\n")
    if not text:
        raise InvalidFeed("The answer is empty.")
    return text


def _find_root(text: str) -> tuple[str, Kind]:
    """Return the document from its root element on, and its kind. Raises: InvalidFeed."""
    start = 0
    while skipped := _BEFORE_ROOT.match(text, start):
        start = skipped.end()
    if _PAGE.match(text, start):
        raise InvalidFeed("The address answers with a web page, not a feed.")
    if text.startswith("<!", start):
        raise InvalidFeed("The feed's document type declares entities; it was refused unread, as a guard against XML bombs.")
    root = _ROOT.match(text, start)
    kind = _KINDS.get(root[1].lower()) if root else None
    if kind is None and (found := _FEED_ROOT.search(text, start, start + _MOST_BEFORE)):
        start, root = found.start(), _ROOT.match(text, found.start())
        kind = _KINDS.get(root[1].lower()) if root else None
    if kind is None:
        raise InvalidFeed("The file is neither RSS nor Atom.")
    return text[start:], kind


def _read_feed(text: str, url: str, kind: Kind) -> Parsed:
    @cache  # the head stands before the items; were it read again for each of them, many items would cost their square
    def base(tree: Tree) -> feeds.Base:
        return feeds.base_of(_find_channel(tree), url)

    entries, tree, whole = _read_items(text, url, feeds.ITEMS, lambda item, tree: feeds.entry(item, base(tree)))
    channel = _find_channel(tree)
    return Parsed(feeds.complete(entries, channel), feeds.feed_title(channel), kind, whole)


def _find_channel(tree: Tree) -> Node:
    """Return the node that says what holds for all items: `channel` of RSS and RDF, else the root."""
    root = next((part for part in tree.root.parts if isinstance(part, Node)), tree.root)
    return next(iter(root.all("channel")), root)


def _read_news_sitemap(text: str, url: str) -> Parsed:
    entries, tree, whole = _read_items(text, url, frozenset({"url"}), lambda item, _: sitemaps.entry(item))
    for index in tree.root.all("sitemapindex"):
        raise sitemaps.refuse_index(index)
    return Parsed(entries, next((entry.publisher for entry in entries if entry.publisher), ""), "sitemap", whole)


def _read_items(text: str, url: str, names: frozenset[str], make: Callable[[Node, Tree], Entry]) -> tuple[list[Entry], Tree, bool]:
    entries: list[Entry] = []

    def fresh() -> Tree:  # a second time, if the text is not well-formed
        entries.clear()
        return Tree(names, lambda item, tree: entries.append(make(item, tree)), url)

    tree, whole = read(text, fresh)
    return entries, tree, whole
