"""Metadata of an article's own page, which a sitemap does not tell: title, date, author. Executes nothing."""

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from sources.entries import Entry
from sources.parse.charsets import decode
from sources.parse.dates import read_date
from sources.parse.json_ld import parse_json_ld
from sources.parse.links import host, is_web, resolve, web
from sources.parse.markup import as_markup, tokens, unescape

MAX_PAGE: Final = 1_000_000  # bytes that are looked at; metadata stands at the beginning
MAX_NODES: Final = 1_000  # of JSON-LD
# Names of `<meta>` elements, in the order in which they are believed.
_DATE_NAMES: Final = """
datepublished og:article:published_time og:published_time dc.date.issued dcterms.issued dcterms.created dc.date.created dc.date
dcterms.date parsely-pub-date sailthru.date article.published article_date_original originalpublicationdate publication_date
publication-date publishdate publish-date publish_date published-date date_published pubdate citation_publication_date
citation_date cxenseparse:recs:publishtime cxenseparse:publishtime rnews:datepublished displaydate release_date date
"""
_AUTHORS: Final = (
    *("author", "parsely-author", "sailthru.author", "citation_author", "dc.creator", "dcterms.creator"),
    *("byl", "byline", "search.byline", "article:author"),
)
_RAW: Final = ("script", "style", "title", "textarea", "noscript")
_TEXT: Final = ("article", "main")
_BESIDE: Final = ("aside", "figure", "footer", "form", "header", "nav", "blockquote")
_ENDS_PARAGRAPH: Final = frozenset({"p", "div", "section", "h1", "h2", "h3", "h4", "ul", "ol", *_TEXT, *_BESIDE})
PARAGRAPH: Final = 60  # characters: shorter ones are bylines, dates and labels
SEPARATORS: Final = (" | ", " \\ ", " - ", " – ", " — ", " · ", " : ")
# Pages that say they do not exist though their status is 200 ("soft 404"), known by a title or heading that says no more.
_LONGEST: Final = 150  # characters; what is longer says more than that a page is missing
_PARTS: Final = re.compile(r"\s[|\\\-–—·•:»]\s")  # between a title and the name of its site
_NO_WORD: Final = re.compile(r"[\W_]+")
# They stand around the phrase and say nothing more.
_FILLER: Final = re.compile(
    "404|http|status|code|error|oops|whoops|ups|uups|sorry|we|re|the|this|that|a|fehler|erreur|erro|errore|fout|ошибка|エラー|오류"
    "|diese|die|cette|la|esta|questa|deze|эта"
)
_MISSING: Final = r"(?:page|article|story|file|content|post|document)(?: you (?:requested|(?:are |were )?looking for))?"
_PHRASE: Final = re.compile(
    rf"(?:{_MISSING} )?(?:(?:is|was|can|could) )?not (?:be )?found"
    rf"|{_MISSING} (?:(?:cannot|can t|couldn t) be found|(?:does not|doesn t) exist(?: anymore)?|no longer exists)"
    rf"|{_MISSING} (?:is (?:not|no longer) available|isn t available|not available|has been removed|is missing)"
    r"|(?:can t|cannot|couldn t|could not) find page"
    r"|(?:seite|artikel|beitrag) (?:wurde )?(?:leider )?nicht gefunden|seite existiert (?:leider )?nicht(?: mehr)?"
    r"|(?:page|article) (?:introuvable|non trouvée?)|page n existe (?:pas|plus)"
    r"|página no (?:encontrada|existe)|no se (?:ha encontrado|encontró|encuentra) página"
    r"|página não (?:encontrada|existe)"
    r"|pagina (?:non (?:trovata|esiste)|niet gevonden|bestaat niet(?: meer)?)"
    r"|(?:sidan|siden) (?:kunde inte hittas|hittades inte|finns inte|blev ikke fundet|findes ikke|ble ikke funnet|finnes ikke)"
    r"|nie znaleziono strony|strona nie (?:została znaleziona|istnieje)"
    r"|страница не (?:найдена|существует)"
    r"|(?:お探しの|この)?ページ[はが](?:見つかりません(?:でした)?|存在しません)"
    r"|(?:页面|网页|頁面|網頁)(?:不存在|未找到|找不到)|(?:找不到|未找到)(?:该|該|此)?(?:页面|网页|頁面|網頁)"
    r"|페이지를 찾을 수 없습니다"
)


def parse_page(data: bytes, *, content_type: str = "", url: str = "") -> Entry | None:
    """Return the page's metadata as an entry, `publisher` being the name of its site; None when it has no title.

    For each field the first that there is: Open Graph (https://ogp.me), Twitter's cards, JSON-LD (https://schema.org/Article), then
    HTML's own elements. The canonical link counts only on the page's own host, so that no page speaks for another site; without it
    the address is `url`. A date is UTC; None where it is not told or cannot be right. All descriptions are given, and at last
    the article's first paragraph. A page is `is_not_found` if a title or its first heading says so, and nothing marks it as an
    article: no date, no `og:type`, no JSON-LD. Never raises.
    """
    return read_page(decode(data[:MAX_PAGE], content_type), url)[0]


def read_page(text: str, url: str) -> tuple[Entry | None, bool]:
    """Return the same of a text, and whether the page says that it is not free to read (schema.org's `isAccessibleForFree`)."""
    meta, scripts = _scan(text[:MAX_PAGE])
    nodes = [node for script in scripts for node in _list_nodes(script)]
    is_paid = any(str(node.get("isAccessibleForFree", True)).lower() in {"false", "http://schema.org/false"} for node in nodes)
    return _build_entry(meta, nodes, url), is_paid


def _build_entry(meta: dict[str, str], nodes: Sequence[dict[str, Any]], url: str) -> Entry | None:
    kinds = [(node, str(kind)) for node in nodes for kind in _as_list(node.get("@type"))]
    article = next((node for node, kind in kinds if kind.endswith(("Article", "Posting"))), {})
    dated = article or next((node for node in nodes if node.get("datePublished")), {})  # such as the WebPage, or a Recipe
    site = meta.get("og:site_name", "")
    title = meta.get("og:title") or meta.get("twitter:title") or _string(article.get("headline")) or meta.get("<title>", "")
    titles = (title, meta.get("<title>", ""), meta.get("<h1>", ""))
    for separator in SEPARATORS:
        title = (title.removesuffix(separator + site) if site else title) or title
    if not title:
        return None
    canonical = web(url, meta.get("<canonical>", ""))
    dates = [meta.get("article:published_time", ""), *(_string(dated.get(name)) for name in ("datePublished", "dateCreated"))]
    dates += [meta.get(name, "") for name in _DATE_NAMES.split()]
    is_marked = bool(article or dates[0] or meta.get("datepublished")) or meta.get("og:type", "").lower() == "article"
    is_missing = not is_marked and any(map(is_not_found, titles))
    told = (*map(meta.get, ("og:description", "description", "twitter:description")), _string(article.get("description")))
    summary, *others = dict.fromkeys(as_markup(text) for text in (*told, meta.get("<p>")) if text) or [""]
    # schema.org: an image is an address, an ImageObject, or a list of either.
    image = next(iter(_as_list(article.get("image"))), None)
    address = _string(image.get("url") if isinstance(image, dict) else image)
    images = (meta.get("og:image", ""), meta.get("twitter:image", ""), address)
    by_id = {identity: node for node in nodes if (identity := node.get("@id")) and isinstance(identity, str) and "name" in node}
    linked = ", ".join(dict.fromkeys(name for name in _list_names(dated.get("author") or dated.get("creator"), by_id) if name))
    authors = [name for name in (linked, *(meta.get(key, "") for key in _AUTHORS)) if name and not is_web(resolve("", name))]
    return Entry(
        publisher=site,
        title=as_markup(title),
        url=canonical if host(canonical) == host(url) and canonical and not is_missing else url,
        published_at=next(filter(None, map(read_date, dates)), None),
        summary=summary,
        author=next((name for name in authors if is_personal(name, site)), next(iter(authors), "")),
        language=meta.get("<lang>", "")[:35],
        image=next((found for image in images if (found := web(url, image))), ""),
        other_summaries=tuple(others),
        is_not_found=is_missing,
    )


def _scan(text: str) -> tuple[dict[str, str], list[str]]:
    """Return the first value of each name in `<meta>`, by property, name or itemprop, and the page's JSON-LD.

    HTML's own elements are in it as `<title>`, `<canonical>` and `<lang>`, the first main heading, if it stands before the text,
    as `<h1>`, and an article's first paragraph as `<p>`.
    """
    meta, scripts, inside = dict[str, str](), list[str](), ""
    body = _Body()
    for kind, raw_name, value in tokens(text, _RAW):
        name = raw_name.lower()
        if not body.paragraph and name not in _RAW and inside not in _RAW:
            body.add(kind, name, value)
        if isinstance(value, dict):
            attrs = {key.lower(): " ".join(content.split()) for key, content in value.items()}
            inside = "linked data" if name == "script" and attrs.get("type", "").lower() == "application/ld+json" else name
            for key, content in _list_values(name, attrs):
                known = meta.get(key.lower(), "")
                if content and not known:
                    meta[key.lower()] = content
                elif key.lower() in _AUTHORS and content not in known:
                    meta[key.lower()] += f", {content}"
        elif kind == "end":
            inside = ""
        elif inside == "title" and (title := " ".join(unescape(value).split())):
            meta.setdefault("<title>", title)
        elif inside == "linked data":
            scripts.append(value)
    meta |= {name: text for name, text in (("<p>", body.paragraph), ("<h1>", body.heading)) if text}
    return meta, scripts


class _Body:
    """Finds the first paragraph of an article's text, past captions, notes and navigation, and the main heading before it."""

    def __init__(self) -> None:
        self.paragraph = self.heading = ""
        self._depth = dict.fromkeys((*_TEXT, *_BESIDE), 0)
        self._open: list[str] | None = None
        self._heading: list[str] | None = None

    def add(self, kind: str, name: str, value: str | dict[str, str]) -> None:
        if kind == "text":
            for texts in (self._open, self._heading):
                if texts is not None:
                    texts.append(str(value))
            return
        if name == "h1" and not self.heading:
            self.heading = " ".join("".join(self._heading or ()).split())
            self._heading = [] if kind == "start" and not self.heading else None
        if self._open is not None and name in _ENDS_PARAGRAPH:
            text = " ".join("".join(self._open).split())
            self.paragraph, self._open = (text if len(text) >= PARAGRAPH else ""), None
        if name in self._depth and kind != "empty":
            self._depth[name] = max(0, self._depth[name] + (1 if kind == "start" else -1))
        is_text = any(self._depth[tag] for tag in _TEXT) and not any(self._depth[tag] for tag in _BESIDE)
        if name == "p" and kind == "start" and is_text:
            self._open = []


def _list_values(name: str, attrs: dict[str, str]) -> Iterator[tuple[str, str]]:
    if name == "meta":
        for key in {attrs.get("property", ""), attrs.get("name", ""), attrs.get("itemprop", "")} - {""}:
            yield key, attrs.get("content", "")
    elif name == "time" and attrs.get("itemprop", "").lower() == "datepublished":
        yield "datepublished", attrs.get("datetime", "")
    elif name == "link" and "canonical" in attrs.get("rel", "").lower().split():
        yield "<canonical>", attrs.get("href", "")
    elif name == "html":
        yield "<lang>", attrs.get("lang", "")


def _list_nodes(script: str) -> Iterator[dict[str, Any]]:
    """Yield the nodes that a script describes the page with, its graph and main entity included, not what these mention."""
    waiting: list[Any] = []
    with suppress(ValueError, RecursionError):
        waiting = [parse_json_ld(script)]
    for _ in range(MAX_NODES):
        if not waiting:
            return
        node = waiting.pop(0)
        if isinstance(node, dict):
            yield node
            waiting += [node.get(name) for name in ("@graph", "mainEntity", "mainEntityOfPage")]
        elif isinstance(node, list):
            waiting += node[:MAX_NODES]


def _list_names(value: Any, by_id: Mapping[str, dict[str, Any]]) -> Iterator[str]:
    """Yield the names of schema.org's authors: a name, an object, a reference to one by its `@id`, or a list of these."""
    for one in _as_list(value):
        if isinstance(one, dict):
            person = one if "name" in one else by_id.get(_string(one.get("@id")), {})
            yield from map(_string, _as_list(person.get("name")))
        else:
            yield _string(one)


def is_personal(author: str, site: str = "") -> bool:
    """Return whether an author may be a person or several: of two words or more, no address, and not the site itself."""
    words = author.split()
    return len(words) > 1 and author.casefold() != site.casefold() and not any(map(str.isdigit, author)) and "@" not in author


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _string(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def is_not_found(heading: str) -> bool:
    """Return whether a title or heading, plain text, says only that there is no such page; the site's name may stand by it."""
    if len(heading) > _LONGEST:
        return False
    for part in _PARTS.split(heading):
        words = _NO_WORD.sub(" ", unicodedata.normalize("NFC", part.casefold())).split()
        rest = " ".join(word for word in words if not _FILLER.fullmatch(word))
        if _PHRASE.fullmatch(rest) or (not rest and "404" in words):
            return True
    return False
