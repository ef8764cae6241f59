"""The words around an id: which of them are said of its story. Pure."""

import re
from typing import Final

from citations.citation_lexicon import compile_pattern, get_words
from citations.find.normalize import fold_words

LONGEST: Final = 1_600  # characters of a citation in prose
NAMES: Final = 80  # characters of an author's name before a title
_POINTS_BACK: Final = re.compile(r"\s*(?:\(|(?:It|They|He|She|This|That|These|Those|Its|Their|His|Her)\b)")
URL: Final = re.compile(r"https?://[^\s<>\"'\])\u3000-\uffff]+", re.I)
NO_WORDS: Final = compile_pattern("no_words", re.I)
_TIER: Final = re.compile(r"\btier[\"']?[ :=-]{0,3}(\d{1,3})\b", re.I)
_ABBREVIATIONS: Final = "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec No Nr Mr Ms Mrs Dr St vs cf pp p n f"
_NO_ABBREVIATION: Final = "".join(rf"(?<!\b{word}\.)" for word in _ABBREVIATIONS.split())
SENTENCE: Final = re.compile(  # the end of one
    rf"(?:\.{_NO_ABBREVIATION}|[!?])"
    r"[\"')\]]* (?=[\"'(\[]?[A-Z0-9\u0370-\uffff])|[。！？][)）]*"
)
LEADS: Final = get_words("leads")


def find_urls(text: str) -> list[str]:
    return [url.rstrip(".,;:!?") for url in URL.findall(text)]


def has_own_words(text: str) -> bool:
    """Return true if words stand in it that say something, and do not only lead to a story."""
    return any(word not in LEADS and not word.isdigit() for word in fold_words(URL.sub(" ", text)))


def extract_last_claim(text: str) -> str:
    """Return the last sentence of a text; with those before, while there are only names and words that lead to a story, and what
    stands in a bracket; and with the whole of a quotation that ends in it and the name before that.
    """
    ends = _list_sentence_ends(text)
    begin = end = len(text)
    while begin == len(text) or has_names_only(text[begin:end]) or _POINTS_BACK.match(text, begin):
        if not ends:
            begin = 0
            break
        begin, end = ends.pop(), begin
    if text.count('"', begin) % 2 and '"' in text[:begin]:
        begin = text.rindex('"', 0, begin)
    return text[begin:] if begin > NAMES or not has_names_only(text[:begin]) else text


def has_names_only(text: str) -> bool:
    return all(word in LEADS or word[0].isupper() or word.isdigit() for word in re.findall(r"[^\W_]+", URL.sub(" ", text)))


def locate_last_sentence(text: str) -> int:
    return next(reversed(_list_sentence_ends(text)), 0)


def _list_sentence_ends(text: str) -> list[int]:
    bare = text.rstrip(" ([<（")
    return [match.end() for match in SENTENCE.finditer(bare) if match.end() < len(bare)]


def find_source_tier(text: str) -> int | None:
    match = _TIER.search(text)
    return int(match[1]) if match else None


def find_open_bracket(text: str) -> str:
    start = max(text.rfind("("), text.rfind("["))
    return text[start:] if start > max(text.rfind(")"), text.rfind("]")) else ""
