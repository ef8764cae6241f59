"""Citations read back by somebody who knows the formats: separators are looked for from the side that no text can counterfeit."""

import datetime as dt
import json
import re
from contextlib import suppress
from typing import Final, NamedTuple

from citations.format.formats import MONTHS, WIRE, WIRE_IN_FULL, CitationFormat, fold_to_one_line
from citations.format.latex import unescape_latex
from citations.sentence_boundaries import CLOSING, STOPS

_QUOTES: Final = "\"'`“”„‘’‚«»‹›"
_ID: Final = re.compile(r"(?:.*/story/)?(cbn-[0-9a-z]{12})", re.S)
_CORRECTED: Final = re.compile(r" \[corrected \d{4}-\d\d-\d\d\]$")
_ACADEMIC_DATE: Final = re.compile(r" \((\d{4}), ([A-Z][a-z]{2,8}) (\d{1,2})\)\. ", re.A)
_ACADEMIC_CREDIT: Final = re.compile(r"(?<=\. Google News), crediting ")
_MARKDOWN: Final = re.compile(r"\[(?:[^\\\]]|\\.)*+\]\((\S+)\) \((.+), via \[ChatbotNews\.ai\]\(\S+\)\)")
_SENTENCE_END: Final = re.compile(rf"[{re.escape(''.join(STOPS))}][{re.escape(CLOSING)}]* ")


class ReadCitation(NamedTuple):
    format: CitationFormat
    chatbotnews_id: str | None  # None for inline, which gives no address
    publisher: str  # the category wire where that is cited, never the outlet it credits


def read_back(text: str) -> ReadCitation | None:
    """Return the citation that the text consists of, or None."""
    bare = text.strip().strip(_QUOTES).strip()
    line = _CORRECTED.sub("", fold_to_one_line(bare))
    for form, reader in _READERS.items():
        with suppress(ValueError, LookupError):
            address, publisher = reader(bare if form in ("bibtex", "csl", "ris") else line)
            named = _ID.fullmatch(address)
            if named or form == CitationFormat.INLINE:
                return ReadCitation(form, named[1] if named else None, publisher)
    return None


def _after(opening: str, text: str) -> str:
    if not text.startswith(opening):
        raise ValueError
    return text.removeprefix(opening)


def _read_bibtex(text: str) -> tuple[str, str]:
    key = re.match(r"@misc\{chatbotnews_([0-9a-z]{12}),", text)
    howpublished = re.search(r"^ *howpublished = \{(.*)\},\r?$", text, re.M)
    if not key or not howpublished:
        raise ValueError
    return f"cbn-{key[1]}", unescape_latex(howpublished[1]).rsplit(f", via {WIRE}", 1)[0]


def _read_csl(text: str) -> tuple[str, str]:
    (item,) = json.loads(text)
    return item["id"], item["container-title"]


def _read_ris(text: str) -> tuple[str, str]:
    tags = dict(re.findall(r"^([A-Z][A-Z0-9])  - (.*?)\r?$", text, re.M))
    return tags["ID"], tags["T2"]


def _read_layered(line: str) -> tuple[str, str]:
    rest, permalink = line.rsplit(" Source: ", 1)
    return permalink, _after("According to ", rest).split(f", as summarized by {WIRE}, ", 1)[0]


def _read_inline(line: str) -> tuple[str, str]:
    publisher, _ = _after(f"{WIRE}, citing ", line).split(" (Tier ", 1)
    return "", publisher


def _read_reference(line: str) -> tuple[str, str]:
    rest, permalink = line.removesuffix(".").rsplit(f", indexed by {WIRE}, ", 1)
    attribution, _ = rest.rsplit('," ', 1)[0].split(', "', 1)
    return permalink, attribution.partition(", crediting ")[0]


def _read_academic(line: str) -> tuple[str, str]:
    rest, permalink = line.rsplit(f". Summarized by {WIRE_IN_FULL}. ", 1)
    byline, rest = _split_at_date(rest)
    # No publication has a full stop in its name; an outlet that is credited may. A headline may say that Google News credits
    # somebody: then the byline tells, unless it is an author's.
    publisher = rest.rsplit(". ", 1)[1]
    if f"{publisher}." != byline and (credit := _ACADEMIC_CREDIT.search(rest)):
        publisher = rest[: credit.start()].rsplit(". ", 1)[1]
    return permalink, publisher


def _split_at_date(text: str) -> tuple[str, str]:
    """Split at the first date that there is. Raises: ValueError."""
    match = _ACADEMIC_DATE.search(text)
    while match:
        with suppress(ValueError):
            dt.date(int(match[1]), MONTHS.index(match[2]) + 1, int(match[3]))
            return text[: match.start()], text[match.end() :]
        match = _ACADEMIC_DATE.search(text, match.start() + 1)  # a false date may share its last space with the true one
    raise ValueError


def _read_markdown(line: str) -> tuple[str, str]:
    match = _MARKDOWN.fullmatch(line)
    if not match:
        raise ValueError
    return match[1], re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", match[2]).partition(", crediting ")[0]


def _read_apa(line: str) -> tuple[str, str]:
    rest, permalink = line.removesuffix(")").rsplit(f" (indexed by {WIRE}, ", 1)
    return permalink, _SENTENCE_END.split(rest.rsplit(" ", 1)[0].removesuffix("."))[-1]


def _read_mla(line: str) -> tuple[str, str]:
    rest, permalink = line.removesuffix(".").rsplit(f". Indexed by {WIRE}, ", 1)
    return permalink, _SENTENCE_END.split(rest.rsplit(", ", 2)[0])[-1]


_READERS: Final = {
    CitationFormat.BIBTEX: _read_bibtex,
    CitationFormat.CSL: _read_csl,
    CitationFormat.RIS: _read_ris,
    CitationFormat.LAYERED: _read_layered,
    CitationFormat.INLINE: _read_inline,
    CitationFormat.REFERENCE: _read_reference,
    CitationFormat.ACADEMIC: _read_academic,
    CitationFormat.MARKDOWN: _read_markdown,
    CitationFormat.APA: _read_apa,
    CitationFormat.MLA: _read_mla,
}
