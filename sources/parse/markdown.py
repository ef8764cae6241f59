"""Rendering of a tree of HTML as Markdown (CommonMark with tables and strikethrough).

No markup of the tree gets through: every character of text is escaped, and every address is written anew, absolute and http(s).
Pictures, scripts, styles, frames and form controls are left out with what they hold.
"""

import re
from collections.abc import Sequence
from typing import Any, Final
from urllib.parse import quote

from lxml.etree import Comment, ProcessingInstruction, strip_elements

from sources.lexicons import load_lexicon
from sources.parse.links import resolve_web_link

Element = Any  # lxml publishes no types

MAX_DEPTH: Final = 100  # below it an element is its text
_HTML: Final = load_lexicon("parse")["html"]
_BLOCKS: Final = frozenset(_HTML["blocks"].split())
_MARKS: Final = {"b": "**", "strong": "**", "em": "*", "i": "*", "del": "~~", "s": "~~", "strike": "~~"}
_NESTED: Final = re.compile(r"(\*{1,2})[^*]+\1")
_WORD: Final = re.compile(r"\w")
_CODE: Final = frozenset(_HTML["code"].split())
_TRACKERS: Final = re.compile(rf"(?:{'|'.join(_HTML['trackers'].split())})[^=&]*(?:=|$)", re.I)
# Control, bidi, zero-width, surrogate, private-use and tag characters, and non-characters. White space is not here.
_UNWANTED: Final = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x9f\xad\u061c\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\ud800-\uf8ff\ufdd0-\ufdef\ufffe\uffff\U000e0000-\U000e0fff\U000f0000-\U0010ffff]"
)
# Characters that may begin markup where they stand; at the end of a text it may be what follows that makes them.
_SPECIAL: Final = re.compile(
    r"[`]|!(?=\[)|\\(?![\w\s])|(?<!\s)\*|\*(?!\s)|\](?=[(\[:]|\Z)|(?<![^\W_])_|_(?![^\W_])|~(?=~)|(?<=~)~|<(?=[A-Za-z/!?]|\Z)"
)
_REFERENCE: Final = re.compile(r"&(?=#?\w{1,32};)")
_LINE_START: Final = re.compile(r"\d{1,9}(?=[.)](?:\s|$))|(?=#{1,6}(?:\s|$)|>|[-+*](?:\s|$)|[-=]+$)")
_LIST: Final = re.compile(r"- |\d{1,9}\. ")
_NOT_IN_LINKS: Final = re.compile(r"[\s()<>\\`|\"]")
_SCRIPT: Final = re.compile(r"<(?=script)", re.I)
# Numbers of items and languages of code, which trafilatura would drop as attributes, stand at the beginning of their texts between
# two of these, a character that no text holds.
_NOTE: Final = "\ue000"
_NOTED: Final = re.compile(rf"\s*{_NOTE}([0-9]{{1,6}}|[\w+#-]{{1,30}}){_NOTE}")
_LANGUAGE: Final = re.compile(r"(?:^|\s)(?:language|lang|highlight-source|brush:)[- ]?([\w+#-]{1,30})", re.I)
_BREAK: Final = "\0"  # a line break, until its paragraph is whole; no text holds this character


def render_markdown(root: Element, base: str) -> list[str]:
    """Return the blocks of `root`, an lxml element, as Markdown, in order. Changes `root`. A `ref` with a `target` is a link, too.

    Relative links are resolved against `base`; those that are then not http(s) become their text. Known tracking parameters are
    taken from links. `<script` occurs nowhere, code included, so that a text that is cut within its code is safe to show, too.
    """
    strip_elements(root, *_HTML["dropped"].split(), Comment, ProcessingInstruction, with_tail=False)
    _join_emphasis(root)
    return [_SCRIPT.sub("< ", block) for block in _Writer(root, base).blocks(root)]


def move_attributes_to_text(root: Element) -> None:
    """Put what lists and code say in attributes into their texts, where `render_markdown` reads it. Changes `root`."""
    for first in root.xpath("//ol[@start]/li[1]"):
        first.set("value", first.get("value") or first.getparent().get("start"))
    notes = [(item, item.get("value")) for item in root.xpath("//ol/li[@value]") if re.fullmatch("[0-9]{1,6}", item.get("value"))]
    for code in root.iter("pre"):
        named = _LANGUAGE.search(" ".join(str(one.get("class") or "") for one in (code.getparent(), code, *code.iter("code"))))
        notes += [(code, named[1])] if named else []
    for element, note in notes:
        element.text = f"{_NOTE}{note}{_NOTE}{element.text or ''}"


def _join_emphasis(root: Element) -> None:
    """Make one of neighbours that are emphasised alike, as editors' programs write one word in two."""
    for element in list(root.iter(*_MARKS)):
        while (other := element.getnext()) is not None and other.tag == element.tag and not (element.tail or "").strip():
            last, text = (element[-1], "tail") if len(element) else (element, "text")
            setattr(last, text, "".join((getattr(last, text) or "", element.tail or "", other.text or "")))
            element.extend(other)
            element.tail = other.tail
            element.getparent().remove(other)


class _Writer:
    def __init__(self, root: Element, base: str) -> None:
        self.base = base
        self.holders = set[Element]()  # elements with blocks in them
        for block in root.iter(*_BLOCKS):
            for ancestor in block.iterancestors():
                if ancestor in self.holders:
                    break
                self.holders.add(ancestor)

    def blocks(self, element: Element, depth: int = 0) -> list[str]:
        if depth > MAX_DEPTH:
            return _split_paragraphs(_escape_markdown(" ".join(element.itertext())))
        found: list[str] = []
        run = [_escape_markdown(element.text)]
        for child in element:
            if child.tag in _BLOCKS or child in self.holders:
                found += _split_paragraphs(_join_inline(run))
                found += self._render_block(child, depth + 1)
                run = []
            else:
                run.append(self._render_inline(child, depth + 1))
            run.append(_escape_markdown(child.tail))
        return found + _split_paragraphs(_join_inline(run))

    def _render_block(self, element: Element, depth: int) -> list[str]:
        match element.tag:
            case "h1" | "h2" | "h3" | "h4" | "h5" | "h6" as tag:
                title = _join_line(self._render_children(element, depth))
                # The only heading of the first level is the title, which stands above the text.
                return [f"{'#' * max(2, int(tag[1]))} {title}"] if title else []
            case "ul" | "ol" | "menu":
                return self._render_list(element, depth)
            case "blockquote":
                lines = "\n\n".join(self.blocks(element, depth)).split("\n")
                return ["\n".join(f"> {line}".rstrip() for line in lines)] if any(lines) else []
            case "pre":
                return _render_code_block(element)
            case "table":
                return self._render_table(element, depth)
            case "hr":
                return ["* * *"]
        return self.blocks(element, depth)

    def _render_list(self, element: Element, depth: int) -> list[str]:
        items = [("", _split_paragraphs(_escape_markdown(element.text)))]
        for child in element:
            note, child.text = _split_note(child.text or "")
            items.append((note, self._render_block(child, depth + 1) if child.tag in _BLOCKS else self.blocks(child, depth + 1)))
            items.append(("", _split_paragraphs(_escape_markdown(child.tail))))
        written: list[str] = []
        number = 0
        for note, parts in items:
            if parts:
                number = int(note) if note.isdecimal() else number + 1
                written.append(_indent_item(f"{number}. " if element.tag == "ol" else "- ", parts))
        loose = any("\n\n" in item for item in written)
        return [("\n\n" if loose else "\n").join(written)] if written else []

    def _render_table(self, table: Element, depth: int) -> list[str]:
        """Return a table. A single column, or cells that Markdown cannot hold, are layout: the cells follow each other."""
        rows = [[cell for cell in row if cell.tag in ("td", "th")] for row in table.iter("tr")]
        columns = max(map(len, rows), default=0)
        if columns < 2 or next(table.iterdescendants(*_HTML["no_cells"].split()), None) is not None:
            return self.blocks(table, depth)
        captions = [text for caption in table.iter("caption") for text in self.blocks(caption, depth)]
        lines = [[_join_line(self._render_children(cell, depth)).replace("|", "\\|") for cell in row] for row in rows]
        head, *body = [line for line in lines if any(line)] or [[]]
        if not head:
            return captions
        head += [""] * (columns - len(head))
        return [*captions, "\n".join(f"| {' | '.join(line)} |" for line in (head, ["---"] * columns, *body))]

    def _render_inline(self, element: Element, depth: int) -> str:
        tag = element.tag
        if tag == "br":
            return _BREAK
        if depth > MAX_DEPTH:
            return _escape_markdown(" ".join(element.itertext()))
        if tag in _CODE:
            return _render_code("".join(element.itertext()))
        inside = self._render_children(element, depth)
        if mark := _MARKS.get(tag):
            is_marked = any(_MARKS.get(outer.tag) == mark for outer in element.iterancestors(*_MARKS))
            return inside if is_marked else _add_emphasis_mark(inside, mark)
        if tag in ("a", "ref"):
            return self._render_link(element.get("href" if tag == "a" else "target") or "", inside)
        if tag == "sup" and inside.strip().lstrip("-−").isdigit():  # 10⁶ must not become 106
            return f"^{inside.strip()}"
        return f" {inside} " if tag in _BLOCKS else inside

    def _render_children(self, element: Element, depth: int) -> str:
        parts = [_escape_markdown(element.text)]
        for child in element:
            parts += (self._render_inline(child, depth + 1), _escape_markdown(child.tail))
        return _join_inline(parts)

    def _render_link(self, address: str, inside: str) -> str:
        place, hash_sign, fragment = resolve_web_link(self.base, _UNWANTED.sub("", address)).partition("#")
        path, mark, query = place.partition("?")
        parameters = "&".join(part for part in query.split("&") if not _TRACKERS.match(part))
        address = f"{path}{mark if parameters else ''}{parameters}{hash_sign}{fragment}"
        # Written so that it ends no link and begins no markup.
        address = _REFERENCE.sub("&amp;", _NOT_IN_LINKS.sub(lambda match: quote(match[0], safe=""), address))
        text = _join_line(inside)
        if not address or not text:
            return inside
        before, after = " " * inside[:1].isspace(), " " * inside[-1:].isspace()
        return f"{before}[{text}]({address}){after}"


def _join_inline(parts: Sequence[str]) -> str:
    """Return the parts of a line together; a link behind an exclamation mark would be a picture."""
    joined = ""
    for part in parts:
        joined = f"{joined[:-1]}\\!" if part.startswith("[") and joined.endswith("!") else joined
        joined += part
    return joined


def _escape_markdown(text: str | None) -> str:
    if not text:
        return ""
    text = _REFERENCE.sub("&amp;", _UNWANTED.sub("", text))
    return _SPECIAL.sub(lambda found: "&lt;" if found[0] == "<" else f"\\{found[0]}", text)


def _split_paragraphs(run: str) -> list[str]:
    # Two line breaks or more part paragraphs, as people who write HTML by hand mean them.
    found: list[list[str]] = [[]]
    for words in map(str.split, run.split(_BREAK)):
        if words:
            line = " ".join(words)
            # Escaped if Markdown would take it for the beginning of a heading, a quotation, a list or an underline.
            begins = _LINE_START.match(line)
            found[-1].append(f"{line[: begins.end()]}\\{line[begins.end() :]}" if begins else line)
        else:
            found.append([])
    return ["  \n".join(lines) for lines in found if lines]


def _join_line(text: str) -> str:
    return " ".join(text.replace(_BREAK, " ").split())


def _add_emphasis_mark(text: str, mark: str) -> str:
    inside = text.strip()
    nested = _NESTED.fullmatch(inside)
    if not _WORD.search(inside) or _BREAK in inside or (mark[0] in (inside[0], inside[-1]) and (not nested or nested[1] == mark)):
        return text
    before, _, after = text.partition(inside)
    return f"{before}{mark}{inside}{mark}{after}"


def _render_code(text: str) -> str:
    text = " ".join(_UNWANTED.sub("", text).split())
    fence = "`" * (1 + max(map(len, re.findall("`+", text)), default=0))
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}" if text else ""


def _render_code_block(element: Element) -> list[str]:
    found = element.xpath("descendant::text() | descendant::br")
    language, text = _split_note("".join(part if isinstance(part, str) else "\n" for part in found))
    text = _UNWANTED.sub("", text).strip("\r\n")
    lines = "\n".join(line.rstrip() for line in text.splitlines())
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", lines)), default=0))
    return [f"{fence}{language}\n{lines}\n{fence}"] if lines.strip() else []


def _split_note(text: str) -> tuple[str, str]:
    noted = _NOTED.match(text)
    return (noted[1], text[noted.end() :]) if noted else ("", text)


def _indent_item(marker: str, parts: list[str]) -> str:
    # A list inside an item stands close to its text.
    text = parts[0] + "".join(("\n" if _LIST.match(part) else "\n\n") + part for part in parts[1:])
    indent = " " * len(marker)
    return marker + "\n".join(f"{indent}{line}" if line and number else line for number, line in enumerate(text.split("\n")))
