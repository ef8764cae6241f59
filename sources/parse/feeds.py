"""Items of RSS, Atom and RDF as entries. One table of names for all of them, since real feeds mix them."""

import datetime as dt
from dataclasses import replace
from typing import Final

from sources.entries import Entry
from sources.parse.addresses import is_web, resolve, web
from sources.parse.dates import read_date
from sources.parse.googlenews import tidied
from sources.parse.markup import Node, as_markup

ITEMS: Final = frozenset({"item", "entry"})
MAX_LANGUAGE: Final = 35  # characters (RFC 5646 §4.4.1)
_TITLES: Final = ("title", "dc:title", "media:title", "itunes:title")
_SUMMARIES: Final = ("summary", "description", "dc:description", "content:encoded", "encoded", "content")
_MORE_SUMMARIES: Final = ("media:description", "itunes:summary", "itunes:subtitle")
_PUBLISHED: Final = ("pubdate", "published", "issued", "dcterms:issued", "dc:date", "dcterms:created", "created")
_UPDATED: Final = ("updated", "modified", "dcterms:modified", "lastbuilddate")
_PICTURES: Final = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".avif")


def entry(item: Node, feed_link: str) -> Entry:
    """An item, without what only its feed says. Relative links are resolved against `xml:base`, else against `feed_link`.

    Published goes before updated. A summary goes before the content. `feedburner:origLink` is the publisher's own address; a
    guid is one unless it says that it is none (RSS 2.0, `isPermaLink`).
    """
    base = item.base if not feed_link or _has_own_base(item) else resolve(item.base, feed_link)
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


def feed_link(channel: Node) -> str:
    """The site that a feed belongs to; empty if it does not say."""
    return _link(channel, channel.base)


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
    """Markup. Text that says it is none (RFC 4287 §3.1.1.1) is escaped; content of another kind (§4.1.3) is passed over."""
    for child in node.all(*names):
        kind = child.attrs.get("type", "").lower()
        if child.name == "content" and "/" in kind and not kind.startswith("text/") and not kind.endswith("xml"):
            continue
        if text := child.text():
            return as_markup(text) if kind in {"text", "text/plain"} else text
    return ""


def _group(item: Node) -> Node:
    return next(iter(item.all("media:group")), Node("", {}, "", ""))


def _has_own_base(node: Node) -> bool:
    return "xml:base" in node.attrs


def _link(node: Node, base: str) -> str:
    """RSS's link is text; Atom's is the first alternate, a page before other types (RFC 4287 §4.2.7.2)."""
    if original := node.text("feedburner:origlink"):
        return resolve(base, original)
    links = node.all("link")
    for link in links:
        if not link.attrs.get("href") and (address := link.text()):
            return resolve(base if not _has_own_base(link) else link.base, address)
    pages = [link for link in links if link.attrs.get("href") and link.attrs.get("rel", "alternate").lower() == "alternate"]
    pages.sort(key=lambda link: link.attrs.get("type", "text/html").lower() not in {"text/html", "application/xhtml+xml"})
    return next((resolve(base if not _has_own_base(page) else page.base, page.attrs["href"]) for page in pages), "")


def _permalink(item: Node, guid: str) -> str:
    is_none = any(node.attrs.get("ispermalink", "").strip().lower() == "false" for node in item.all("guid"))
    return guid if is_web(guid) and not is_none else ""


def _date(item: Node) -> dt.datetime | None:
    for node in item.all(*_PUBLISHED, *_UPDATED):
        if found := read_date(node.text()):
            return found
    return None


def _source(item: Node, base: str) -> tuple[str, str]:
    """Who is credited, and their site: text and `url` of RSS's `source`, title and link of Atom's."""
    for source in item.all("source"):
        if source.all("title", "link", "id"):
            return source.text("title"), web(base, _link(source, base))
        return source.text(), web(base, source.attrs.get("url", ""))
    return "", ""


def _image(item: Node, base: str) -> str:
    """The first that is an address: Media RSS content, an enclosure, Media RSS thumbnail, then iTunes' and the item's own."""
    places = (item, *item.all("media:group", "media:content"))
    media = [node for place in places for node in place.all("media:content") if _shows(node)]
    enclosures = [
        node for node in item.all("enclosure", "link") if node.name == "enclosure" or node.attrs.get("rel") == "enclosure"
    ]
    thumbnails = [node for place in places for node in place.all("media:thumbnail")]
    for node in (*media, *filter(_shows, enclosures), *thumbnails, *item.all("itunes:image", "image")):
        address = node.attrs.get("url") or node.attrs.get("href") or node.text("url") or _only_text(node)
        if found := web(base, address):
            return found
    return ""


def _shows(node: Node) -> bool:
    medium, kind = node.attrs.get("medium", ""), node.attrs.get("type", "")
    if medium or kind:
        return medium == "image" or kind.startswith("image/")
    return (node.attrs.get("url") or node.attrs.get("href") or "").partition("?")[0].lower().endswith(_PICTURES)
