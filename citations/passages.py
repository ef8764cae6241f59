"""How a text falls into paragraphs, and a list or a table into its entries, each on one line. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final
from urllib.parse import unquote

_NL: Final = r"(?:=?[ \t]*\n[ \t>]*)?"
_BROKEN_ID: Final = re.compile(rf"c{_NL}b{_NL}n{_NL}[-‐‑–−]{_NL}(?:[0-9a-z]{_NL}){{11}}[0-9a-z](?![0-9a-z])", re.I)
_BROKEN_PERMALINK: Final = re.compile(
    _NL.join("http") + rf"(?:{_NL}(?!http|=[ \t]*\n)[^\s<>\"'()\[\]]){{4,200}}?{_NL}" + _NL.join("story/") + rf"{_NL}(?=cbn-)", re.I
)
_BROKEN_URL: Final = re.compile(r"(https?://\S{1,2000}[/_=&?%.-])[ \t]*\n[ \t>]*(?=[\w%~][\w%~./-]*[-/.])", re.I)
ID: Final = re.compile(
    r"(?P<address>(?:https?://[^\s<>\"'\])]{1,300}?/|(?<![\w./@:-])[a-z0-9][a-z0-9.-]{1,100}(?::\d{1,5})?/(?=story/))?(?:(?<![\w-])story/)?)(?<![a-z0-9-])(?P<id>cbn-[0-9a-z]{12})(?![0-9a-z-])"
    r"(?:@r(?P<revision>\d{1,6})(?:[:.](?P<pin>[0-9a-f]{8,64}))?)?",
    re.I,
)
_REDIRECTED: Final = re.compile(
    r"(?:https?://[^\s<>\"'()]{1,500}?)?(https?%3a%2f%2f[^\s<>\"'&()]{1,2000}cbn-[^\s<>\"'&()]{1,200})(?:&[^\s<>\"'()]{0,500})?",
    re.I,
)
_ATTRIBUTION: Final = re.compile(  # names, each with a capital, and an id
    r"[-–—(\s]*(?:(?:[A-Z][\w.&'’]{0,40}|via|by|in|of|for|/)[ ,:|–—-]{1,4}){1,12}\(?[^\s()]{0,300}cbn-[0-9a-z]{12}\S{0,80}"
)
_ROW: Final = re.compile(r"[ \t>]*(?:[-*•·–]|\d{1,3}[.)]|\[\^?\d{1,3}\]:?|\|)(?=\s|\S*\|)")
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
    text = _REDIRECTED.sub(lambda match: unquote(match[1]), text)
    text = _BROKEN_ID.sub(lambda match: re.sub(r"[\s>=]", "", match[0]), text)
    text = _BROKEN_PERMALINK.sub(lambda match: re.sub(r"[\s>]", "", match[0]), text)
    text = _BROKEN_URL.sub(r"\1", text)
    at = 0
    for paragraph in _paragraphs(text):
        rows = _rows(paragraph)
        for row in rows:
            plain = row.replace("\t", " | ") if len(rows) > 1 else row
            line = " ".join(re.sub(r"\n[ \t]*(?:>[ \t]*)+", "\n", f"\n{plain}").split())
            yield Passage(at, line, "\n" in row.strip(), len(rows) > 1)
            at += len(row)


def _paragraphs(text: str) -> list[str]:
    """What blank lines divide; a line that only says whose the words above are belongs to them."""
    found: list[str] = []
    for paragraph in re.split(r"(?<=\n)[ \t>]*\n", text):
        if found and _ATTRIBUTION.fullmatch(paragraph.strip()) and not ID.search(found[-1]):
            found[-1] += paragraph
        else:
            found.append(paragraph)
    return found


def _rows(paragraph: str) -> list[str]:
    """A paragraph; of a list or a table its entries, each with the lines that go on with it."""
    lines = paragraph.splitlines(keepends=True)
    named = [line for line in lines if ID.search(line)]
    if len(named) < 2 and not (named and named[0].lstrip(" >").startswith("|")):
        return [paragraph]
    if all(_ROW.match(line) for line in named):
        starts = [number for number, line in enumerate(lines) if _ROW.match(line) or number == 0]
        return ["".join(lines[a:b]) for a, b in pairwise([*starts, len(lines)])]
    is_table = any(len({line.count(mark) for line in named}) == 1 and named[0].count(mark) > 1 for mark in _DELIMITERS[:2])
    is_csv = all(line.count(",") > 2 and (ID.match(line) or ID.search(line.rstrip(' "\n')[-100:])) for line in named)
    return lines if is_table or (is_csv and len(named) >= len(lines) - 1) else [paragraph]
