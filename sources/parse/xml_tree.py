"""Parsing of XML into a tree, within limits: no document type, no entity but HTML's own, bounded depth, width and number of items.

Well-formed text is read by expat. Other text is read by `tokenize_markup`, a scanner in linear time that takes a bare `&`, HTML's
entities, undeclared prefixes, unclosed HTML tags and control characters as they come, and stops where the text breaks off.
"""

import html
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from html.entities import html5
from typing import Any, Final
from xml.parsers import expat

from sources.lexicons import load_lexicon
from sources.parse.links import resolve_link
from sources.parse.results import MAX_ITEMS, InvalidFeed, build_too_many_error

MAX_DEPTH: Final = 100
MAX_ELEMENTS: Final = 10_000  # inside one item, or between items
MAX_ATTRIBUTES: Final = 200
_KNOWN: Final[dict[str, str]] = load_lexicon("parse")["namespaces"]  # the usual prefix of each, "" for the formats themselves
_C1: Final = {code: html.unescape(f"&#{code};") for code in range(0x80, 0xA0)}  # windows-1252, as HTML reads these references
_PREFIXES: Final = {prefix: prefix for prefix in _KNOWN.values()} | {"atom": "", "rss": ""}  # where none is declared


@dataclass(slots=True)
class Node:
    """Element. `name` is in lower case, with the usual prefix of its namespace; `parts` are its texts and children, in order."""

    name: str
    attrs: dict[str, str]
    base: str
    lang: str
    parts: "list[str | Node]" = field(default_factory=list)
    named: "dict[str, list[Node]]" = field(default_factory=dict)

    def add(self, child: "Node") -> None:
        self.parts.append(child)
        self.named.setdefault(child.name, []).append(child)

    def all(self, *names: str) -> "list[Node]":
        """List the children of these names, in the order of the names, then of the document."""
        return [child for name in names if name in self.named for child in self.named[name]]

    def text(self, *names: str) -> str:
        """Return the first content that is not empty among children of these names; without names, the element's own."""
        if names:
            return next((text for child in self.all(*names) if (text := child.text())), "")
        return "".join(map(_serialize_part if self.named else str, self.parts)).strip()

    def html(self) -> str:
        """Return the elements in it as HTML that keeps links; text is escaped."""
        return "".join(_serialize_part(part, keeps_links=True) for part in self.parts).strip()


def _serialize_part(part: str | Node, *, keeps_links: bool = False) -> str:
    """Return markup that stands in a field as elements (XHTML, or HTML somebody forgot to escape) as the HTML it is."""
    if isinstance(part, str):
        return html.escape(part, quote=False)
    name = part.name.rpartition(":")[2]
    if keeps_links and name in {"br", "hr", "img", "wbr"}:
        return f"<{name}>"  # HTML reads an end tag of these as another line break, or not at all
    href = part.attrs.get("href") if keeps_links else None
    link = f' href="{html.escape(href)}"' if href else ""
    return f"<{name}{link}>{''.join(_serialize_part(child, keeps_links=keeps_links) for child in part.parts)}</{name}>"


EMPTY: Final = Node("", {}, "", "")


class Tree:
    """Builds nodes out of start tags, texts and end tags. Of a whole item only what `make` returns is kept, in `built`."""

    def __init__(self, items: frozenset[str], make: Callable[[Node, "Tree"], Any], base: str, limit: int) -> None:
        self.items = items
        self.limit = limit
        self.make = make
        self.built: list[Any] = []
        self.open = [Node("", {}, base, "")]
        self.scopes = [_PREFIXES]
        self.item_depth = 0  # of the item that is open
        self.found = 0
        self.elements = 0  # in the item that is open, else between items
        self.elements_between = 0

    @property
    def root(self) -> Node:
        return self.open[0]

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.open) > MAX_DEPTH:
            raise InvalidFeed(f"The feed's elements are nested more than {MAX_DEPTH} deep.")
        self.count_tag(len(attributes))
        parent = self.open[-1]
        scope = self._read_namespaces(attributes) if attributes else self.scopes[-1]
        name = _expand_name(tag, scope)
        attrs = {_expand_name(key, scope) if ":" in key else key.lower(): value for key, value in attributes.items()}
        lang = attrs.get("xml:lang", parent.lang)
        node = Node(name, attrs, resolve_link(parent.base, attrs["xml:base"]) if "xml:base" in attrs else parent.base, lang)
        if name in self.items and not self.item_depth:
            self.item_depth = len(self.open)
            self.elements_between, self.elements = self.elements - 1, 0
            self.found += 1
            if self.found > self.limit:
                raise build_too_many_error(self.limit)
        else:
            parent.add(node)
        self.open.append(node)
        self.scopes.append(scope)

    def text(self, data: str) -> None:
        if self.item_depth or not data.isspace():
            self.open[-1].parts.append(data if data.isascii() else data.translate(_C1))

    def end(self, _tag: str = "") -> None:
        """Close the innermost element; expat has matched its name."""
        if len(self.open) == 1:
            return
        node = self.open.pop()
        self.scopes.pop()
        if len(self.open) == self.item_depth:
            self.item_depth, self.elements = 0, self.elements_between
            self.built.append(self.make(node, self))

    def end_loosely(self, tag: str) -> None:
        """Close what HTML leaves open; an end tag of nothing that is open is nothing. Raises: InvalidFeed, if fields cross."""
        name = _expand_name(tag, self.scopes[-1])
        depth = next((depth for depth in range(len(self.open) - 1, 0, -1) if self.open[depth].name == name), 0)
        if not depth:
            self.count_tag()
            return
        if self.item_depth and depth <= self.item_depth and len(self.open) - 1 > self.item_depth:
            field_name = self.open[self.item_depth + 1].name
            raise InvalidFeed(f"The feed's tags cross: </{tag[:40]}> inside <{field_name[:40]}>.")
        if depth < self.item_depth:
            raise InvalidFeed(f"The feed's tags cross: </{tag[:40]}> inside an item.")
        while len(self.open) > depth:
            self.end()

    def count_tag(self, attributes: int = 0) -> None:
        """Count a tag. Raises: InvalidFeed, when there are too many in one place."""
        self.elements += 1
        if self.elements > MAX_ELEMENTS or attributes > MAX_ATTRIBUTES:
            raise InvalidFeed("The feed holds far more elements or attributes in one place than an item can need.")

    def _read_namespaces(self, attributes: dict[str, str]) -> dict[str, str]:
        scope = self.scopes[-1]
        for key, uri in attributes.items():
            if key == "xmlns" or key.startswith("xmlns:"):
                name = uri.strip().lower().replace("https://", "http://", 1)  # a name is no address, but some spell it as one
                known = _KNOWN.get(name, "" if key == "xmlns" and not self.item_depth else "?")
                if scope.get(key[6:], "?") != known:
                    scope = {**scope, key[6:]: known}
        if len(scope) > MAX_ATTRIBUTES:
            raise InvalidFeed("The feed declares far more namespaces than it can need.")
        return scope


def _expand_name(raw: str, scope: dict[str, str]) -> str:
    prefix, _, local = raw.rpartition(":")
    prefix = scope.get(prefix, "?") if prefix != "xml" else "xml"
    return f"{prefix}:{local}".lower() if prefix else local.lower()


def parse_tree(
    text: str, items: frozenset[str], make: Callable[[Node, Tree], Any], base: str, limit: int = MAX_ITEMS
) -> tuple[Tree, bool]:
    """Return the tree of `text`, which begins with its root element, and whether the document is complete. `items` are the names
    of its items, up to `limit` of which `make` turns into something. Raises: InvalidFeed.
    """
    strict = Tree(items, make, base, limit)
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = strict.start, strict.end
    parser.CharacterDataHandler = strict.text
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except expat.ExpatError:
        strict.built.clear()
    else:
        return strict, True
    loose = Tree(items, make, base, limit)
    for kind, name, value in tokenize_markup(text):
        if kind == "text":
            loose.text(str(value))
            if value == "<":
                loose.count_tag()
        elif kind == "end":
            loose.end_loosely(name)
        elif isinstance(value, dict):
            loose.start(name, value)
            if kind == "empty":
                loose.end()
    at_the_top = [part for part in loose.root.parts if isinstance(part, Node) or part.strip()]
    return loose, len(loose.open) == len(at_the_top) == 1


_TAG: Final = re.compile(r"""<(/?)([A-Za-z_:][^\s<>/"'=]*+)((?:[^<>"']|"[^"<]*+"|'[^'<]*+')*+)>""")
_ATTRIBUTE: Final = re.compile(r"""([^\s=<>"'/]++)(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'<>]++)))?""")
_REFERENCE: Final = re.compile(r"&(?:#(\d{1,7})|#[xX]([0-9a-fA-F]{1,6})|([A-Za-z][A-Za-z0-9]{1,31}));")
_SECTIONS: Final = (("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">"))


def tokenize_markup(text: str, raw: Collection[str] = ()) -> Iterator[tuple[str, str, str | dict[str, str]]]:
    """Yield `("start" or "empty", name, attributes)`, `("end", name, "")` and `("text", "", text)`, in linear time, up to what
    never ends. A `<` that begins nothing is text, and so is all in elements named in `raw`, as in HTML's scripts.
    """
    at, last = 0, text.rfind(">")
    while at < len(text):
        tag = text.find("<", at)
        if tag != at:
            yield "text", "", unescape_references(text[at:] if tag < 0 else text[at:tag])
            if tag < 0:
                return
        at = tag
        begins_section = text.startswith(("<!", "<?"), at)
        if begins_section and (section := next((pair for pair in _SECTIONS if text.startswith(pair[0], at)), None)):
            end = text.find(section[1], at + len(section[0]))
            if end < 0:
                return
            if section[0] == "<![CDATA[":
                yield "text", "", text[at + 9 : end]
            at = end + len(section[1])
        elif match := _TAG.match(text, at):
            at = match.end()
            if match[1]:
                yield "end", match[2], ""
            else:
                attributes: dict[str, str] = {}
                for found in _ATTRIBUTE.finditer(match[3]):
                    attributes.setdefault(found[1], unescape_references(found[2] or found[3] or found[4] or ""))
                yield "empty" if match[3].endswith("/") else "start", match[2], attributes
            if match[2].lower() in raw and not match[1]:
                end_tag = re.compile(rf"</{re.escape(match[2])}(?=[\s>])", re.I).search(text, at)
                if not end_tag:
                    return
                yield "text", "", text[at : end_tag.start()]
                at = end_tag.start()
        elif at > last:
            return
        else:
            yield "text", "", "<"
            at += 1


def unescape_references(text: str) -> str:
    """Return text with references decoded once; what is none, a bare `&` or a parameter `&copy=1`, stays as it is."""

    def decode(match: re.Match[str]) -> str:  # numbers with HTML's repairs of impossible ones
        return html5.get(f"{match[3]};", match[0]) if match[3] else html.unescape(match[0])

    return _REFERENCE.sub(decode, text) if "&" in text else text


def wrap_paragraphs(text: str) -> str:
    """Return plain text as HTML: a paragraph for each part between empty lines."""
    parts = re.split(r"\n[ \t]*\n\s*", text.replace("\r\n", "\n").strip())
    return "".join(f"<p>{html.escape(part, quote=False)}</p>".replace("\n", "<br>") for part in parts if part)


_TITLE_TAG: Final = re.compile(
    r"<(/?)(a|abbr|b|big|br|cite|code|del|div|em|font|h[1-6]|i|ins|mark|p|q|s|script|small|span|strike|strong|style|sub|sup|tt|u|wbr)"
    r"(?:\s[^<>]{0,500})?/?>",
    re.I,
)
_DOUBLED: Final = re.compile(r"&amp;(?=(?!lt;|gt;)(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});)")


def escape_title(text: str) -> str:
    """Return a title that is not declared as HTML as markup. Elements that are closed are elements, for publishers emphasise words
    so; every other `<` (a<b, <3, <svg>) is text. A reference that was escaped twice is undone once, unless a `<` came of it.
    """
    text = _DOUBLED.sub("&", text)
    if "<" not in text:
        return text
    opened: dict[str, list[int]] = {}
    tags: set[int] = set()
    for tag in _TITLE_TAG.finditer(text):
        name = tag[2].lower()
        if name in {"br", "wbr"}:
            tags.add(tag.start())
        elif not tag[1]:
            opened.setdefault(name, []).append(tag.start())
        elif opened.get(name):
            tags |= {opened[name].pop(), tag.start()}
    return re.sub("<", lambda found: "<" if found.start() in tags else "&lt;", text)


def escape_plain_text(text: str) -> str:
    """Return plain text for a field that is read as HTML. Without a `<` it needs nothing: what looks like an entity is one."""
    return html.escape(text, quote=False) if "<" in text else text
