"""How a text falls into paragraphs, and a list or a table into its entries, each on one line. Pure."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from urllib.parse import unquote

from citations.context import says

_NL: Final = r"(?:=?[ \t]*\n[ \t>]*)?"
_BROKEN_ID: Final = re.compile(rf"c{_NL}b{_NL}n{_NL}[-‐‑–−]{_NL}(?:[0-9a-z]{_NL}){{11}}[0-9a-z](?![0-9a-z])", re.I)
_BROKEN_PERMALINK: Final = re.compile(
    _NL.join("http") + rf"(?:{_NL}(?!http|=[ \t]*\n)[^\s<>\"'()\[\]]){{4,200}}?{_NL}" + _NL.join("story/") + rf"{_NL}(?=cbn-)", re.I
)
_BROKEN_MARK: Final = re.compile(  # a hyphen at the end of a line, in the words that show a citation
    "|".join(
        r"(?:-\n[ \t>]*)?".join(word) for word in ("summarized", "summarised", "according", "citing", "indexed", "ChatbotNews")
    ),
    re.I,
)
_CUE: Final = re.compile(r"(?:^|\n)(?:\s*\n)?(?:\d{1,5}\n)?\d\d:\d\d[^\n]{0,30}-->[^\n]*\n")  # of subtitles, whose sentences go on
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
_TAGGED: Final = re.compile(r"(?:^|\n)%(0 )?(?:[A-Z1-9@+] )?(?=\S)")  # as EndNote exports
_BORDER: Final = re.compile(r"^[ \t>]*[|+]?[_=-]{8,}[|+]?[ \t]*$", re.M)
_BOXED: Final = re.compile(r"[ \t>]*[|│] ([^|│\n]*)[|│]\s*|\s*")
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
BREAK: Final = "\x1e"
"""Stands in a line where a line of the text ended for good."""
_CSV: Final = re.compile(r"(?:\"(?:[^\"\n]|\"\")*\"|[^\",\n]*)(?:,(?:\"(?:[^\"\n]|\"\")*\"|[^\",\n]*))+\s*")
_DELIMITERS: Final = ("\t", ";", ",")


@dataclass(frozen=True, slots=True)
class Passage:
    """`at`: where it begins, to order by. `is_wrapped`: its lines were broken. `is_row`: an entry of a list or a table."""

    at: int
    line: str
    is_wrapped: bool
    is_row: bool


def passages(text: str) -> Iterator[Passage]:
    """Paragraphs in their order; addresses that lines broke or that a redirect holds are whole."""
    if text.startswith("%0 ") or "\n%0 " in text:
        text = _TAGGED.sub(lambda tag: "\n\n" if tag[1] else " | ", text)
    text = _CUE.sub("\n", text) if "-->" in text else text
    text = _BROKEN_MARK.sub(lambda match: re.sub(r"-\n[ \t>]*", "", match[0]), text)
    text = _REDIRECTED.sub(lambda match: unquote(match[1]), text)
    text = _BROKEN_ID.sub(lambda match: re.sub(r"[\s>=]", "", match[0]), text)
    text = _BROKEN_PERMALINK.sub(lambda match: re.sub(r"[\s>]", "", match[0]), text)
    text = _BROKEN_URL.sub(r"\1", text)
    at = 0
    for paragraph in map(_unboxed, _paragraphs(_BORDER.sub("\n", text))):
        rows = _rows(paragraph)
        for row in _with_what_they_say(rows) if len(rows) > 1 else rows:
            plain = row.replace("\t", " | ") if len(rows) > 1 else row
            plain = re.sub(r"\n[ \t]*(?:>[ \t]*)+", "\n", f"\n{plain}")
            line = BREAK.join(" ".join(part.split()) for part in _HARD.sub(BREAK, plain).split(BREAK)).strip()
            for pattern, once in _TWICE:
                line = pattern.sub(once, line)
            yield Passage(at, line, "\n" in row.strip(), len(rows) > 1)
            at += len(row)


def _with_what_they_say(rows: list[str]) -> Iterator[str]:
    """Rows that cite; one that says nothing beside its id has the rows before it with it, which name none."""
    before = ""
    for row in rows:
        if "cbn-" not in row.lower() and not _CITES.search(row):
            before += row
            continue
        yield row if says(_CITES.sub(" ", row)) else before + row
        before = ""


def without_marks_of_csv(text: str) -> str:
    """The text with the fields of such lines between bars, as in other tables: marks around a field quote nobody."""
    if "cbn-" not in text or not (',"' in text or '",' in text):
        return text
    lines = []
    for line in text.split("\n"):
        fields = next(csv.reader([line]), []) if '"' in line and '":' not in line and _CSV.fullmatch(line) else []
        is_row = ('","' in line or len(fields) > 2) and not any(field.startswith(" ") for field in fields)
        lines.append(f"| {' | '.join(fields)}" if is_row else line)
    return "\n".join(lines)


def _paragraphs(text: str) -> list[str]:
    """What blank lines divide; a line that only says whose the words above are belongs to them."""
    found: list[str] = []
    for paragraph in re.split(r"(?<=\n)[ \t>]*\n", text):
        if found and _ATTRIBUTION.fullmatch(paragraph.strip()) and not ID.search(found[-1]):
            found[-1] += paragraph
        else:
            found.append(paragraph)
    return found


def _unboxed(paragraph: str) -> str:
    """Without the lines that a box of characters draws at both sides of a text; a table has more of them."""
    lines = paragraph.splitlines(keepends=True)
    is_box = len(lines) > 2 and all(_BOXED.fullmatch(line) for line in lines) and 2 * len(ID.findall(paragraph)) <= len(lines)
    return "".join(_BOXED.sub(r"\1\n", line) for line in lines) if is_box else paragraph


def _rows(paragraph: str) -> list[str]:
    """A paragraph; of a list or a table its entries, each with the lines that go on with it."""
    lines = paragraph.splitlines(keepends=True)
    named = [line for line in lines if _CITES.search(line)]
    if len(named) < 2 and not (named and named[0].lstrip(" >").startswith("|")):
        return [paragraph]
    starts = [number for number, line in enumerate(lines) if _ROW.match(line) or number == 0]
    entries = ["".join(lines[a:b]) for a, b in pairwise([*starts, len(lines)])]
    is_list = len(starts) > 1 and all(len({one["id"] for one in ID.finditer(entry)}) < 2 for entry in entries)
    if all(_ROW.match(line) for line in named) or (is_list and (_ROW.match(lines[0]) or not _CITES.search(entries[0]))):
        return entries
    with_id = [line for line in named if ID.search(line)]
    if len(with_id) < 2:
        return [paragraph]
    is_table = any(len({line.count(mark) for line in with_id}) == 1 and with_id[0].count(mark) > 1 for mark in _DELIMITERS[:2])
    is_csv = all(line.count(",") > 2 and (ID.match(line) or ID.search(line.rstrip(' "\n')[-100:])) for line in with_id)
    is_spaced = all(_COLUMNS.search(line) and len(ID.findall(line)) == 1 for line in with_id)
    is_talk = all(map(_TURN.match, lines)) and all(says(_CITES.sub(" ", _TURN.sub("", line))) for line in with_id)
    is_log = all(len(_FIELD.findall(line)) > 1 for line in with_id)
    return lines if is_table or is_spaced or is_talk or is_log or (is_csv and len(with_id) >= len(lines) - 1) else [paragraph]
