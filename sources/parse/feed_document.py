"""Parsing of feeds and sitemaps; the kind of a document is known by its content. JSON Feed: https://jsonfeed.org/version/1.1."""

import re
import zlib
from dataclasses import replace
from functools import cache
from typing import Any, Final

import orjson

from sources.entries import Entry
from sources.parse import feed_items
from sources.parse.charsets import decode_and_warn, decode_text
from sources.parse.dates import read_date
from sources.parse.links import is_web_url, resolve_link, resolve_web_link
from sources.parse.results import MAX_ITEMS, InvalidFeed, Kind, Parsed, Sitemap, build_too_many_error
from sources.parse.xml_tree import EMPTY, Node, Tree, escape_plain_text, parse_tree, wrap_paragraphs

# XML 1.0 §2.8: what may stand before the root. Of document types only those that declare nothing, and not HTML's.
_BEFORE_ROOT: Final = re.compile(r"[^<]+|<\?.*?\?>|<!--.*?-->|<!(?i:doctype)\s+(?!(?i:html)\b)[^\[<>]{0,500}>", re.S)
_FEED_ROOT: Final = re.compile(r"<(?:[\w.-]{1,40}:)?(?:rss|feed|rdf|urlset|sitemapindex)(?=[\s>])", re.I)
_ROOT: Final = re.compile(r"<(?:[\w.-]{1,40}:)?([A-Za-z_][\w.-]{0,40})(?=[\s/>])")
_PAGE: Final = re.compile(r"<(?:!doctype\s+html|(?:html|head|body|script|meta|title|div|p|h1|center)\b)", re.I)
MAX_LOCATIONS: Final = 4 * MAX_ITEMS  # of one sitemap: sites go beyond what sitemaps.org allows
MAX_UNPACKED: Final = 50 << 20  # bytes (sitemaps.org)
_SITEMAPS: Final[dict[str, Kind]] = {"urlset": "sitemap", "sitemapindex": "sitemap"}
_KINDS: Final[dict[str, Kind]] = {"rss": "rss", "channel": "rss", "feed": "atom", "rdf": "rdf", **_SITEMAPS}
MAX_VALUES: Final = 1_000_000  # objects and lists of JSON; counted before any is built
# Escaped backslashes and pairs are passed over, so that the group is what is half of a pair.
_HALF: Final = re.compile(r"\\\\|\\u(?i:d[89ab][0-9a-f]{2})\\u(?i:d[c-f][0-9a-f]{2})|(\\u(?i:d[89a-f][0-9a-f]{2}))")


def parse_feed(data: bytes, *, content_type: str = "", url: str = "") -> Parsed:
    """Return the entries of an RSS, Atom, RDF, JSON Feed or (news) sitemap document, in its order; dates are UTC, or None.

    Of the header `content_type` only the charset counts. Relative links are resolved against `url`, where the bytes came from,
    unless an `xml:base` or, in RSS and JSON Feed, the feed's site says otherwise. A document that breaks off gives whole items.
    Raises: InvalidFeed for web pages, sitemap indexes, a document type that declares entities (XML bombs are made of them), more
    than MAX_ITEMS items, tags that cross, and what is none of these formats.
    """
    whole, doubt = decode_and_warn(data, content_type)
    text, base = _strip_start(whole), _strip_query(url)
    if text.startswith("{"):
        return replace(_read_json_feed(text, base), doubt=doubt)
    text, kind = _find_root(text)
    return replace(_read_news_sitemap(text, base) if kind == "sitemap" else _read_feed(text, base, kind), doubt=doubt)


def parse_sitemap(data: bytes, *, content_type: str = "", url: str = "") -> Sitemap:
    """Return the pages of a sitemap and the sitemaps of an index, either perhaps packed with gzip. Arguments as of `parse_feed`.

    Raises: InvalidFeed as `parse_feed`, also for feeds, over MAX_LOCATIONS pages, MAX_ITEMS sitemaps or MAX_UNPACKED bytes.
    """
    text, kind = _find_root(_strip_start(decode_text(_unpack(data), content_type)))
    if kind != "sitemap":
        raise InvalidFeed("The address answers with a feed, not a sitemap.")
    tree, whole = parse_tree(text, frozenset({"url", "sitemap"}), _read_location, _strip_query(url), MAX_LOCATIONS)
    children = [item for item in tree.built if item and isinstance(item, str)]
    if len(children) > MAX_ITEMS:
        raise build_too_many_error()
    return Sitemap([item for item in tree.built if isinstance(item, Entry)], children, whole)


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
        raise InvalidFeed("The compressed content is damaged.") from error
    if inflater.unconsumed_tail:
        raise InvalidFeed(f"The file unpacks to more than {MAX_UNPACKED >> 20} MB; nothing was read.")
    return content


def _strip_start(text: str) -> str:
    """Raises: InvalidFeed when nothing is left."""
    if not (text := text.replace("\0", "").lstrip("\ufeff \t\r\n")):
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
    later = _FEED_ROOT.search(text, start, start + 4_096)  # behind warnings that a server may print before the document
    for at in (start, later.start() if later else start):
        if (root := _ROOT.match(text, at)) and (kind := _KINDS.get(root[1].lower())):
            return text[at:], kind
    raise InvalidFeed("The file is neither RSS nor Atom.")


def _read_feed(text: str, url: str, kind: Kind) -> Parsed:
    @cache  # the head stands before the items; were it read again for each of them, many items would cost their square
    def base(tree: Tree) -> feed_items.Base:
        return feed_items.find_base(_find_channel(tree), url)

    tree, whole = parse_tree(text, feed_items.ITEMS, lambda item, tree: feed_items.parse_entry(item, base(tree)), url)
    channel = _find_channel(tree)
    return Parsed(feed_items.add_feed_defaults(tree.built, channel), feed_items.get_feed_title(channel), kind, whole)


def _find_channel(tree: Tree) -> Node:
    """Return the node that says what holds for all items: `channel` of RSS and RDF, else the root."""
    root = next((part for part in tree.root.parts if isinstance(part, Node)), tree.root)
    return next(iter(root.all("channel")), root)


def _read_news_sitemap(text: str, url: str) -> Parsed:
    tree, whole = parse_tree(text, frozenset({"url"}), _read_location, url)
    for index in tree.root.all("sitemapindex"):
        children = [_read_location(sitemap) for sitemap in index.all("sitemap")]
        more = f" and {len(children) - 5:,} more" if len(children) > 5 else ""
        named = ", ".join(map(str, children[:5]))
        raise InvalidFeed(f"The address answers with an index of sitemaps, not a sitemap: {named}{more}.")
    entries: list[Entry] = tree.built
    return Parsed(entries, next((entry.publisher for entry in entries if entry.publisher), ""), "sitemap", whole)


def _read_location(node: Node, _tree: Tree | None = None) -> Entry | str:
    """Return a page of a sitemap, or of a news sitemap (Google's namespace), as an entry; a sitemap as its address.

    `lastmod` only bounds the publication; a plain sitemap has no title: the page tells both.
    """
    location = resolve_link(node.base, node.text("loc"))
    if node.name == "sitemap":
        return location
    news = next(iter(node.all("news:news")), EMPTY)
    publication = next(iter(news.all("news:publication")), EMPTY)
    published, changed = read_date(news.text("news:publication_date")), read_date(node.text("lastmod"))
    images = (resolve_web_link(node.base, image.text("image:loc")) for image in node.all("image:image"))
    return Entry(
        publisher=publication.text("news:name"),
        title=news.text("news:title"),
        url=location,
        published_at=published or changed,
        guid=location,
        language=publication.text("news:language")[:35],
        image=next(filter(None, images), ""),
        published_at_estimated=published is None and changed is not None,
        changed_at=changed,
    )


def _read_json_feed(text: str, url: str) -> Parsed:
    """Return the items of a JSON Feed. Values of a wrong type count as absent. Raises: InvalidFeed."""
    if text.count("{") + text.count("[") > MAX_VALUES:
        raise InvalidFeed("The feed holds far more values than it can need.")
    try:
        feed = orjson.loads(text)
    except ValueError:
        # Half a surrogate pair, as an emoji cut in two leaves it, becomes U+FFFD, so that it costs no more.
        try:
            feed = orjson.loads(_HALF.sub(lambda match: "\\ufffd" if match[1] else match[0], text))
        except ValueError as error:
            raise InvalidFeed(f"The file is not JSON: {error}.") from error
    if not isinstance(feed, dict) or "jsonfeed.org/version/" not in _get_text(feed, "version"):
        raise InvalidFeed("The file is JSON, but not a JSON Feed.")
    items = [item for item in _get_list(feed, "items") if isinstance(item, dict)]
    if len(items) > MAX_ITEMS:
        raise build_too_many_error()
    base = resolve_link(url, _get_text(feed, "home_page_url")) or url
    return Parsed([_read_json_item(item, feed, base) for item in items], _get_text(feed, "title"), "json")


def _read_json_item(item: dict[str, Any], feed: dict[str, Any], base: str) -> Entry:
    guid = _get_text(item, "id")
    published, modified = read_date(_get_text(item, "date_published")), read_date(_get_text(item, "date_modified"))
    images = (resolve_web_link(base, _get_text(item, name)) for name in ("image", "banner_image"))
    return Entry(
        publisher=_get_text(feed, "title"),
        title=escape_plain_text(_get_text(item, "title")),
        url=resolve_link(base, _get_text(item, "url") or _get_text(item, "external_url")) or (guid if is_web_url(guid) else ""),
        published_at=published or modified,
        summary=escape_plain_text(_get_text(item, "summary") or _get_text(item, "content_text")) or _get_text(item, "content_html"),
        author=_join_authors(item) or _join_authors(feed),
        guid=guid,
        language=(_get_text(item, "language") or _get_text(feed, "language"))[:35],
        image=next(filter(None, images), ""),
        content=_get_text(item, "content_html") or wrap_paragraphs(_get_text(item, "content_text")),
    )


def _join_authors(node: dict[str, Any]) -> str:  # `authors` of version 1.1, `author` of 1.0
    people = [person for person in (*_get_list(node, "authors"), node.get("author")) if isinstance(person, dict)]
    return ", ".join(dict.fromkeys(filter(None, (_get_text(person, "name") for person in people))))


def _get_text(node: dict[str, Any], name: str) -> str:
    value = node.get(name)
    if name == "id" and isinstance(value, int | float):  # "should be coerced to a string"
        return str(value)
    return value.strip() if isinstance(value, str) else ""


def _get_list(node: dict[str, Any], name: str) -> list[Any]:
    value = node.get(name)
    return value if isinstance(value, list) else []
