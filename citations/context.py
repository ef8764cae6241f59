"""The words around an id: which of them are said of its story. Pure."""

import re
from typing import Final

from citations.folding import words_of

LONGEST: Final = 1_600  # characters of a citation in prose
NAMES: Final = 80  # characters of an author's name before a title
_POINTS_BACK: Final = re.compile(r"\s*(?:\(|(?:It|They|He|She|This|That|These|Those|Its|Their|His|Her)\b)")
URL: Final = re.compile(r"https?://[^\s<>\"'\])\u3000-\uffff]+", re.I)
NO_WORDS: Final = re.compile(
    r"https?://[^\s<>\"'()\[\]{}|;,…\u3000-\uffff]+|[\w.:/%@~-]*cbn-[0-9a-z]{12}(?:@r\w+(?::\w+)?)?"
    r"|\btier[ -]?\d+|\[[ x]\]|\[\^?[1-9]\d?\]:?|^\W*\d{1,3}[.):]+(?=\s)|\b\d{1,3}[ -]min(?:ute)?s?[ -]read\b",
    re.I,
)
"""Ids, addresses and numbers of notes."""
_TIER: Final = re.compile(r"\btier[\"']?[ :=-]{0,3}(\d{1,3})\b", re.I)
_CUT_SHORT: Final = "Jan Feb Mar Apr Jun Jul Aug Sep Sept Oct Nov Dec No Nr Mr Ms Mrs Dr St vs cf pp p n f"
_NOT_CUT_SHORT: Final = "".join(rf"(?<!\b{word}\.)" for word in _CUT_SHORT.split())
SENTENCE: Final = re.compile(
    rf"(?:\.{_NOT_CUT_SHORT}|[!?])"
    r"[\"')\]]* (?=[\"'(\[]?[A-Z0-9\u0370-\uffff])|[。！？][)）]*"
)
"""The end of a sentence; a word that is cut short ends none, as in "Oct. 14"."""


_LEADING_WORDS: Final = """
according to as reported by summarized summarised indexed cited citing via see source sources read more at in on the a an
and of from link story wire chatbotnews ai id this also here ref reference references tier crediting says said reports
writes wrote https http www that with for citation per url permalink quelle siehe laut bei mehr zum voir fuente fonte bron
details full original article website site archive archived retrieved accessed available footnote item slide page note no nr
row date publisher headline title chat bot news com org html conversational
has have had is was are were it its there find found can be you we summary
outlet layout post newspaper medium category published journal author authors quote quoted citations wrote reads name
carried brought claim claims statement excerpt evidence fact json yaml
"""
LEADS: Final = frozenset(_LEADING_WORDS.split())
"""Words that lead to a story and say nothing of it."""


def urls_in(text: str) -> list[str]:
    return [url.rstrip(".,;:!?") for url in URL.findall(text)]


def says(text: str) -> bool:
    """Whether words stand in it that say something, and do not only lead to a story."""
    return any(word not in LEADS and not word.isdigit() for word in words_of(URL.sub(" ", text)))


def saying(text: str) -> str:
    """The last sentence of a text; those before as well, while there are only names and words that lead to a story, and what
    stands in a bracket; and the whole of a quotation that ends in it, with the name before that.
    """
    ends = _ends(text)
    begin = end = len(text)
    while ends and (begin == len(text) or only_names(text[begin:end]) or _POINTS_BACK.match(text, begin)):
        begin, end = ends.pop(), begin
    if begin == len(text) or only_names(text[begin:end]) or _POINTS_BACK.match(text, begin):
        begin = 0
    if text.count('"', begin) % 2 and '"' in text[:begin]:
        begin = text.rindex('"', 0, begin)
    return text[begin:] if begin > NAMES or not only_names(text[:begin]) else text


def only_names(text: str) -> bool:
    return all(word in LEADS or word[0].isupper() or word.isdigit() for word in re.findall(r"[^\W_]+", URL.sub(" ", text)))


def last_sentence(text: str) -> int:
    """Where the last sentence of a text begins."""
    return next(reversed(_ends(text)), 0)


def _ends(text: str) -> list[int]:
    """Where sentences end, but for the last one."""
    told = text.rstrip(" ([<（")
    return [match.end() for match in SENTENCE.finditer(told) if match.end() < len(told)]


def tier(text: str) -> int | None:
    match = _TIER.search(text)
    return int(match[1]) if match else None


def brackets(text: str) -> str:
    """What stands in the bracket that is still open at the end of a text."""
    opened = max(text.rfind("("), text.rfind("["))
    return text[opened:] if opened > max(text.rfind(")"), text.rfind("]")) else ""
