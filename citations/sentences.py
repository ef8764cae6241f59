"""Where a sentence ends, in any language. Pure; what is cut on its way into the wire and what is cited go by the same rules.

In doubt (an abbreviation, an open quotation or bracket) a sentence goes on: too short a cut says less, too long a one could say
something else.
"""

import re
from collections.abc import Iterator
from typing import Final

STOPS: Final = (".", "!", "?", "…", "؟", "।", "。", "！", "？", "｡")
CLOSING: Final = "\"'”’»“«)]」』）】"
STOP: Final = re.compile(r"[.!?…؟।]++[\"'”’»“«)\]]*+(?=\s)|[。！？｡]++[」』”’）】]*+")


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# A stop after one of these rarely ends a sentence. The last ones only before a number ("No. 5").
_ABBREVIATIONS: Final = _words(
    """adm al approx apr assn assoc aug ave bros capt cf ch cmdr co col corp cpl dec dept dr est etc feb ft gen gov hon
    inc jan jr jul jun lt ltd maj mar messrs mr mrs ms mt mx nov oct ph.d pres prof rep rev sen sep sept sgt sr st univ
    viz vs yahoo"""
)
_NUMBERED: Final = frozenset({"art", "fig", "figs", "no", "nos", "p", "pp", "sec", "vol"})
_INITIALS = re.compile(r"(?:\w\.-?)*[^\W\d_]|\d{1,2}")  # U.S., e.g., J.; and "1." before an item of a list


def sentences(text: str) -> Iterator[str]:
    """The sentences of a text, in order; the last one perhaps without its end."""
    begin = 0
    for stop in STOP.finditer(text):
        if _ends_sentence(text, stop):
            yield text[begin : stop.end()].strip()
            begin = stop.end()
    if rest := text[begin:].strip():
        yield rest


def first_sentence(text: str) -> str:
    """The sentence that `text` begins with; all of it, if it has no other."""
    ends = (stop.end() for stop in STOP.finditer(text) if _ends_sentence(text, stop))
    return text[: next(ends, len(text))]


def whole_sentences(text: str, limit: int) -> str:
    """The whole sentences at the start of `text`, in at most `limit` characters; perhaps none."""
    for stop in reversed(list(STOP.finditer(text, 0, limit + 1))):
        if stop.end() <= limit and _ends_sentence(text, stop):
            return text[: stop.end()]
    return ""


def ends_whole(text: str) -> bool:
    """Whether a text ends as sentences do, in any script, or says that it was cut."""
    return not text or text.rstrip(CLOSING).endswith(STOPS)


def _ends_sentence(text: str, stop: re.Match[str]) -> bool:
    head = text[: stop.end()]
    if sum(map(head.count, '"“”„«»「」『』')) % 2 or sum(map(head.count, "([（【")) > sum(map(head.count, ")]）】")):
        return False
    if stop[0].startswith(STOPS[-4:]):
        return True
    following = (text[stop.end() : stop.end() + 24].split() or [""])[0]
    if following.islower():  # as xAI and iPhone are not
        return False
    word = text[: stop.start()].rpartition(" ")[2].lstrip("(“\"‘'[").lower()
    if word in _NUMBERED:
        return not following[:1].isdigit()
    return word not in _ABBREVIATIONS and not _INITIALS.fullmatch(word)
