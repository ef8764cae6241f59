"""Numbered notes and footnotes: which words of a text each of its notes stands behind. Pure."""

import re
from collections import defaultdict
from typing import Final

from citations.citation_lexicon import compile_pattern
from citations.find.claim_context import has_own_words, locate_last_sentence
from citations.find.segments import ID

LONGEST: Final = 600  # characters before a marker that may be said of its note
_SUPERSCRIPTS: Final = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_NOTE: Final = compile_pattern("note", re.M)
_BLANK: Final = re.compile(r"\n[ \t>]*\n")
MARKER: Final = re.compile(r"\[(\^?\d{1,2}(?:[,;–-] ?\^?\d{1,2})*)\]|\((\d{1,2})\)|\^(\d{1,2})\b|([⁰¹²³⁴-⁹]{1,2})")


def locate_notes(text: str) -> list[tuple[int, int]]:
    """Return where each numbered note begins and ends: at the next one, or at a blank line."""
    spans = []
    for note in _NOTE.finditer(text):
        end = _find_note_end(text, note.end())
        blank = _BLANK.search(text, note.end(), end)
        spans.append((note.end(), blank.start() if blank else end))
    return spans


def find_noted_claims(text: str) -> dict[str, list[str]]:
    notes = [note for note in _NOTE.finditer(text) if ID.search(text, note.end(), _find_note_end(text, note.end()))]
    if not notes:
        return {}
    stretches = _list_claims_by_marker(text[: notes[0].start()])
    found: dict[str, list[str]] = defaultdict(list)
    for note in notes:
        number = next(filter(None, note.groups())).translate(_SUPERSCRIPTS).lstrip("0")
        match = ID.search(text, note.end(), _find_note_end(text, note.end()))
        if match and number in stretches:
            found[match["id"].lower()] += stretches[number]
    return dict(found)


def _find_note_end(text: str, at: int) -> int:
    following = _NOTE.search(text, at)
    return following.start() if following else len(text)


def _list_claims_by_marker(body: str) -> dict[str, list[str]]:
    """Return what stands before each marker, by its number: the rest of the sentence since the marker before."""
    found: dict[str, list[str]] = defaultdict(list)
    begin, said = 0, ""
    for marker in MARKER.finditer(body):
        stretch = body[max(begin, marker.start() - LONGEST) : marker.start()].rstrip()
        stretch = _BLANK.split(stretch)[-1]
        stretch = stretch[locate_last_sentence(stretch) :].lstrip(" ,;.:")
        said = stretch if has_own_words(stretch) else said  # two markers side by side stand for the same words
        for number in re.findall(r"\d+", next(filter(None, marker.groups())).translate(_SUPERSCRIPTS)):
            found[number.lstrip("0")].append(said)
        begin = marker.end()
    return found
