"""Items of RSS, Atom and RDF as entries. One table of names for all of them, since real feeds mix them."""

import html
import re
from base64 import b64decode
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final
from urllib.parse import urlencode

from sources.entries import Entry
from sources.lexicons import load_lexicon
from sources.parse.dates import read_date
from sources.parse.links import get_host, is_web_url, resolve_link, resolve_web_link
from sources.parse.xml_tree import EMPTY, Node, escape_plain_text, escape_title, wrap_paragraphs

ITEMS: Final = frozenset({"item", "entry"})
MAX_LANGUAGE: Final = 35  # characters (RFC 5646 §4.4.1)
_NAMES: Final[dict[str, list[str]]] = {what: names.split() for what, names in load_lexicon("parse")["items"].items()}
_PICTURES: Final = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".avif")
_PLAIN: Final = frozenset({"text", "text/plain", "plain"})  # Atom 1.0, Atom 0.3, Media RSS


@dataclass(frozen=True, slots=True)
class Base:
    """Base of relative addresses: `xml:base` where one is in force, else `default`; `document` is where the bytes came from."""

    document: str
    default: str

    def resolve(self, node: Node, address: str) -> str:
        """Return `address` as `node` gives it, absolute if that is possible."""
        return resolve_link(self.default if node.base == self.document else resolve_link(self.default, node.base), address)


def find_base(channel: Node, document: str) -> Base:
    """Return the base of a feed's items. Atom's is its own address (RFC 4287 §2, RFC 3986 §5.1): where it was read, else its `self`
    link. No standard speaks of RSS, whose relative links are meant for its site, since feeds are often served by another host.
    """
    here = Base(document, document)
    if channel.name == "feed" and (own := document or resolve_web_link("", _find_href(channel, here, "self"))):
        return Base(document, own)
    return Base(document, _find_link(channel, here) or document)


def parse_entry(item: Node, base: Base) -> Entry:
    """Return an item as an entry, without what only its feed says; a guid may be its address (RSS 2.0, `isPermaLink`)."""
    guid = item.text("guid", "id") or item.attrs.get("rdf:about", "")
    credited, source_url = _read_source(item, base)
    group = next(iter(item.all("media:group")), EMPTY)
    flags = (node.attrs.get("ispermalink", "").strip().lower() for node in item.all("guid"))
    is_permalink = is_web_url(guid) and "false" not in flags
    dates = (read_date(node.text()) for node in item.all(*_NAMES["published"], *_NAMES["updated"]))
    return strip_google_additions(
        Entry(
            publisher="",
            title=_read_title(item) or _read_title(group),
            url=_find_link(item, base) or (guid if is_permalink else ""),
            published_at=next(filter(None, dates), None),
            summary=_text(item, *_NAMES["summaries"], *_NAMES["more_summaries"]) or _text(group, *_NAMES["more_summaries"]),
            author=join_authors(item),
            guid=guid,
            credited_source=credited,
            language=item.text("language", "dc:language") or item.lang,
            image=_find_image(item, base),
            source_url=source_url,
            content=next((content for node in item.all(*_NAMES["contents"]) if (content := _read_content(node, base))), ""),
            categories=", ".join(node.attrs.get("label") or node.attrs.get("term") or node.text() for node in item.all("category")),
        )
    )


def add_feed_defaults(entries: list[Entry], channel: Node) -> list[Entry]:
    """Return the entries with what the feed says of all: its title as publisher, language, and Atom's author (RFC 4287 §4.2.1)."""
    title, author = get_feed_title(channel), join_authors(channel) if channel.name == "feed" else ""
    language = channel.lang or channel.text("language", "dc:language")
    return [
        replace(item, publisher=title, author=item.author or author, language=(item.language or language)[:MAX_LANGUAGE])
        for item in entries
    ]


def get_feed_title(channel: Node) -> str:
    return _text(channel, "title", "dc:title", "itunes:title")


def join_authors(node: Node) -> str:
    """Return names joined by `, `, each once: `dc:creator` before RSS's `author`, which is an e-mail address."""
    for name in ("dc:creator", "author", "itunes:author", "dc:author"):
        found = [person.text("name") or person.text("email") or _get_only_text(person) for person in node.all(name)]
        if names := list(dict.fromkeys(filter(None, found))):
            return ", ".join(names)
    return ""


def _get_only_text(person: Node) -> str:
    return person.text() if all(isinstance(part, str) for part in person.parts) else ""


def _read_title(node: Node) -> str:
    for child in node.all(*_NAMES["titles"]):
        if text := _markup(child):
            return text if child.named or _get_media_type(child) else escape_title(text)  # declared as HTML, or not
    return ""


def _text(node: Node, *names: str) -> str:
    return next((text for child in node.all(*names) if (text := _markup(child))), "")


def _markup(node: Node) -> str:
    """Return a text as markup: what says that it is none (RFC 4287 §3.1.1.1) is escaped, content that is a file (§4.1.3) left out,
    and base64 decoded, which Atom 0.3 announces by `mode` and which a title of a file's type must be.
    """
    kind = _get_media_type(node)
    is_file = "/" in kind and not kind.startswith("text/") and not kind.endswith("xml")
    if is_file and node.name == "content":
        return ""
    text = node.text()
    if is_file or node.attrs.get("mode", "").strip().lower() == "base64":
        with suppress(ValueError):  # a text that is no base64 stays as it is
            decoded = b64decode("".join(text.split()), validate=True).decode(errors="replace").strip()
            text = decoded if "\ufffd" not in decoded and (decoded.isprintable() or "\n" in decoded) else ""
    return escape_plain_text(text) if kind in _PLAIN else text


def _read_content(node: Node, base: Base) -> str:
    """Return a full text as HTML. Where `xml:base` says what links are relative to (RFC 4287 §2), a `<base>` in front says so."""
    kind = _get_media_type(node)
    content = node.html() if node.named or kind == "xhtml" else wrap_paragraphs(node.text()) if kind in _PLAIN else _markup(node)
    if not content or node.base == base.document:
        return content
    return f'<base href="{html.escape(resolve_link(base.default, node.base))}">{content}'


def _get_media_type(node: Node) -> str:
    return node.attrs.get("type", "").partition(";")[0].strip().lower()


def _find_link(node: Node, base: Base) -> str:
    """Return the link: RSS's is text; Atom's is the first alternate, a page before other types (RFC 4287 §4.2.7.2)."""
    for original in node.all("feedburner:origlink"):
        if address := original.text():
            return base.resolve(original, address)
    for link in node.all("link"):
        if not link.attrs.get("href") and _get_rel(link) == "alternate" and (address := link.text()):
            return base.resolve(link, address)
    return _find_href(node, base, "alternate")


def _find_href(node: Node, base: Base, rel: str) -> str:
    links = [link for link in node.all("link") if link.attrs.get("href") and _get_rel(link) == rel]
    links.sort(key=lambda link: link.attrs.get("type", "text/html").lower() not in {"text/html", "application/xhtml+xml"})
    return next((base.resolve(link, link.attrs["href"]) for link in links), "")


def _get_rel(link: Node) -> str:
    return link.attrs.get("rel", "").strip().lower() or "alternate"


def _read_source(item: Node, base: Base) -> tuple[str, str]:
    """Return the credited name and its site: text and `url` of RSS's `source`, title and link of Atom's."""
    for source in item.all("source"):
        if source.all("title", "link", "id"):
            return _text(source, "title"), resolve_web_link("", _find_link(source, base))
        return source.text(), resolve_web_link("", base.resolve(source, source.attrs.get("url", "")))
    return "", ""


def _find_image(item: Node, base: Base) -> str:
    """Return the first address of Media RSS content, an enclosure, Media RSS thumbnail, then iTunes' and the item's own image."""
    places = (item, *item.all("media:group", "media:content"))
    media = [node for place in places for node in place.all("media:content") if _is_image(node)]
    enclosures = [node for node in item.all("enclosure", "link") if node.name == "enclosure" or _get_rel(node) == "enclosure"]
    thumbnails = [node for place in places for node in place.all("media:thumbnail")]
    for node in (*media, *filter(_is_image, enclosures), *thumbnails, *item.all("itunes:image", "image")):
        address = node.attrs.get("url") or node.attrs.get("href") or node.text("url")
        # An address that stands as text is believed only if it is absolute: any words would make a relative one.
        if found := resolve_web_link("", base.resolve(node, address)) or resolve_web_link("", _get_only_text(node)):
            return found
    return ""


def _is_image(node: Node) -> bool:
    medium, kind = node.attrs.get("medium", ""), node.attrs.get("type", "")
    if medium or kind:
        return medium == "image" or kind.startswith("image/")
    return (node.attrs.get("url") or node.attrs.get("href") or "").partition("?")[0].lower().endswith(_PICTURES)


def build_search_url(query: str) -> str:
    """Return the RSS address of a search in US English, bound to a week unless it names an age: Google gives items of any."""
    aged = query if re.search(r"(?<!\S)(?:when|after):\S", query) else f"{query} when:7d"
    params = {"q": aged.strip(), "hl": "en-US", "gl": "US", "ceid": "US:en"}
    return "https://news.google.com/rss/search?" + urlencode(params, safe=":")


def strip_google_additions(entry: Entry) -> Entry:
    """Return an item of a Google News feed without what Google adds: ` - Publisher` behind the title, once, and a summary that is a
    list of links, the title among them. Other entries, and those that name no source, are returned as they are.
    """
    if get_host(entry.url) != "news.google.com" or not entry.credited_source:
        return entry
    title = entry.title.removesuffix(f" - {entry.credited_source}") or entry.title
    linked = {_fold_markup(text) for text in re.findall(r"(?i)<a\s[^<>]*+>([^<]*+)</a>", entry.summary)}
    return replace(entry, title=title, summary="" if {_fold_markup(title), _fold_markup(entry.title)} & linked else entry.summary)


def _fold_markup(markup: str) -> str:
    return " ".join(html.unescape(re.sub(r"<[^<>]*+>", "", markup)).split()).casefold()
