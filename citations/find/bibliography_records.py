"""Records of BibTeX, RIS and CSL-JSON that cite the wire, wherever they stand in a text. Pure."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, Final

from citations.citation_lexicon import compile_pattern
from citations.find.citation_match import CitationMatch, find_correction_date, get_permalink_parts
from citations.find.dates import parse_month
from citations.find.segments import ID
from citations.format.formats import CitationFormat, fold_to_one_line
from citations.format.latex import unescape_latex

NAME: Final = compile_pattern("wire").pattern
MOST: Final = 8_000  # characters of a record
MOST_TRIES: Final = 300  # records of BibTeX that are read to their end

_BIBTEX: Final = re.compile(r"@[a-z]{1,30}\s*\{\s*([^\s,{}]{0,200})\s*(?:,|$)", re.I | re.M)
_PUBLISHERS: Final = ("howpublished", "publisher", "organization", "journal", "journaltitle")
_BIBTEX_FIELDS: Final = frozenset([*_PUBLISHERS[:1], "title", "key", "author", "year", "month", "date", "url", "note"])
_RIS_TAGS: Final = frozenset(["TY", "ID", "TI", "T1", "T2", "AU", "A1", "DA", "PY", "UR", "N1", "ER", "DP", "PB"])
_CSL_NAMES: Final = frozenset(["id", "type", "title", "author", "container-title", "publisher", "issued", "URL", "note", "source"])
_OF_CSL_ALONE: Final = frozenset(["type", "container-title", "issued", "URL"])
_BIBTEX_KEY: Final = re.compile(r"(?:chatbotnews[_-]|cbn-)([0-9a-z]{12})", re.I)
_OWN_NOTE: Final = compile_pattern("own_note", re.I)
_VIA: Final = re.compile(rf",? via {NAME}$", re.I)
_FIELD: Final = re.compile(r"\b(\w+)\s*=\s*(?=[{\"\w])")
_BRACE: Final = re.compile(r"\\.|[{}]", re.S)
_BARE_VALUE: Final = re.compile(r'"([^"]*)"|[^\s,}]*')
_RIS: Final = re.compile(r"(?<![^\s>])TY  ?- [^\n]*\n(?:(?![ \t>]*TY  ?- )[^\n]*\n){1,60}?[ \t>]*ER  ?-[^\n]*", re.M)
_RIS_FIELD: Final = re.compile(r"^[ \t>]*([A-Z][A-Z0-9])  ?- (.*)$", re.M)


def find_records(text: str) -> Iterator[tuple[int, int, list[CitationMatch]]]:
    """Yield where each record of BibTeX and RIS begins and ends, with its citations, the last first."""
    end = len(text) + 1
    found = [*_find_bibtex(text), *_find_ris(text)]
    for begin, stop, match in sorted(found, key=lambda record: -record[1]):
        if stop <= end:
            end = begin
            yield begin, stop, [match]


def _find_bibtex(text: str) -> Iterator[tuple[int, int, CitationMatch]]:
    places, at, tries = [named.start() for named in _BIBTEX_KEY.finditer(text)], 0, 0
    while tries < MOST_TRIES and (match := _BIBTEX.search(text, at)):
        at = match.end()
        following = bisect_left(places, match.start())
        if following == len(places) or places[following] > match.start() + MOST:
            continue  # of something else: most entries of a bibliography are
        end, tries = _find_closing_brace(text, match.start()), tries + 1
        entry, key = text[match.start() : end], _BIBTEX_KEY.fullmatch(match[1])
        if named := key or ID.search(entry):  # other tools give keys of their own
            yield match.start(), end, _read_bibtex(entry, (f"cbn-{key[1]}" if key else named["id"]).lower())
            at = max(end, at)


def _find_closing_brace(text: str, begin: int) -> int:
    """Return where the braces close that open behind `begin`; a record that was cut ends with its paragraph."""
    depth = 0
    for match in _BRACE.finditer(text, begin, begin + MOST):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if match[0] == "}" and depth == 0:
            return match.end()
    blank = text.find("\n\n", begin)
    return min(blank if blank >= 0 else len(text), begin + MOST)


def _read_bibtex(entry: str, story_id: str) -> CitationMatch:
    fields: dict[str, str] = {}
    unread: list[str] = []
    at = max(entry.find(","), 0)
    while match := _FIELD.search(entry, at):
        at = match.end()
        if entry[at] == "{":
            end = _find_closing_brace(entry, at)
            value, at = entry[at + 1 : end - 1], max(end, at)
        elif bare := _BARE_VALUE.match(entry, at):
            value, at = bare[1] or bare[0], bare.end()
        name = match[1].lower()
        unread += [name] if name not in _BIBTEX_FIELDS or name in fields else []
        fields.setdefault(name, unescape_latex(fold_to_one_line(value)))
    month, year = parse_month(fields.get("month", "")), fields.get("year", "")
    publisher = next((fields[name] for name in _PUBLISHERS if fields.get(name)), "")
    outlet = publisher.partition(", ")[0]
    unread += ["key"] if fields.get("key", outlet) != outlet else []
    return _build_match(
        entry,
        CitationFormat.BIBTEX,
        story_id,
        fields.get("note", ""),
        publisher=re.split(rf",? via {NAME}", publisher, flags=re.I)[0],
        headline=fields.get("title", "").replace("{", "").replace("}", "") or None,
        author=fields.get("author"),
        original_url=fields.get("url"),
        dates=(fields.get("date"), f"{year}-{month:02}" if month else year),  # `date` as biblatex has it
        unread=unread,
    )


def _find_ris(text: str) -> Iterator[tuple[int, int, CitationMatch]]:
    for record in _RIS.finditer(text):
        if not ID.search(record[0]):
            continue
        tags: dict[str, str] = {}
        authors: list[str] = []
        unread: list[str] = []
        for tag, value in _RIS_FIELD.findall(re.sub(r"\n[ \t>]*(?![A-Z][A-Z0-9]  ?- )", " ", record[0])):  # lines that go on
            if tag in {"AU", "A1"}:
                authors.append(value.strip())
            elif tag not in _RIS_TAGS or tag in tags:
                unread.append(tag)
            tags.setdefault(tag, value.strip())
        named = ID.search(tags.get("ID", "")) or ID.search(record[0])
        match = _build_match(
            record[0],
            CitationFormat.RIS,
            named["id"].lower() if named else None,
            tags.get("N1", ""),
            publisher=_join_distinct_texts(tags.get("T2"), tags.get("PB")),
            headline=_join_distinct_texts(tags.get("TI"), tags.get("T1")) or None,
            author=" and ".join(authors) or None,
            original_url=tags.get("UR"),
            dates=(tags.get("DA", "").strip("/ ").replace("/", "-"), tags.get("PY")),
            unread=unread,
        )
        yield record.start(), record.end(), match


def read_csl(value: Any) -> list[CitationMatch]:
    """Return the citations of a value of CSL-JSON: an object with an id of the wire, or a list of them; none for other JSON."""
    items = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
    return [match for item in items if "title" in item and _OF_CSL_ALONE & set(item) and (match := _read_csl_item(item))]


def _read_csl_item(item: dict[str, Any]) -> CitationMatch | None:
    note = str(item.get("note", ""))
    texts = (
        re.sub("^chatbotnews_", "cbn-", str(item.get("id", ""))),
        note,
        *(text for text in item.values() if isinstance(text, str)),
    )
    named = next(filter(None, map(ID.search, texts)), None)
    if named is None:
        return None
    issued, authors = item.get("issued"), item.get("author")
    parts = issued.get("date-parts") if isinstance(issued, dict) else None
    first = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], list) else []
    people = [{"literal": authors}] if isinstance(authors, str) else authors if isinstance(authors, list) else []
    names = [
        str(person.get("literal") or ", ".join(str(person[key]) for key in ("family", "suffix", "given") if person.get(key)))
        for person in people
        if isinstance(person, dict)
    ]
    said = {name: None if item.get(name) is None else str(item[name]) for name in ("container-title", "publisher", "title", "URL")}
    return _build_match(
        json.dumps(item, ensure_ascii=False),
        CitationFormat.CSL,
        named["id"].lower(),
        note,
        publisher=_join_distinct_texts(said["container-title"], said["publisher"]),
        headline=said["title"],
        author=" and ".join(names) or None,
        original_url=said["URL"],
        dates=["-".join(f"{part:02}" if isinstance(part, int) else str(part) for part in first)],
        unread=[name for name in item if name not in _CSL_NAMES or (name == "source" and item[name] != "ChatbotNews.ai")],
    )


def _join_distinct_texts(*texts: str | None) -> str:
    return " ".join(dict.fromkeys(filter(None, texts)))


def _build_match(text: str, form: CitationFormat, story_id: str | None, note: str, **said: Any) -> CitationMatch:
    """Return the citation of a record, which names its story twice: by its key, and by the permalink in its note."""
    inner, credited = ID.search(note), _OWN_NOTE.match(note)
    other = inner["id"].lower() if inner and inner["id"].lower() != story_id else None
    said |= get_permalink_parts(inner) if inner else {}
    said["credited"] = credited["credited"] if credited else None
    said["publisher"] = _VIA.sub("", said["publisher"]) or None
    said["dates"] = tuple(filter(None, said["dates"]))
    has_own_words = re.search(r"\w", ID.sub("", _OWN_NOTE.sub("", note)))
    said["unread"] = (*said["unread"], "note") if has_own_words else tuple(said["unread"])
    return CitationMatch(fold_to_one_line(text), form, story_id, other, corrected_on=find_correction_date(note), **said)
