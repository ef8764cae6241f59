"""Records of BibTeX, RIS and CSL-JSON that cite the wire, wherever they stand in a text. Pure."""

import json
import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import Any, Final

from citations.dates import month_of
from citations.formats import CitationFormat, one_line
from citations.found import Found, address_of, correction_in
from citations.latex import unescape
from citations.passages import ID

NAME: Final = r"chat\s?bot\s?news(?:\s?\.\s?ai)?"
MOST: Final = 8_000  # characters of a record
MOST_TRIES: Final = 300  # records of BibTeX that are read to their end

_BIBTEX: Final = re.compile(r"@[a-z]{1,30}\s*\{\s*([^\s,{}]{0,200})\s*(?:,|$)", re.I | re.M)
_PUBLISHERS: Final = ("howpublished", "publisher", "organization", "journal", "journaltitle")
_BIBTEX_FIELDS: Final = frozenset([*_PUBLISHERS[:1], "title", "key", "author", "year", "month", "date", "url", "note"])
_RIS_TAGS: Final = frozenset(["TY", "ID", "TI", "T1", "T2", "AU", "A1", "DA", "PY", "UR", "N1", "ER", "DP", "PB"])
_CSL_NAMES: Final = frozenset(["id", "type", "title", "author", "container-title", "publisher", "issued", "URL", "note", "source"])
_YAML: Final = re.compile(r"^([ \t>]*)- id:[^\n]*\n(?:\1[ \t]+[^\n]*\n?)+", re.M)
_YAML_FIELD: Final = re.compile(r"^[ \t>]*(?:- )?([A-Za-z][\w-]*):[ \t]*([^\n]*)$", re.M)
_OF_CSL_ALONE: Final = frozenset(["type", "container-title", "issued", "URL"])
_BIBTEX_KEY: Final = re.compile(r"(?:chatbotnews[_-]|cbn-)([0-9a-z]{12})", re.I)
_OWN_NOTE: Final = re.compile(
    r"^[^,\n]{1,80}, crediting (?P<credited>[^\n]{1,120}?)\.? (?=Summarized by)"
    rf"|(?:Summarized by|via|Reported by [^.]{{1,100}}\.) ?{NAME}(?:, The Conversational AI Wire)?|https?://\S+/(?=cbn-)"
    r"|[\[(]corrected \d{4}-\d\d-\d\d[\])]",
    re.I,
)
_VIA: Final = re.compile(rf",? via {NAME}$", re.I)
_NAMED: Final = re.compile(r"(?:chatbotnews[_-]|cbn-)[0-9a-z]{12}", re.I)
_FIELD: Final = re.compile(r"\b(\w+)\s*=\s*(?=[{\"\w])")
_BRACE: Final = re.compile(r"\\.|[{}]", re.S)
_BARE_VALUE: Final = re.compile(r'"([^"]*)"|[^\s,}]*')
_RIS: Final = re.compile(r"(?<![^\s>])TY  ?- [^\n]*\n(?:(?![ \t>]*TY  ?- )[^\n]*\n){1,60}?[ \t>]*ER  ?-[^\n]*", re.M)
_RIS_FIELD: Final = re.compile(r"^[ \t>]*([A-Z][A-Z0-9])  ?- (.*)$", re.M)


def records(text: str) -> Iterator[tuple[int, int, list[Found]]]:
    """Where each record of BibTeX, RIS and CSL in YAML begins and ends, with its citations; the last first, so that a caller may
    cut them out one by one.
    """
    found = [*_bibtex_entries(text), *_ris_entries(text), *_yaml_entries(text)]
    end = len(text) + 1
    for begin, stop, citations in sorted(found, key=lambda one: -one[1]):
        if stop <= end:
            end = begin
            yield begin, stop, citations


def _bibtex_entries(text: str) -> Iterator[tuple[int, int, list[Found]]]:
    places, at, tries = [named.start() for named in _NAMED.finditer(text)], 0, 0
    while tries < MOST_TRIES and (match := _BIBTEX.search(text, at)):
        at = match.end()
        following = bisect_left(places, match.start())
        if following == len(places) or places[following] > match.start() + MOST:
            continue  # of something else: most entries of a bibliography are
        end, tries = _closed(text, match.start()), tries + 1
        entry, key = text[match.start() : end], _BIBTEX_KEY.fullmatch(match[1])
        if named := key or ID.search(entry):  # other tools give keys of their own
            yield match.start(), end, [_bibtex(entry, (f"cbn-{key[1]}" if key else named["id"]).lower())]
            at = max(end, at)


def _closed(text: str, begin: int) -> int:
    """Where the braces close that open behind `begin`; a record that was cut ends with its paragraph."""
    depth = 0
    for match in _BRACE.finditer(text, begin, begin + MOST):
        depth += {"{": 1, "}": -1}.get(match[0], 0)
        if match[0] == "}" and depth == 0:
            return match.end()
    blank = text.find("\n\n", begin)
    return min(blank if blank >= 0 else len(text), begin + MOST)


def _bibtex(entry: str, story_id: str) -> Found:
    fields: dict[str, str] = {}
    unread: list[str] = []
    at = entry.find(",")
    while match := _FIELD.search(entry, max(at, 0)):
        value, at = _value(entry, match.end())
        name = match[1].lower()
        unread += [name] if name not in _BIBTEX_FIELDS or name in fields else []
        fields.setdefault(name, unescape(value))
        at = max(at, match.end())
    month, note, year = month_of(fields.get("month", "")), fields.get("note", ""), fields.get("year", "")
    date = fields.get("date")  # as biblatex has it
    publisher = next((fields[name] for name in _PUBLISHERS if fields.get(name)), "")
    title = fields.get("title", "")
    return _record(
        entry,
        CitationFormat.BIBTEX,
        story_id,
        note,
        publisher=re.split(rf",? via {NAME}", publisher, flags=re.I)[0] or None,
        headline=title.replace("{", "").replace("}", "") or None,
        author=fields.get("author"),
        original_url=fields.get("url"),
        dates=tuple(filter(None, (date, f"{year}-{month:02}" if month else year))),
        unread=(*unread, *(["key"] if fields.get("key", publisher.partition(", ")[0]) != publisher.partition(", ")[0] else [])),
    )


def _value(entry: str, begin: int) -> tuple[str, int]:
    """A value between braces, between quotation marks or bare, and where it ends."""
    if entry[begin] == "{":
        end = _closed(entry, begin)
        return one_line(entry[begin + 1 : end - 1]), end
    match = _BARE_VALUE.match(entry, begin)
    return (one_line(match[1] or match[0]), match.end()) if match else ("", begin)


def _ris_entries(text: str) -> Iterator[tuple[int, int, list[Found]]]:
    for match in _RIS.finditer(text):
        if ID.search(match[0]):
            yield match.start(), match.end(), [_ris(match[0])]


def _ris(text: str) -> Found:
    tags: dict[str, str] = {}
    authors = []
    unread: list[str] = []
    for tag, value in _RIS_FIELD.findall(re.sub(r"\n[ \t>]*(?![A-Z][A-Z0-9]  ?- )", " ", text)):  # lines that go on
        unread += [tag] if tag not in _RIS_TAGS or (tag in tags and tag not in {"AU", "A1"}) else []
        tags.setdefault(tag, value.strip())
        authors += [value.strip()] if tag in {"AU", "A1"} else []
    named = ID.search(tags.get("ID", "")) or ID.search(text)
    date = tags.get("DA", "").strip("/ ").replace("/", "-")
    return _record(
        text,
        CitationFormat.RIS,
        named["id"].lower() if named else None,
        tags.get("N1", ""),
        publisher=" ".join(dict.fromkeys(filter(None, (tags.get("T2"), tags.get("PB"))))) or None,
        headline=" ".join(dict.fromkeys(filter(None, (tags.get("TI"), tags.get("T1"))))) or None,
        author=" and ".join(authors) or None,
        original_url=tags.get("UR"),
        dates=tuple(filter(None, (date, tags.get("PY", "")))),
        unread=tuple(unread),
    )


def _yaml_entries(text: str) -> Iterator[tuple[int, int, list[Found]]]:
    """CSL as Pandoc has it: entries of a list, each with a title and other fields that CSL alone names."""
    if "container-title:" not in text and "issued:" not in text:
        return
    for match in _YAML.finditer(text):
        fields = {name: _unquoted(value) for name, value in _YAML_FIELD.findall(match[0]) if value.strip()}
        names = [name for name in ("family", "given", "literal") if name in fields]
        item: dict[str, Any] = {name: value for name, value in fields.items() if name not in names}
        if names:
            item["author"] = [{name: fields[name] for name in names}]
        if "issued" in item:
            item["issued"] = {"date-parts": [[int(part) for part in re.findall(r"\d{1,4}", item["issued"])[:3]]]}
        if "title" in item and _OF_CSL_ALONE & set(item) and (found := _csl(item)):
            yield match.start(), match.end(), [found]


def _unquoted(value: str) -> str:
    value = value.strip()
    return value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value


def of_csl(value: Any) -> list[Found]:
    """The citations of a value of CSL-JSON: an object with an id of the wire, or a list of them; none for other JSON."""
    items = [item for item in (value if isinstance(value, list) else [value]) if isinstance(item, dict)]
    return [one for item in items if "title" in item and _OF_CSL_ALONE & set(item) and (one := _csl(item))]


def _csl(item: dict[str, Any]) -> Found | None:
    note = str(item.get("note", ""))
    values = [
        re.sub("^chatbotnews_", "cbn-", str(item.get("id", ""))),
        note,
        *(value for value in item.values() if isinstance(value, str)),
    ]
    named = next(filter(None, map(ID.search, values)), None)
    if named is None:
        return None
    issued, authors = item.get("issued"), item.get("author")
    parts = issued.get("date-parts") if isinstance(issued, dict) else None
    first = parts[0] if isinstance(parts, list) and parts and isinstance(parts[0], list) else []
    names = [one for one in authors if isinstance(one, dict)] if isinstance(authors, list) else []
    names += [{"literal": authors}] if isinstance(authors, str) else []
    said = {name: None if item.get(name) is None else str(item[name]) for name in ("container-title", "publisher", "title", "URL")}
    return _record(
        json.dumps(item, ensure_ascii=False),
        CitationFormat.CSL,
        named["id"].lower(),
        note,
        publisher=" ".join(dict.fromkeys(filter(None, (said["container-title"], said["publisher"])))) or None,
        headline=said["title"],
        author=" and ".join(_name(name) for name in names) or None,
        original_url=said["URL"],
        dates=("-".join(f"{part:02}" if isinstance(part, int) else str(part) for part in first),) if first else (),
        unread=tuple(name for name in item if name not in _CSL_NAMES or (name == "source" and item[name] != "ChatbotNews.ai")),
    )


def _name(name: dict[str, Any]) -> str:
    return str(name.get("literal") or ", ".join(str(name[key]) for key in ("family", "suffix", "given") if name.get(key)))


def _words_of_note(note: str) -> bool:
    """Whether a note says something beside what the wire's own notes say."""
    return bool(re.search(r"\w", ID.sub("", _OWN_NOTE.sub("", note))))


def _record(text: str, form: CitationFormat, story_id: str | None, note: str, **said: Any) -> Found:
    """A record names its story twice: by its key, and by the permalink in its note."""
    inner = ID.search(note)
    other = inner["id"].lower() if inner and inner["id"].lower() != story_id else None
    more = address_of(inner) if inner else {}
    if credited := _OWN_NOTE.match(note):
        said["credited"] = credited["credited"]
    if _words_of_note(note):
        said["unread"] = (*said["unread"], "note")
    if said.get("publisher"):
        said["publisher"] = _VIA.sub("", said["publisher"])
    return Found(one_line(text), form, story_id=story_id, other_id=other, corrected_on=correction_in(note), **more, **said)
