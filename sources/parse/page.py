"""An article's own page, for what a sitemap does not tell: title, date, author. Reads metadata only and executes nothing."""

from collections.abc import Iterator
from typing import Any, Final

import orjson

from sources.entries import Entry
from sources.parse.addresses import host, is_web, resolve, web
from sources.parse.charsets import decode
from sources.parse.dates import read_date
from sources.parse.markup import as_markup, tokens, unescape

MAX_PAGE: Final = 1_000_000  # bytes that are looked at; metadata stands at the beginning
MAX_NODES: Final = 1_000  # of JSON-LD
_RAW: Final = ("script", "style", "title", "textarea", "noscript")
_TEXT: Final = ("article", "main")
_BESIDE: Final = ("aside", "figure", "footer", "form", "header", "nav", "blockquote")
_ENDS_PARAGRAPH: Final = frozenset({"p", "div", "section", "h1", "h2", "h3", "h4", "ul", "ol", *_TEXT, *_BESIDE})
PARAGRAPH: Final = 60  # characters: shorter ones are bylines, dates and labels
SEPARATORS: Final = (" | ", " \\ ", " - ", " – ", " — ", " · ", " : ")


def parse_page(data: bytes, *, content_type: str = "", url: str = "") -> Entry | None:
    """The page's metadata as an entry, `publisher` being the name of its site; None when it has no title.

    For each field the first that there is: Open Graph (https://ogp.me), Twitter's cards, JSON-LD (https://schema.org/Article), then
    HTML's own elements. The canonical link counts only on the page's own host, so that no page speaks for another site; without it
    the address is `url`. A date is UTC; None where it is not told or cannot be right. All descriptions are given, and at last
    the article's first paragraph. Never raises.
    """
    return read_page(decode(data[:MAX_PAGE], content_type), url)[0]


def read_page(text: str, url: str) -> tuple[Entry | None, bool]:
    """Like `parse_page`, of text; and whether the page says that it is not free to read (schema.org's `isAccessibleForFree`)."""
    meta, scripts = _read(text[:MAX_PAGE])
    nodes = [node for script in scripts for node in _nodes(_loaded(script))]
    is_paid = any(str(node.get("isAccessibleForFree", True)).lower() in {"false", "http://schema.org/false"} for node in nodes)
    return _entry(meta, next(filter(_is_article, nodes), {}), url), is_paid


def _entry(meta: dict[str, str], article: dict[str, Any], url: str) -> Entry | None:
    site = meta.get("og:site_name", "")
    title = meta.get("og:title") or meta.get("twitter:title") or _string(article.get("headline")) or meta.get("<title>", "")
    for separator in SEPARATORS:
        title = (title.removesuffix(separator + site) if site else title) or title
    if not title:
        return None
    canonical = web(url, meta.get("<canonical>", ""))
    dates = (meta.get("article:published_time", ""), _string(article.get("datePublished")), meta.get("datepublished", ""))
    told = (
        meta.get("og:description"),
        meta.get("description"),
        meta.get("twitter:description"),
        _string(article.get("description")),
    )
    summary, *others = dict.fromkeys(as_markup(text) for text in (*told, meta.get("<p>")) if text) or [""]
    images = (meta.get("og:image", ""), meta.get("twitter:image", ""), _address(article.get("image")))
    return Entry(
        publisher=site,
        title=as_markup(title),
        url=canonical if host(canonical) == host(url) and canonical else url,
        published_at=next(filter(None, map(read_date, dates)), None),
        summary=summary,
        author=_author(meta, article),
        language=meta.get("<lang>", "")[:35],
        image=next((found for image in images if (found := web(url, image))), ""),
        other_summaries=tuple(others),
    )


def _read(text: str) -> tuple[dict[str, str], list[str]]:
    """The first value of each name in `<meta>`, by property, name or itemprop, and the page's JSON-LD.

    HTML's own elements are in it as `<title>`, `<canonical>` and `<lang>`, and an article's first paragraph as `<p>`.
    """
    meta, scripts, inside = dict[str, str](), list[str](), ""
    body = _Body()
    for kind, raw_name, value in tokens(text, _RAW):
        name = raw_name.lower()
        if not body.paragraph and name not in _RAW and inside not in _RAW:
            body.take(kind, name, value)
        if isinstance(value, dict):
            attrs = {key.lower(): " ".join(content.split()) for key, content in value.items()}
            inside = "linked data" if name == "script" and attrs.get("type", "").lower() == "application/ld+json" else name
            for key, content in _noted(name, attrs):
                if content:
                    meta.setdefault(key.lower(), content)
        elif kind == "end":
            inside = ""
        elif inside == "title" and (title := " ".join(unescape(value).split())):
            meta.setdefault("<title>", title)
        elif inside == "linked data":
            scripts.append(value)
    if body.paragraph:
        meta["<p>"] = body.paragraph
    return meta, scripts


class _Body:
    """Looks for the first paragraph that an article's text begins with, past captions, notes and navigation."""

    def __init__(self) -> None:
        self.paragraph = ""
        self._depth = dict.fromkeys((*_TEXT, *_BESIDE), 0)
        self._open: list[str] | None = None

    def take(self, kind: str, name: str, value: str | dict[str, str]) -> None:
        if kind == "text":
            if self._open is not None:
                self._open.append(str(value))
            return
        if self._open is not None and name in _ENDS_PARAGRAPH:
            text = " ".join("".join(self._open).split())
            self.paragraph, self._open = (text if len(text) >= PARAGRAPH else ""), None
        if name in self._depth and kind != "empty":
            self._depth[name] = max(0, self._depth[name] + (1 if kind == "start" else -1))
        if name == "p" and kind == "start" and self._is_within(_TEXT) and not self._is_within(_BESIDE):
            self._open = []

    def _is_within(self, tags: tuple[str, ...]) -> bool:
        return any(self._depth[tag] for tag in tags)


def _noted(name: str, attrs: dict[str, str]) -> Iterator[tuple[str, str]]:
    if name == "meta":
        for key in {attrs.get("property", ""), attrs.get("name", ""), attrs.get("itemprop", "")} - {""}:
            yield key, attrs.get("content", "")
    elif name == "time" and attrs.get("itemprop", "").lower() == "datepublished":
        yield "datepublished", attrs.get("datetime", "")
    elif name == "link" and "canonical" in attrs.get("rel", "").lower().split():
        yield "<canonical>", attrs.get("href", "")
    elif name == "html":
        yield "<lang>", attrs.get("lang", "")


def _loaded(script: str) -> Any:
    try:
        return orjson.loads(script)
    except ValueError:
        return None


def _is_article(node: dict[str, Any]) -> bool:
    return any(str(kind).endswith(("Article", "Posting")) for kind in _listed(node.get("@type")))


def _nodes(found: Any) -> Iterator[dict[str, Any]]:
    waiting = [found]
    for _ in range(MAX_NODES):
        if not waiting:
            return
        node = waiting.pop(0)
        if isinstance(node, dict):
            yield node
            waiting.append(node.get("@graph"))
        elif isinstance(node, list):
            waiting += node[:MAX_NODES]


def _author(meta: dict[str, str], article: dict[str, Any]) -> str:
    people = article.get("author")
    names = [_string(person.get("name") if isinstance(person, dict) else person) for person in _listed(people)]
    told = (meta.get("author", ""), ", ".join(dict.fromkeys(filter(None, names))), meta.get("article:author", ""))
    return next((name for name in told if name and not is_web(resolve("", name))), "")


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _address(value: Any) -> str:
    """An image of schema.org: an address, an ImageObject, or a list of either."""
    first = next(iter(_listed(value)), None)
    return _string(first.get("url") if isinstance(first, dict) else first)


def _string(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
