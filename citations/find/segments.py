"""Paragraphs of a text, and entries of lists and tables, each on one line. Pure."""

import csv
import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final, NamedTuple
from urllib.parse import unquote

from citations.find.context import has_content

_NL: Final = r"(?:[ \t]*\n[ \t>]*)?"
_BROKEN_ID: Final = re.compile(rf"c{_NL}b{_NL}n{_NL}[-‐‑–−]{_NL}(?:[0-9a-z]{_NL}){{11}}[0-9a-z](?![0-9a-z])", re.I)
_BROKEN_PERMALINK: Final = re.compile(
    _NL.join("http") + rf"(?:{_NL}(?!http)[^\s<>\"'()\[\]]){{4,200}}?{_NL}" + _NL.join("story/") + rf"{_NL}(?=cbn-)", re.I
)
_BROKEN_URL: Final = re.compile(  # behind a full stop a capital begins a sentence
    r"(https?://\S{1,2000}(?:[/_=&?%-]|\.(?![ \t]*\n[ \t>]*(?-i:[A-Z]))))[ \t]*\n[ \t>]*(?=[\w%~][\w%~./-]*[-/.])", re.I
)
ID: Final = re.compile(
    r"(?P<address>(?:https?://[^\s<>\"'\])]{1,300}?/|(?<![\w./@:-])[a-z0-9][a-z0-9.-]{1,100}(?::\d{1,5})?/(?=story/)"
    r"|(?<![\w.@-])(?:[a-z]{2,6}:)?(?://)?[a-z0-9-]{1,60}\.[a-z0-9.-]{2,60}(?::\d{1,5})?/(?:[^\s<>\"'()\[\]|,;]{0,200}/)?)?(?:(?<![\w-])story/)?)(?<![a-z0-9-])(?P<id>cbn-[0-9a-z]{12})(?![0-9a-z-])"
    r"(?:@r(?P<revision>\d{1,6})(?:[:.](?P<pin>(?:(?<=:)[0-9a-f]{4,64}|[0-9a-f]{8,64})(?![0-9a-z])))?)?",
    re.I,
)
_REDIRECTED: Final = re.compile(
    r"(?:https?://[^\s<>\"'()]{1,500}?)?(https?%3a%2f%2f[^\s<>\"'&()]{1,2000}cbn-[^\s<>\"'&()]{1,200})(?:&[^\s<>\"'()]{0,500})?",
    re.I,
)
_ATTRIBUTION: Final = re.compile(  # names, each with a capital, and an id
    r"[-–—(\s]*(?:(?:[A-Z][\w.&'’]{0,40}|via|by|in|of|for|/)[ ,:|–—-]{1,4}){1,12}\(?[^\s()]{0,300}cbn-[0-9a-z]{12}\S{0,80}"
)
_JOIN: Final = r"[\s,;|\"'<>()\[\]:=]{1,6}(?:(?:permalink|url|uri|link|id|story|see|at)\b[\s,\"':=(<\[]{1,6})?"
_TWICE: Final = (  # one id and its permalink, in either order
    (re.compile(rf"(?<![\w/-])(?P<id>cbn-[0-9a-z]{{12}}){_JOIN}(?=[^\s<>\"'()\[\]]{{1,300}}/(?P=id)(?![0-9a-z-]))", re.I), ""),
    (re.compile(rf"(?P<whole>/(?P<id>cbn-[0-9a-z]{{12}})){_JOIN}(?P=id)(?![\w@-])", re.I), r"\g<whole>"),
)
_ROW: Final = re.compile(r"[ \t>]*(?:[-*•·–]|\.\.|\(?(?:\d{1,3}[a-z]?|[a-z]|[ivx]{1,4})[.)]|\[\^?\d{1,3}\]:?|\|)(?=\s|\S*\|)", re.I)
_CITES: Final = re.compile(rf"{ID.pattern}|chat\s?bot\s?news", re.I)
_BORDER: Final = re.compile(r"^[ \t>]*[|+]?[_=-]{8,}[|+]?[ \t]*$", re.M)
_COLUMNS: Final = re.compile(r"\S(?: {2,}|\t)\S")
_TURN: Final = re.compile(r"[ \t>]*(?:\[[\d:]+\] ?)?[A-Za-z][\w .-]{0,24}: ")  # of one who speaks
_FIELD: Final = re.compile(r"(?<![\w-])[\w.-]{1,30}=\S")  # as in logs
_LEADS: Final = "Sources?|Link|URL|See|Via|Quelle|Read more"
_HARD: Final = re.compile(  # breaks of lines that no wrapping made
    r"(?:(?<=…)|(?<=\.\.\.))[ \t]*\n"
    r"|(?<=[.!?\"'”’)\]])[ \t]*\n(?=[ \t>]*(?:[-*•]\s|\*\*\w|\.\.\s|\[|\(?\w{1,3}[.)]\s))"  # behind it an item of a list
    rf"|(?:(?<=[.!?])|(?<=[.!?][\"'”’)\]]))[ \t]*\n(?=[ \t>]*(?!(?:{_LEADS})\b)[A-Z][\w ]{{0,30}}:)"  # one who speaks
    r"|(?<=[.!?])[ \t]*\n(?=[^\n.!?]{1,30}\s*$)"  # a name below a letter
)
BREAK: Final = "\x1e"  # stands in a line where a line of the text ended for good
_CSV: Final = re.compile(r"(?:\"(?:[^\"\n]|\"\")*\"|[^\",\n]*)(?:,(?:\"(?:[^\"\n]|\"\")*\"|[^\",\n]*))+\s*")


class Passage(NamedTuple):
    at: int  # where it begins, to order by
    line: str
    is_wrapped: bool  # its lines were broken
    is_row: bool  # an entry of a list or a table


def split_passages(text: str) -> Iterator[Passage]:
    """Yield paragraphs in their order; addresses that lines broke or that a redirect holds are whole."""
    text = _REDIRECTED.sub(lambda match: unquote(match[1]), text)
    text = _BROKEN_ID.sub(lambda match: re.sub(r"[\s>]", "", match[0]), text)
    text = _BROKEN_PERMALINK.sub(lambda match: re.sub(r"[\s>]", "", match[0]), text)
    text = _BORDER.sub("\n", _BROKEN_URL.sub(r"\1", text))
    at = 0
    for paragraph in _split_paragraphs(text):
        rows = _split_rows(paragraph)
        is_list = len(rows) > 1
        for row in _merge_with_context(rows) if is_list else rows:
            plain = re.sub(r"\n[ \t]*(?:>[ \t]*)+", "\n", "\n" + (row.replace("\t", " | ") if is_list else row))
            line = BREAK.join(" ".join(part.split()) for part in _HARD.sub(BREAK, plain).split(BREAK)).strip()
            for pattern, once in _TWICE:
                line = pattern.sub(once, line)
            yield Passage(at, line, "\n" in row.strip(), is_list)
            at += len(row)


def _split_paragraphs(text: str) -> list[str]:
    """Split at blank lines; a line that only says whose the words above are belongs to them."""
    paragraphs: list[str] = []
    for paragraph in re.split(r"(?<=\n)[ \t>]*\n", text):
        if paragraphs and _ATTRIBUTION.fullmatch(paragraph.strip()) and not ID.search(paragraphs[-1]):
            paragraphs[-1] += paragraph
        else:
            paragraphs.append(paragraph)
    return paragraphs


def _split_rows(paragraph: str) -> list[str]:
    """Return the paragraph, or the entries of a list or a table, each with the lines that go on with it."""
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
    if len(with_id) < 2:
        return [paragraph]
    is_csv = all(line.count(",") > 2 and (ID.match(line) or ID.search(line.rstrip(' "\n')[-100:])) for line in with_id)
    is_table = (
        any(len({line.count(mark) for line in with_id}) == 1 and with_id[0].count(mark) > 1 for mark in "\t;")
        or all(_COLUMNS.search(line) and len(ID.findall(line)) == 1 for line in with_id)
        or (all(map(_TURN.match, lines)) and all(has_content(_CITES.sub(" ", _TURN.sub("", line))) for line in with_id))
        or all(len(_FIELD.findall(line)) > 1 for line in with_id)
        or (is_csv and len(with_id) >= len(lines) - 1)
    )
    return lines if is_table else [paragraph]


def _merge_with_context(rows: list[str]) -> Iterator[str]:
    """Yield the rows that cite; one that says nothing beside its id has the rows before it with it, which name none."""
    before = ""
    for row in rows:
        if "cbn-" not in row.lower() and not _CITES.search(row):
            before += row
            continue
        yield row if has_content(_CITES.sub(" ", row)) else before + row
        before = ""


def split_csv(text: str) -> str:
    """Return the text with the fields of CSV lines between bars, as in other tables: marks around a field quote nobody."""
    if "cbn-" not in text or not (',"' in text or '",' in text):
        return text
    lines = []
    for line in text.split("\n"):
        fields = next(csv.reader([line]), []) if '"' in line and '":' not in line and _CSV.fullmatch(line) else []
        is_row = ('","' in line or len(fields) > 2) and not any(field.startswith(" ") for field in fields)
        lines.append(f"| {' | '.join(fields)}" if is_row else line)
    return "\n".join(lines)
