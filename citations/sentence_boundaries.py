"""Ends of sentences, in any language. Pure; cutting texts on their way into the wire and citing them follow the same rules.

In doubt (an abbreviation, an open quotation or bracket) a sentence goes on: too short a cut says less, too long a one could say
something else.
"""

import re
from collections.abc import Iterator
from itertools import chain
from typing import Final

from citations.citation_lexicon import get_words

STOPS: Final = (".", "!", "?", "…", "؟", "।", "。", "！", "？", "｡")
CLOSING: Final = "\"'”’»“«)]」』）】"
STOP: Final = re.compile(r"[.!?…؟।]++[\"'”’»“«)\]]*+(?=\s)|[。！？｡]++[」』”’）】]*+")


def split_word_set(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# A stop after one of these rarely ends a sentence. The last ones only before a number ("No. 5").
_NUMBERED: Final = frozenset({"art", "fig", "figs", "no", "nos", "p", "pp", "sec", "vol"})
_INITIALS = re.compile(r"(?:\w\.-?)*[^\W\d_]|\d{1,2}")  # U.S., e.g., J.; and "1." before an item of a list


def split_sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a text, in order; the last one perhaps without its end."""
    begin = 0
    for end in chain(_find_sentence_ends(text), (len(text),)):
        if sentence := text[begin:end].strip():
            yield sentence
        begin = end


def get_first_sentence(text: str) -> str:
    return text[: next(_find_sentence_ends(text), len(text))]


def keep_whole_sentences(text: str, limit: int) -> str:
    """Return the whole sentences at the start of `text`, in at most `limit` characters; perhaps none."""
    for stop in reversed(list(STOP.finditer(text, 0, limit + 1))):
        if stop.end() <= limit and _is_sentence_end(text, stop):
            return text[: stop.end()]
    return ""


def ends_like_sentence(text: str) -> bool:
    """Return true if a text ends as sentences do, in any script, or says that it was cut."""
    return not text or text.rstrip(CLOSING).endswith(STOPS)


def add_full_stop(text: str) -> str:
    return text if text and ends_like_sentence(text) else f"{text}."


def _find_sentence_ends(text: str) -> Iterator[int]:
    return (stop.end() for stop in STOP.finditer(text) if _is_sentence_end(text, stop))


def _is_sentence_end(text: str, stop: re.Match[str]) -> bool:
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
    return word not in get_words("abbreviations") and not _INITIALS.fullmatch(word)
