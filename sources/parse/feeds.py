"""Items of RSS, Atom and RDF as entries. One table of names for all of them, since real feeds mix them."""

import datetime as dt
import html
from base64 import b64decode
from dataclasses import dataclass, replace
from typing import Final

from sources.entries import Entry
from sources.parse.addresses import is_web, resolve, web
from sources.parse.dates import read_date
from sources.parse.googlenews import tidied
from sources.parse.markup import Node, as_markup, as_paragraphs

ITEMS: Final = frozenset({"item", "entry"})
MAX_LANGUAGE: Final = 35  # characters (RFC 5646 §4.4.1)
_TITLES: Final = ("title", "dc:title", "media:title", "itunes:title")
_SUMMARIES: Final = ("summary", "description", "dc:description", "content:encoded", "encoded", "content", "xhtml:body", "body")
_CONTENTS: Final = ("content:encoded", "encoded", "content", "xhtml:body", "body")
_MORE_SUMMARIES: Final = ("media:description", "itunes:summary", "itunes:subtitle")
_PUBLISHED: Final = ("pubdate", "published", "issued", "dcterms:issued", "dc:date", "dcterms:created", "created")
_UPDATED: Final = ("updated", "modified", "dcterms:modified", "lastbuilddate")
_PICTURES: Final = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".avif")
_PLAIN: Final = frozenset({"text", "text/plain", "plain"})  # Atom 1.0, Atom 0.3, Media RSS


@dataclass(frozen=True, slots=True)
class Base:
    """What relative addresses are relative to: `xml:base` where one is in force, else `default`.

    `document` is where the bytes came from, empty if that is not known.
    """

    document: str
    default: str

    def resolve(self, node: Node, address: str) -> str:
        """`address` as `node` gives it, absolute if that is possible."""
        return resolve(self.default if node.base == self.document else resolve(self.default, node.base), address)

    def web(self, node: Node, address: str) -> str:
        """Like `resolve`, but empty unless it is an absolute http(s) address."""
        return web("", self.resolve(node, address))


def base_of(channel: Node, document: str) -> Base:
    """The base of a feed's items. Atom's is its own address (RFC 4287 §2, RFC 3986 §5.1): where it was read, else its `self` link.
    No standard speaks of RSS, whose relative links are meant for its site, since feeds are often served by another host.
    """
    here = Base(document, document)
    if channel.name == "feed" and (own := document or web("", _href(channel, here, "self"))):
        return Base(document, own)
    return Base(document, _link(channel, here) or document)


def entry(item: Node, base: Base) -> Entry:
    """An item, without what only its feed says.

    Published goes before updated. A summary goes before the content. `feedburner:origLink` is the publisher's own address; a
    guid is one unless it says that it is none (RSS 2.0, `isPermaLink`).
    """
    guid = item.text("guid", "id") or item.attrs.get("rdf:about", "")
    credited, source_url = _source(item, base)
    return tidied(
        Entry(
            publisher="",
            title=_text(item, *_TITLES) or _text(_group(item), *_TITLES),
            url=_link(item, base) or _permalink(item, guid),
            published_at=_date(item),
            summary=_text(item, *_SUMMARIES, *_MORE_SUMMARIES) or _text(_group(item), *_MORE_SUMMARIES),
            author=authors(item),
            guid=guid,
            credited_source=credited,
            language=item.text("language", "dc:language") or item.lang,
            image=_image(item, base),
            source_url=source_url,
            content=next((content for node in item.all(*_CONTENTS) if (content := _content(node, base))), ""),
        )
    )


def completed(entries: list[Entry], channel: Node) -> list[Entry]:
    """The entries with what the feed says of all: its title as publisher, language, and Atom's author (RFC 4287 §4.2.1)."""
    title, author = feed_title(channel), authors(channel) if channel.name == "feed" else ""
    language = channel.lang or channel.text("language", "dc:language")
    return [
        replace(item, publisher=title, author=item.author or author, language=(item.language or language)[:MAX_LANGUAGE])
        for item in entries
    ]


def feed_title(channel: Node) -> str:
    return _text(channel, "title", "dc:title", "itunes:title")


def authors(node: Node) -> str:
    """Names joined by `, `, each once: `dc:creator` before RSS's `author`, which is an e-mail address."""
    for name in ("dc:creator", "author", "itunes:author", "dc:author"):
        found = [person.text("name") or person.text("email") or _only_text(person) for person in node.all(name)]
        if names := list(dict.fromkeys(filter(None, found))):
            return ", ".join(names)
    return ""


def _only_text(person: Node) -> str:
    return person.text() if all(isinstance(part, str) for part in person.parts) else ""


def _text(node: Node, *names: str) -> str:
    """The first of these children with something to say, as markup."""
    return next((text for child in node.all(*names) if (text := _markup(child))), "")


def _markup(node: Node) -> str:
    """A text as markup: what says that it is none (RFC 4287 §3.1.1.1) is escaped, content that is a file (§4.1.3) passed over, and
    base64 decoded, which Atom 0.3 announces by `mode` and which a title of a file's type must be.
    """
    kind = node.attrs.get("type", "").partition(";")[0].strip().lower()
    is_file = "/" in kind and not kind.startswith("text/") and not kind.endswith("xml")
    if is_file and node.name == "content":
        return ""
    is_base64 = is_file or node.attrs.get("mode", "").strip().lower() == "base64"
    text = _decoded(node.text()) if is_base64 else node.text()
    return as_markup(text) if kind in _PLAIN else text


def _content(node: Node, base: Base) -> str:
    """A full text as HTML. Where `xml:base` says what its links are relative to (RFC 4287 §2), a `<base>` in front says so too."""
    kind = node.attrs.get("type", "").partition(";")[0].strip().lower()
    content = node.html() if node.named or kind == "xhtml" else as_paragraphs(node.text()) if kind in _PLAIN else _markup(node)
    if not content or node.base == base.document:
        return content
    return f'<base href="{html.escape(resolve(base.default, node.base))}">{content}'


def _decoded(text: str) -> str:
    """What was encoded in base64, empty if that is no text in UTF-8; a text that is no base64 as it is."""
    try:
        data = b64decode("".join(text.split()), validate=True)
    except ValueError:
        return text
    decoded = data.decode(errors="replace").strip()
    return decoded if "\ufffd" not in decoded and (decoded.isprintable() or "\n" in decoded) else ""


def _group(item: Node) -> Node:
    return next(iter(item.all("media:group")), Node("", {}, "", ""))


def _link(node: Node, base: Base) -> str:
    """RSS's link is text; Atom's is the first alternate, a page before other types (RFC 4287 §4.2.7.2)."""
    for original in node.all("feedburner:origlink"):
        if address := original.text():
            return base.resolve(original, address)
    for link in node.all("link"):
        if not link.attrs.get("href") and _rel(link) == "alternate" and (address := link.text()):
            return base.resolve(link, address)
    return _href(node, base, "alternate")


def _href(node: Node, base: Base, rel: str) -> str:
    links = [link for link in node.all("link") if link.attrs.get("href") and _rel(link) == rel]
    links.sort(key=lambda link: link.attrs.get("type", "text/html").lower() not in {"text/html", "application/xhtml+xml"})
    return next((base.resolve(link, link.attrs["href"]) for link in links), "")


def _rel(link: Node) -> str:
    return link.attrs.get("rel", "").strip().lower() or "alternate"


def _permalink(item: Node, guid: str) -> str:
    is_none = any(node.attrs.get("ispermalink", "").strip().lower() == "false" for node in item.all("guid"))
    return guid if is_web(guid) and not is_none else ""


def _date(item: Node) -> dt.datetime | None:
    for node in item.all(*_PUBLISHED, *_UPDATED):
        if found := read_date(node.text()):
            return found
    return None


def _source(item: Node, base: Base) -> tuple[str, str]:
    """Who is credited, and their site: text and `url` of RSS's `source`, title and link of Atom's."""
    for source in item.all("source"):
        if source.all("title", "link", "id"):
            return _text(source, "title"), web("", _link(source, base))
        return source.text(), base.web(source, source.attrs.get("url", ""))
    return "", ""


def _image(item: Node, base: Base) -> str:
    """The first that is an address: Media RSS content, an enclosure, Media RSS thumbnail, then iTunes' and the item's own.

    An address that stands as text is believed only if it is absolute: any words would make a relative one.
    """
    places = (item, *item.all("media:group", "media:content"))
    media = [node for place in places for node in place.all("media:content") if _shows(node)]
    enclosures = [node for node in item.all("enclosure", "link") if node.name == "enclosure" or _rel(node) == "enclosure"]
    thumbnails = [node for place in places for node in place.all("media:thumbnail")]
    for node in (*media, *filter(_shows, enclosures), *thumbnails, *item.all("itunes:image", "image")):
        address = node.attrs.get("url") or node.attrs.get("href") or node.text("url")
        if found := base.web(node, address) or web("", _only_text(node)):
            return found
    return ""


def _shows(node: Node) -> bool:
    medium, kind = node.attrs.get("medium", ""), node.attrs.get("type", "")
    if medium or kind:
        return medium == "image" or kind.startswith("image/")
    return (node.attrs.get("url") or node.attrs.get("href") or "").partition("?")[0].lower().endswith(_PICTURES)
