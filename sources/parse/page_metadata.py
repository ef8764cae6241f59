"""Metadata of an article's own page, which a sitemap does not tell: title, date, author, the last two also as its text shows them.
Executes nothing.
"""

import datetime as dt
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Final

from sources.entries import Entry
from sources.lexicons import load_lexicon
from sources.parse.charsets import decode_text
from sources.parse.dates import read_date
from sources.parse.json_ld import parse_json_ld
from sources.parse.links import get_host, is_web_url, resolve_link, resolve_web_link
from sources.parse.xml_tree import escape_plain_text, tokenize_markup, unescape_references

MAX_PAGE: Final = 1_000_000  # bytes that are looked at; metadata stands at the beginning
MAX_NODES: Final = 1_000  # of JSON-LD
_LEXICON: Final = load_lexicon("parse")["pages"]
_PAGES: Final = {name: text.split() for name, text in _LEXICON.items() if isinstance(text, str)}
_ENDS_PARAGRAPH: Final = frozenset((*_PAGES["ends_paragraph"], *_PAGES["text"], *_PAGES["beside"]))
PARAGRAPH: Final = 60  # characters: shorter ones are bylines, dates and labels
SEPARATORS: Final = (" | ", " \\ ", " - ", " – ", " — ", " · ", " : ")
# Pages that say they do not exist though their status is 200 ("soft 404"), known by a title or heading that says no more.
_MISSING_PAGE: Final = re.compile("|".join(_LEXICON["missing_pages"]).replace("<missing>", _LEXICON["missing"]))
MAX_ELEMENTS: Final = 20  # that are looked at for each form of a date or a byline
# Year, perhaps a section, month and day; or eight digits.
_IN_PATH: Final = re.compile(
    r"(?<![0-9])((?:19|20)[0-9]{2})(?:(?:/[A-Za-z_]+)?([-/_])([01]?[0-9])\2([0-3]?[0-9])|([01][0-9])([0-3][0-9]))(?![0-9])"
)
_BYLINES: Final = {name: text.split() for name, text in load_lexicon("parse")["bylines"].items()}
_VISIBLE: Final = load_lexicon("parse")["visible"]
_ELSEWHERE: Final = _VISIBLE["elsewhere"]
_CLASS: Final = "contains(concat(' ', translate(@class, '_', '-'), ' '), ' {} ')"
_BY: Final = re.compile(r"[\s–—-]*(?:(?:written|posted|reported|story|text)\s+)?(?:by|von|par|por|di|door|av|af)\b[\s:]*", re.I)
# Signs and words between names, or between a name and the office, place, day or date behind it.
_BETWEEN: Final = re.compile(
    r"\s*(?:[,;/&·•|()\n]|\s[-–—]\s|\b(?:and|und|et|y|e|en|och|og|for|in|at|pour|für|para|on)\b"
    r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? (?=[0-9]))\s*"
)
_INLINE: Final = frozenset(("a", "b", "em", "i", "span", "strong"))
_WORD: Final = re.compile(r"[^\W\d_]+(?:[’'.-]+[^\W\d_]*)*")


def parse_page(data: bytes, *, content_type: str = "", url: str = "") -> Entry | None:
    """Return the page's metadata as an entry, `publisher` being the name of its site; None when it has no title.

    For each field the first that there is: Open Graph (https://ogp.me), Twitter's cards, JSON-LD (https://schema.org/Article), then
    HTML's own elements. The canonical link counts only on the page's own host, so that no page speaks for another site. A page is
    `is_not_found` if a title or its first heading says so, and no date, `og:type` or JSON-LD marks it as an article. Never raises.
    """
    return parse_page_text(decode_text(data[:MAX_PAGE], content_type), url)[0]


def parse_page_text(text: str, url: str) -> tuple[Entry | None, bool]:
    """Return the same of a text, and whether the page says that it is not free to read (schema.org's `isAccessibleForFree`)."""
    meta, scripts = _scan_head(text[:MAX_PAGE])
    nodes = [node for script in scripts for node in _list_nodes(script)]
    is_paid = any(str(node.get("isAccessibleForFree", True)).lower() in {"false", "http://schema.org/false"} for node in nodes)
    return _build_entry(meta, nodes, url), is_paid


def _build_entry(meta: dict[str, str], nodes: Sequence[dict[str, Any]], url: str) -> Entry | None:
    kinds = [(node, str(kind)) for node in nodes for kind in _as_list(node.get("@type"))]
    article = next((node for node, kind in kinds if kind.endswith(("Article", "Posting"))), {})
    dated = article or next((node for node in nodes if node.get("datePublished")), {})  # such as the WebPage, or a Recipe
    site = meta.get("og:site_name", "")
    title = meta.get("og:title") or meta.get("twitter:title") or _clean_string(article.get("headline")) or meta.get("<title>", "")
    titles = (title, meta.get("<title>", ""), meta.get("<h1>", ""))
    for separator in SEPARATORS:
        title = (title.removesuffix(separator + site) if site else title) or title
    if not title:
        return None
    canonical = resolve_web_link(url, meta.get("<canonical>", ""))
    dates = [meta.get("article:published_time", ""), *(_clean_string(dated.get(name)) for name in ("datePublished", "dateCreated"))]
    dates += [meta.get(name, "") for name in _PAGES["dates"]]
    is_marked = bool(article or dates[0] or meta.get("datepublished")) or meta.get("og:type", "").lower() == "article"
    is_missing = not is_marked and any(map(is_not_found_title, titles))
    told = (*map(meta.get, ("og:description", "description", "twitter:description")), _clean_string(article.get("description")))
    summary, *others = dict.fromkeys(escape_plain_text(text) for text in (*told, meta.get("<p>")) if text) or [""]
    # schema.org: an image is an address, an ImageObject, or a list of either.
    image = next(iter(_as_list(article.get("image"))), None)
    address = _clean_string(image.get("url") if isinstance(image, dict) else image)
    images = (meta.get("og:image", ""), meta.get("twitter:image", ""), address)
    by_id = {identity: node for node in nodes if (identity := node.get("@id")) and isinstance(identity, str) and "name" in node}
    linked = ", ".join(dict.fromkeys(name for name in _list_names(dated.get("author") or dated.get("creator"), by_id) if name))
    authors = [
        name
        for name in (linked, *(meta.get(key, "") for key in _PAGES["authors"]))
        if name and name[0] != "@" and not is_web_url(resolve_link("", name))
    ]
    return Entry(
        publisher=site,
        title=escape_plain_text(title),
        url=canonical if get_host(canonical) == get_host(url) and canonical and not is_missing else url,
        published_at=next(filter(None, map(read_date, dates)), None),
        summary=summary,
        author=next((name for name in authors if is_person_name(name, site)), next(iter(authors), "")),
        language=meta.get("<lang>", "")[:35],
        image=next((found for image in images if (found := resolve_web_link(url, image))), ""),
        other_summaries=tuple(others),
        is_not_found=is_missing,
    )


def _scan_head(text: str) -> tuple[dict[str, str], list[str]]:
    """Return the first value of each name in `<meta>`, by property, name or itemprop, and the page's JSON-LD. HTML's own elements
    are in it as `<title>`, `<canonical>`, `<lang>`, `<h1>` (the main heading, if it stands before the text) and `<p>` (the first).
    """
    meta, scripts, inside = dict[str, str](), list[str](), ""
    body = _Body()
    for kind, raw_name, value in tokenize_markup(text, _PAGES["raw"]):
        name = raw_name.lower()
        if not body.paragraph and name not in _PAGES["raw"] and inside not in _PAGES["raw"]:
            body.add(kind, name, value)
        if isinstance(value, dict):
            attrs = {key.lower(): " ".join(content.split()) for key, content in value.items()}
            inside = "linked data" if name == "script" and attrs.get("type", "").lower() == "application/ld+json" else name
            for key, content in _list_values(name, attrs):
                known = meta.get(key.lower(), "")
                if content and not known:
                    meta[key.lower()] = content
                elif key.lower() in _PAGES["authors"] and content not in known:
                    meta[key.lower()] += f", {content}"
        elif kind == "end":
            inside = ""
        elif inside == "title" and (title := " ".join(unescape_references(value).split())):
            meta.setdefault("<title>", title)
        elif inside == "linked data":
            scripts.append(value)
    meta |= {name: text for name, text in (("<p>", body.paragraph), ("<h1>", body.heading)) if text}
    return meta, scripts


class _Body:
    """Finds the first paragraph of an article's text, past captions, notes and navigation, and the main heading before it."""

    def __init__(self) -> None:
        self.paragraph = self.heading = ""
        self._depth = dict.fromkeys((*_PAGES["text"], *_PAGES["beside"]), 0)
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
        is_text = any(self._depth[tag] for tag in _PAGES["text"]) and not any(self._depth[tag] for tag in _PAGES["beside"])
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
            person = one if "name" in one else by_id.get(_clean_string(one.get("@id")), {})
            yield from map(_clean_string, _as_list(person.get("name")))
        else:
            yield _clean_string(one)


def is_person_name(author: str, site: str = "") -> bool:
    """Return whether an author may be a person or several: of two words or more, no address, and without the site's name."""
    words = author.split()
    is_site = site and re.search(rf"(?<!\w){re.escape(site.casefold())}(?!\w)", author.casefold())
    return len(words) > 1 and not is_site and not any(map(str.isdigit, author)) and "@" not in author


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _clean_string(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""


def is_not_found_title(heading: str) -> bool:
    """Return whether a title or heading, plain text, says only that there is no such page; the site's name may stand by it."""
    if len(heading) > 150:  # it says more than that a page is missing
        return False
    for part in re.split(r"\s[|\\\-–—·•:»]\s", heading):  # of a title and the name of its site
        words = re.sub(r"[\W_]+", " ", unicodedata.normalize("NFC", part.casefold())).split()
        rest = " ".join(word for word in words if word not in _PAGES["filler"])
        if _MISSING_PAGE.fullmatch(rest) or (not rest and "404" in words):
            return True
    return False


def find_page_date(tree: Any, url: str) -> dt.datetime | None:
    """Return the date in UTC, midnight where only the day is shown: of a marked element, the address, else as htmldate finds it."""
    in_path = _IN_PATH.findall(url.partition("?")[0])
    days = (read_date(f"{year}-{month or m:0>2}-{day or d:0>2}") for year, _, month, day, m, d in in_path)
    day = next(filter(None, days), None)
    for path in _VISIBLE["dates"]:
        for text in tree.xpath(path.replace("<elsewhere>", _ELSEWHERE))[:MAX_ELEMENTS]:
            moment = read_date(text)
            # An address that has a date knows the day better than an element, which may be of a tweet or of an event.
            if moment is not None and (day is None or abs(moment - day) < dt.timedelta(days=2)):
                return moment
    if day is not None:
        return day
    from htmldate import find_date as guess  # loads much, for the process that reads pages alone

    found = guess(tree, extensive_search=True, original_date=True, url=url) or ""
    return None if found.endswith("-01-01") else read_date(found)  # the first of a year is the year of a copyright


def find_page_authors(tree: Any) -> str:
    """Return the names in the page's byline, parted by a comma and a space; empty if it has none."""
    for path in (*_VISIBLE["authors"], f"//*[{' or '.join(map(_CLASS.format, _BYLINES['classes']))}]"):
        elements = tree.xpath(path + _ELSEWHERE)[:MAX_ELEMENTS]
        named = [(element, names) for element in elements if (names := parse_byline("\n".join(element.itertext())))]
        if named:  # others stand beside the first, each perhaps in an element of its own
            block = _find_block(named[0][0])
            return ", ".join(dict.fromkeys(names for element, names in named if _find_block(element) is block))
    for element in tree.iter(*_BYLINES["lines"]):
        if any(_BY.match(text) for text in (element.text, *(child.tail for child in element)) if text) and (
            names := parse_byline("\n".join(element.itertext()))
        ):
            return names
    likely = tree.xpath(_VISIBLE["likely_authors"] + _ELSEWHERE)[:MAX_ELEMENTS]
    return next((names for element in likely if (names := parse_byline("\n".join(element.itertext())))), "")


def _find_block(element: Any) -> Any:
    """Return the nearest element around this one that begins a line; None at the root."""
    return next((above for above in element.iterancestors() if above.tag not in _INLINE), None)


def parse_byline(byline: str, site: str = "") -> str:
    """Return the persons that a byline names, parted by a comma and a space; empty for what is too long to be one."""
    if len(byline) > 200:  # characters of an element that names authors
        return ""
    byline = byline.partition("|")[0]  # a place or an office stands behind it
    parts = [" ".join(_BY.sub("", part, count=1).split()) for part in _BETWEEN.split(_BY.sub("", byline, count=1))]
    names = [name for name in dict.fromkeys(parts) if is_person_name(name, site) and all(map(_may_be_in_name, name.split()))]
    # Who is named beside them in other letters is a newsroom: Ada Lovelace, THE WIRE; ADA LOVELACE, Quince Times.
    return ", ".join(name for name in names if len(name.split()) <= 5 and name.isupper() == names[0].isupper())


def _may_be_in_name(word: str) -> bool:
    plain = word.strip(".").casefold()
    if plain in _BYLINES["particles"]:
        return True
    return plain not in _BYLINES["labels"] and bool(_WORD.fullmatch(word)) and not word[:1].islower()
