"""JSON in any shape that names stories: what a language model answers, rows of a database. Pure.

An object is read as a row of a table is: its values are compared with the story that it names, whatever its keys are called.
Strings that cite in words of their own are paragraphs. Records of CSL-JSON are for `citations.find.bibliography_records`.
"""

import json
import re
from collections.abc import Iterator
from typing import Any, Final, NamedTuple

from citations.citation_lexicon import get_words
from citations.find.normalize import straighten_punctuation
from citations.find.segments import ID, strip_markup
from citations.sentence_boundaries import split_word_set

MOST_TRIES: Final = 50  # brackets that begin no JSON
MOST: Final = 120  # ids that stand beside the same words, each of which is compared with them
DEEPEST: Final = 30  # objects in objects
_BEGINS: Final = re.compile(r"[\[{]\s*[\"{\[]")
_CITES: Final = re.compile(r"cbn-[0-9a-z]{9}|(?:by|on|via|at) \[?chat\s?bot\s?news|chat\s?bot\s?news(?:\.ai)?,? \(?citing", re.I)
_ADDRESS: Final = re.compile(r"[\s<(\[]*\S*cbn-[0-9a-z]{12}\S*\s*")  # an id or a permalink, and nothing else
_QUOTES: Final = split_word_set("quote quotes quoted quotation quotations headline headlines title excerpt")
_PUBLISHERS: Final = split_word_set("publisher outlet newspaper newsroom")
_TIERS: Final = {"one": "1", "two": "2", "three": "3", "four": "4"}
_TIER: Final = re.compile(r"(?:tier )?([0-9]|one|two|three|four)(?:\.0)?", re.I)
_COUNTERS: Final = split_word_set("id index idx rank page position start end offset line ref n i")
_BOOKKEEPING: Final = get_words("bookkeeping")


def find_json(text: str) -> Iterator[tuple[int, int, Any]]:
    """Yield where each list or object of JSON begins and ends, and its value; in order, none inside of another."""
    decoder, at, tries = json.JSONDecoder(), 0, 0
    for match in _BEGINS.finditer(text):
        if match.start() < at or tries > MOST_TRIES:
            continue
        try:
            value, at = decoder.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            tries += 1
            continue
        yield match.start(), at, value


class Line(NamedTuple):
    """A row of an object's values, or a string of it that cites in words of its own."""

    text: str
    is_row: bool


def list_json_lines(value: Any, depth: int = 0) -> Iterator[Line]:
    """Yield the lines of a value of JSON, in its order, but for rows that begin with what belongs to the whole."""
    if isinstance(value, str) and _CITES.search(value):
        yield Line(strip_markup(value), False)
    if depth > DEEPEST or not isinstance(value, dict | list):
        return
    leaves = dict(_list_leaves(value))
    ids = {path: leaf for path, leaf in leaves.items() if _is_address(leaf)}
    if len({match["id"].lower() for leaf in ids.values() if (match := ID.search(leaf))}) == 1:
        texts = [Line(strip_markup(leaf), False) for leaf in leaves.values() if _is_quotable_text(leaf)]
        row = Line(_join_leaves(leaves), True)
        yield from (*texts, row) if _is_quotable_text(next(iter(leaves.values()))) else (row, *texts)
        return
    children = dict(value.items() if isinstance(value, dict) else enumerate(value))
    if isinstance(value, dict):  # several ids: what is said beside them is said of each
        own = {path for path in leaves if len(path) == 1 or not isinstance(children[path[0]], dict | list)}
        listed = [path for path in ids if isinstance(children[path[0]], str | list) and all(isinstance(at, int) for at in path[1:])]
        for one in listed[:MOST]:
            beside = {path: leaf for path, leaf in leaves.items() if path == one or (path in own and path not in listed)}
            yield Line(_join_leaves(beside), True)
        children = {key: child for key, child in children.items() if not any(path[0] == key for path in listed)}
    for child in children.values():
        yield from list_json_lines(child, depth + 1)


def _list_leaves(value: Any, path: tuple[str | int, ...] = ()) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if isinstance(value, dict | list) and len(path) < DEEPEST:
        for key, child in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _list_leaves(child, (*path, key))
    elif isinstance(value, str | int | float):
        yield path, value


def _join_leaves(leaves: dict[tuple[str | int, ...], Any]) -> str:
    is_wires = any(path[-1] in ("story_sha256", "consensus_score", "event_id") for path in leaves)
    keyed = ((next((part for part in reversed(path) if isinstance(part, str)), ""), leaf) for path, leaf in leaves.items())
    return " | ".join(filter(None, (_phrase_leaf(key, leaf) for key, leaf in keyed if not (is_wires and key in _BOOKKEEPING))))


def _phrase_leaf(key: str, leaf: Any) -> str:
    parts = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", key).lower().replace("_", " ").replace("-", " ").split()
    if "tier" in parts and (tier := _TIER.fullmatch(str(leaf))):
        return f"tier {_TIERS.get(tier[1].lower(), tier[1])}"
    if isinstance(leaf, bool):
        return "" if leaf else f"not {' '.join(parts)}"
    if not isinstance(leaf, str):
        return "" if parts and parts[-1] in _COUNTERS else f"{leaf} {' '.join(parts)}"
    if _is_address(leaf):
        return leaf.strip()
    if _CITES.search(leaf):
        return ""
    plain = " ".join(straighten_punctuation(strip_markup(leaf)).split())
    quoted = plain.replace('"', "'")
    return f'"{quoted}"' if _QUOTES & set(parts) else f"according to {plain}" if _PUBLISHERS & set(parts) else plain


def _is_quotable_text(leaf: Any) -> bool:
    return isinstance(leaf, str) and bool(_CITES.search(leaf)) and not _is_address(leaf)


def _is_address(leaf: Any) -> bool:
    return isinstance(leaf, str) and bool(ID.search(leaf) and _ADDRESS.fullmatch(leaf))
