"""Citations read back: which story a text cites, and how.

Recognises what `citations.formats` writes, also when it was quoted or its lines were wrapped on the way. Every
separator is looked for once, from the side where free text cannot counterfeit it, so the time is linear in the text.
"""

import datetime as dt
import json
import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Final

from citations.formats import MONTHS, WIRE, WIRE_IN_FULL, CitationFormat, one_line
from citations.latex import unescape
from citations.sentences import CLOSING, STOPS
from citations.styles import MLA_MONTHS

_QUOTES: Final = "\"'`“”„‘’‚«»‹›"
_ID: Final = re.compile(r"cbn-[0-9a-z]{12}")
_CORRECTED: Final = re.compile(r" \[corrected \d{4}-\d\d-\d\d\]$")
_INLINE_DATE: Final = re.compile(r", (\d{4})-(\d\d)-(\d\d): ", re.A)
_ACADEMIC_DATE: Final = re.compile(r" \((\d{4}), ([A-Z][a-z]{2,8}) (\d{1,2})\)\. ", re.A)
_ACADEMIC_CREDIT: Final = re.compile(r"(?<=\. Google News), crediting ")
_SENTENCE_END: Final = re.compile(rf"[{re.escape(''.join(STOPS))}][{re.escape(CLOSING)}]* ")
_MLA_DATE: Final = re.compile(r", (\d{1,2}) ([A-Z][a-z]{2,3}\.?) (\d{4})", re.A)
_MARKDOWN: Final = re.compile(r"\[((?:[^\\\]]|\\.)*+)\]\((\S+)\) \((.+), via \[ChatbotNews\.ai\]\(\S+\)\)")
_MARKDOWN_ESCAPE: Final = re.compile(r"\\([!-/:-@\[-`{-~])")
_BIBTEX_KEY: Final = re.compile(r"@misc\{chatbotnews_([0-9a-z]{12}),")
_BIBTEX_FIELD: Final = re.compile(r"^[ \t]*(\w+) = \{(.*)\},?[ \t\r]*$", re.MULTILINE)
_RIS_FIELD: Final = re.compile(r"^([A-Z][A-Z0-9])  - (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ParsedCitation:
    """What a citation says of its story."""

    format: CitationFormat
    chatbotnews_id: str | None  # None for inline, which gives no address
    publisher: str  # the category wire where that is cited, never the outlet it credits
    headline: str | None = None  # None for layered, which gives the summary
    wire_date: dt.date | None = None  # None for layered and markdown, which give none, and bibtex, which gives no day


def parse_citation(text: str) -> ParsedCitation | None:
    """The citation that the text consists of, or None. Raises nothing, whatever the text."""
    bare = text.strip().strip(_QUOTES).strip()
    line = _CORRECTED.sub("", one_line(bare))
    for parsers, form in ((_STRUCTURED, bare), (_WRITTEN, line)):
        for parse in parsers:
            try:
                return parse(form)
            except (ValueError, LookupError, OverflowError, RecursionError):
                continue  # a separator is missing or a value impossible: not in this format
    return None


def _layered(line: str) -> ParsedCitation:
    rest, permalink = line.rsplit(" Source: ", 1)
    publisher, _ = _after("According to ", rest).split(f", as summarized by {WIRE}, ", 1)
    return ParsedCitation(CitationFormat.LAYERED, _id(permalink), publisher)


def _inline(line: str) -> ParsedCitation:
    publisher, rest = _after(f"{WIRE}, citing ", line).split(" (Tier ", 1)
    _, when, headline = _at_date(_INLINE_DATE, rest)
    return ParsedCitation(CitationFormat.INLINE, None, publisher, headline.removesuffix("."), when)


def _reference(line: str) -> ParsedCitation:
    rest, permalink = line.removesuffix(".").rsplit(f", indexed by {WIRE}, ", 1)
    rest, _ = rest.rsplit(", ", 1)
    rest, when = rest.rsplit('," ', 1)
    attribution, headline = rest.split(', "', 1)
    publisher, _, _ = attribution.partition(", crediting ")
    day, month, year = when.split(" ")
    return ParsedCitation(CitationFormat.REFERENCE, _id(permalink), publisher, headline, _date(year, month, day))


def _academic(line: str) -> ParsedCitation:
    rest, permalink = line.rsplit(f". Summarized by {WIRE_IN_FULL}. ", 1)
    byline, when, rest = _at_date(_ACADEMIC_DATE, rest)
    headline, publisher = rest.rsplit(". ", 1)
    # No publication has a full stop in its name; an outlet that is credited may. A headline may say that Google News credits
    # somebody: then the byline tells, unless it is an author's.
    if f"{publisher}." != byline and (credit := _ACADEMIC_CREDIT.search(rest)):
        headline, publisher = rest[: credit.start()].rsplit(". ", 1)
    return ParsedCitation(CitationFormat.ACADEMIC, _id(permalink), publisher, headline, when)


def _markdown(line: str) -> ParsedCitation:
    match = _MARKDOWN.fullmatch(line)
    if not match:
        raise ValueError
    headline, attribution = (_MARKDOWN_ESCAPE.sub(r"\1", part) for part in match.group(1, 3))
    publisher, _, _ = attribution.partition(", crediting ")
    return ParsedCitation(CitationFormat.MARKDOWN, _id(match[2]), publisher, headline)


def _bibtex(text: str) -> ParsedCitation:
    key = _BIBTEX_KEY.match(text)
    if not key:
        raise ValueError
    fields = dict(_BIBTEX_FIELD.findall(text))
    publisher, _ = unescape(fields["howpublished"]).rsplit(f", via {WIRE}", 1)
    headline = unescape(fields["title"][1:-1])
    return ParsedCitation(CitationFormat.BIBTEX, f"cbn-{key[1]}", publisher, headline)


def _csl(text: str) -> ParsedCitation:
    match json.loads(text):
        case [
            {
                "id": str(story_id),
                "title": str(headline),
                "container-title": str(publisher),
                "issued": {"date-parts": [[int(year), int(month), int(day)]]},
                "source": "ChatbotNews.ai",
            }
        ]:
            return ParsedCitation(CitationFormat.CSL, _id(story_id), publisher, headline, dt.date(year, month, day))
    raise ValueError


def _ris(text: str) -> ParsedCitation:
    tags = {tag: value.strip() for tag, value in _RIS_FIELD.findall(text)}
    when = dt.date.fromisoformat(tags["DA"].rstrip("/").replace("/", "-"))
    return ParsedCitation(CitationFormat.RIS, _id(tags["ID"]), tags["T2"], tags["TI"], when)


def _apa(line: str) -> ParsedCitation:
    rest, permalink = _before(")", line).rsplit(f" (indexed by {WIRE}, ", 1)
    rest, _ = rest.rsplit(" ", 1)
    rest, publisher = _last_sentence(_before(".", rest))
    headline, when = _titled_and_dated(rest)
    return ParsedCitation(CitationFormat.APA, _id(permalink), publisher, headline, when)


def _titled_and_dated(text: str) -> tuple[str, dt.date]:
    """Of "Authors (date). Title." or "Title. (date)." the title and the date. Raises: ValueError."""
    title, _, date = text.rpartition(" (")
    if match := _ACADEMIC_DATE.fullmatch(f" ({date} "):
        with suppress(ValueError):
            return _uncredited(title), _date(*match.groups())
    _, when, title = _at_date(_ACADEMIC_DATE, text)
    return _uncredited(title), when


def _uncredited(title: str) -> str:
    title = title.removesuffix(".")
    return title.partition(" [reported by ")[0] if title.endswith("]") else title


def _mla(line: str) -> ParsedCitation:
    rest, permalink = _before(".", line).rsplit(f". Indexed by {WIRE}, ", 1)
    rest, _ = rest.rsplit(", ", 1)
    at = rest.rindex(", ")
    match = _MLA_DATE.fullmatch(rest[at:])
    if not match:
        raise ValueError
    day, month, year = match.groups()
    rest, publisher = _last_sentence(rest[:at])
    author, quote, title = rest.partition('"')
    if not quote:
        raise ValueError
    headline = title.partition('"')[0] if title.strip() and title[0] != " " else author  # whose opening mark was taken for a frame
    when = _date(year, str(MLA_MONTHS.index(month) + 1), day)
    return ParsedCitation(CitationFormat.MLA, _id(permalink), publisher, headline.removesuffix("."), when)


def _last_sentence(text: str) -> tuple[str, str]:
    """What stands before the last sentence, and that one: a publication's name, which has no full stop. Raises: ValueError."""
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    if not ends:
        raise ValueError
    return text[: ends[-1] - 1], text[ends[-1] :]


def _before(ending: str, text: str) -> str:
    if not text.endswith(ending):
        raise ValueError
    return text.removesuffix(ending)


_STRUCTURED: Final = (_bibtex, _csl, _ris)
_WRITTEN: Final = (_layered, _inline, _reference, _academic, _markdown, _apa, _mla)


def _after(opening: str, text: str) -> str:
    if not text.startswith(opening):
        raise ValueError
    return text[len(opening) :]


def _id(address: str) -> str:
    """The id that an address, or nothing else, ends with."""
    story_id = address.rsplit("/story/", 1)[-1]
    if not _ID.fullmatch(story_id):
        raise ValueError
    return story_id


def _at_date(pattern: re.Pattern[str], text: str) -> tuple[str, dt.date, str]:
    """What stands before the first date that there is, the date, and what follows. Raises: ValueError."""
    match = pattern.search(text)
    while match:
        with suppress(ValueError):
            return text[: match.start()], _date(*match.groups()), text[match.end() :]
        match = pattern.search(text, match.start() + 1)  # a false date may share its last space with the true one
    raise ValueError


def _date(year: str, month: str, day: str) -> dt.date:
    """A month is a number or a name. Raises: ValueError."""
    return dt.date(int(year), int(month) if month.isdecimal() else MONTHS.index(month) + 1, int(day))
