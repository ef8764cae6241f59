"""Paragraphs of a text, and entries of lists and tables, each on one line; and HTML as plain text. Pure."""

import html
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple

from citations.citation_lexicon import compile_pattern

_NL: Final = r"(?:[ \t]*\n[ \t>]*)?"
_BROKEN_ID: Final = re.compile(rf"c{_NL}b{_NL}n{_NL}[-‐‑–−]{_NL}(?:[0-9a-z]{_NL}){{11}}[0-9a-z](?![0-9a-z])", re.I)
_BROKEN_PERMALINK: Final = re.compile(
    _NL.join("http") + rf"(?:{_NL}(?!http)[^\s<>\"'()\[\]]){{4,200}}?{_NL}" + _NL.join("story/") + rf"{_NL}(?=cbn-)", re.I
)
ID: Final = compile_pattern("id", re.I)
_JOIN: Final = r"[\s,;|\"'<>()\[\]:=]{1,6}(?:(?:permalink|url|uri|link|id|story|see|at)\b[\s,\"':=(<\[]{1,6})?"
_TWICE: Final = (  # one id and its permalink, in either order
    (re.compile(rf"(?<![\w/-])(?P<id>cbn-[0-9a-z]{{12}}){_JOIN}(?=[^\s<>\"'()\[\]]{{1,300}}/(?P=id)(?![0-9a-z-]))", re.I), ""),
    (re.compile(rf"(?P<whole>/(?P<id>cbn-[0-9a-z]{{12}})){_JOIN}(?P=id)(?![\w@-])", re.I), r"\g<whole>"),
)
_ROW: Final = re.compile(r"[ \t>]*(?:[-*•·–]|\.\.|\(?(?:\d{1,3}[a-z]?|[a-z]|[ivx]{1,4})[.)]|\[\^?\d{1,3}\]:?|\|)(?=\s|\S*\|)", re.I)
_CITES: Final = re.compile(rf"{ID.pattern}|chat\s?bot\s?news", re.I)
_BORDER: Final = re.compile(r"^[ \t>]*[|+]?[_=-]{8,}[|+]?[ \t]*$", re.M)
_LINK: Final = re.compile(r"<a\s([^<>]{0,1000})>(.{0,1500}?)</a\s*>", re.I | re.S)
_HREF: Final = re.compile(r"\b(?:href|cite)\s*=\s*[\"']?([^\s\"'<>]{1,500})", re.I)
_QUOTATION: Final = re.compile(r"<(blockquote|q)\s([^<>]{0,1000})>(.{0,1500}?)</\1\s*>", re.I | re.S)
_ELEMENT: Final = re.compile(r"<[/?]?[a-z][\w:.-]{0,40}(?:\s[^<>]{0,500})?[/?]?>", re.I)
_TAG: Final = compile_pattern("inline_tag", re.I)
_SHOWN: Final = {  # what stands for a tag in plain text
    re.compile(r"<tr(?:\s[^<>]{0,500})?>", re.I): "\n\n| ",
    re.compile(r"</(?:td|th)(?:\s[^<>]{0,500})?>", re.I): " | ",
    re.compile(r"</?(?:p|div|li|tr|h[1-6]|ul|ol|table|blockquote|section|article)(?:\s[^<>]{0,500})?/?>", re.I): "\n\n",
    re.compile(r"<br(?:\s[^<>]{0,500})?/?>", re.I): "\n",
    _TAG: "",
}
BREAK: Final = "\x1e"  # stands in a line where a line of the text ended for good


class Passage(NamedTuple):
    at: int  # where it begins, to order by
    line: str
    is_wrapped: bool  # its lines were broken
    is_row: bool  # an entry of a list or a table


def split_passages(text: str) -> Iterator[Passage]:
    """Yield paragraphs in their order; addresses that lines broke are whole."""
    text = _BROKEN_ID.sub(lambda match: re.sub(r"[\s>]", "", match[0]), text)
    text = _BROKEN_PERMALINK.sub(lambda match: re.sub(r"[\s>]", "", match[0]), text)
    text = _BORDER.sub("\n", compile_pattern("broken_url", re.I).sub(r"\1", text))
    at = 0
    for paragraph in _split_paragraphs(text):
        rows = _split_rows(paragraph)
        is_list = len(rows) > 1
        for row in rows:
            plain = re.sub(r"\n[ \t]*(?:>[ \t]*)+", "\n", "\n" + (row.replace("\t", " | ") if is_list else row))
            line = BREAK.join(
                " ".join(part.split()) for part in compile_pattern("hard_break").sub(BREAK, plain).split(BREAK)
            ).strip()
            for pattern, once in _TWICE:
                line = pattern.sub(once, line)
            yield Passage(at, line, "\n" in row.strip(), is_list)
            at += len(row)


def _split_paragraphs(text: str) -> list[str]:
    """Split at blank lines; a line that only says whose the words above are belongs to them."""
    paragraphs: list[str] = []
    for paragraph in re.split(r"(?<=\n)[ \t>]*\n", text):
        if paragraphs and compile_pattern("attribution").fullmatch(paragraph.strip()) and not ID.search(paragraphs[-1]):
            paragraphs[-1] += paragraph
        else:
            paragraphs.append(paragraph)
    return paragraphs


def _split_rows(paragraph: str) -> list[str]:
    lines = paragraph.splitlines(keepends=True)
    citing = [line for line in lines if _CITES.search(line)]
    if len(citing) < 2 and not (citing and citing[0].lstrip(" >").startswith("|")):
        return [paragraph]
    starts = [number for number, line in enumerate(lines) if _ROW.match(line) or number == 0]
    entries = ["".join(lines[a:b]) for a, b in pairwise([*starts, len(lines)])]
    is_list = len(starts) > 1 and all(len({match["id"] for match in ID.finditer(entry)}) < 2 for entry in entries)
    if all(_ROW.match(line) for line in citing) or (is_list and (_ROW.match(lines[0]) or not _CITES.search(entries[0]))):
        return entries
    with_id = [line for line in citing if ID.search(line)]
    is_table = len(with_id) > 1 and len(with_id) >= len(lines) - 1 and all(len(ID.findall(line)) == 1 for line in with_id)
    return lines if is_table else [paragraph]


def strip_markup(text: str) -> str:
    """Return the text without tags and entities; a link as in Markdown, where it does not show its address."""
    plain = _LINK.sub(_render_link, _QUOTATION.sub(_render_quotation, text))
    for tag, shown in _SHOWN.items():
        plain = tag.sub(shown, plain)
    return html.unescape(plain)


def _render_quotation(quoted: re.Match[str]) -> str:
    address = _HREF.search(quoted[2])  # `cite` names the source of a quotation
    return f'<p>"{_ELEMENT.sub("", quoted[3]).strip()}" ({address[1]})</p>' if address else quoted[0]


def _render_link(link: re.Match[str]) -> str:
    address = _HREF.search(link[1])
    if not address:
        return link[2]
    bare = html.unescape(_TAG.sub("", link[2])).strip()
    if bare in address[1] or address[1] in bare:
        return bare
    escaped = re.sub(r"[][\\]", r"\\\g<0>", bare)
    return f"[{escaped}]({address[1]})"
