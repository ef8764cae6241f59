"""Genres of reports, and filters of texts that are no news: boilerplate, captions of pictures, round-ups, test items."""

import re
from collections.abc import Mapping
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from typing import Final

from citations.sentence_boundaries import ends_like_sentence, get_first_sentence
from wire.text.lexicons import compile_patterns, join_patterns, load_lexicon

_LEXICON: Final = load_lexicon("filters")
_PARTS: Final[Mapping[str, str]] = _LEXICON["parts"]
_BOILERPLATE: Final = compile_patterns([*chain.from_iterable(_LEXICON["sentences"].values())], _PARTS)
_GLUED: Final = compile_patterns(_LEXICON["glued"]["patterns"], _PARTS)


def is_boilerplate(sentence: str) -> bool:
    """Return whether a plain sentence is only what pages print around an article: greetings, navigation, picture credits."""
    return bool(_BOILERPLATE.fullmatch(sentence.strip().rstrip(" .!?…:")))


def strip_navigation(text: str) -> str:
    """Return the text without navigation and credits that run into its first sentence."""
    glued = _GLUED.match(text)
    return text[glued.end() :] if glued else text


_DESCRIPTIONS: Final = {name: compile_patterns(found, _PARTS, re.I) for name, found in _LEXICON["descriptions"].items()}
_CAPTIONS: Final = {name: re.compile(rf"\b(?:{'|'.join(found)})\b", re.I) for name, found in _LEXICON["captions"].items()}
# An amount, or another script, whose sentences may end without a stop.
_SAYS_SOMETHING: Final = re.compile(r"[%$€£]|[^\W\d_a-zA-ZÀ-ɏ]")
_LONGEST_LABEL: Final = 70  # characters up to which a text without a final stop is a label, no sentence

_OPENING: Final = 240  # characters of a text that are judged


def is_caption(text: str, *, of_maker: bool = False) -> bool:
    """Return whether a plain text describes a picture, as alternative texts do, or is a label without a verb.

    Precision first: a text that ends as sentences do is taken for a caption only if it begins with the picture itself. A maker's
    blog (`of_maker`) often gives its picture's description in whole sentences: there a text with more words of what is seen in
    pictures than of news is a caption.
    """
    found = {name: bool(pattern.match(text)) for name, pattern in _DESCRIPTIONS.items()}
    if found["of_itself"]:
        return True
    if of_maker:
        opening = text[:_OPENING].casefold()
        words = {name: pattern.findall(opening) for name, pattern in _CAPTIONS.items()}
        pictures = len(set(words["picture"]))
        seen = 2 * pictures + len(set(words["seen"])) + bool(_DESCRIPTIONS["person_first"].match(opening))
        # Newsrooms begin with scenes, too.
        if seen - 2 * len(words["news"]) >= (2 if pictures else 4):
            return True
    has_scenery = bool(_DESCRIPTIONS["scenery"].search(text))
    if not ends_like_sentence(text):
        is_label = len(text) <= _LONGEST_LABEL and not _SAYS_SOMETHING.search(text)
        return is_label or found["described"] or found["begins_with_picture"] or has_scenery
    return found["begins_with_picture"] and found["described"] and has_scenery


def repeats_headline(headline: str, text: str) -> bool:
    """Return whether `text` says no more than the headline: the same words, or fewer of them in the same order."""
    words, known = (re.findall(r"\w+", part.casefold()) for part in (text, headline))
    return f" {' '.join(words)} " in f" {' '.join(known)} " or (words[: len(known)] == known and len(words) <= len(known) + 2)


def strip_headline(headline: str, text: str) -> str:
    """Return `text` from its second sentence on if its first repeats the headline; as it is if it has no other."""
    first = get_first_sentence(text)
    return text[len(first) :].lstrip() or text if repeats_headline(headline, first) else text


_SERIES: Final = rf"(?:{'|'.join(_LEXICON['headlines']['series'])})(?:,? (?:#|no\. ?)?\d+)?(?: ?[:|–—].*| - .*)?"
_ROUNDUPS: Final = compile_patterns(_LEXICON["headlines"]["roundups"], _PARTS, re.I)


@lru_cache(maxsize=16_384)  # asked of the same stories on each day that is grouped near theirs
def is_roundup(headline: str) -> bool:
    """Return whether a headline is that of a round-up, a newsletter's issue or a live page: these tell of many events at once."""
    return bool(re.fullmatch(_SERIES, headline) or _ROUNDUPS.fullmatch(headline))


_TEST_ITEMS: Final = compile_patterns(_LEXICON["headlines"]["test_items"], _PARTS, re.I)
_LABEL: Final = rf"(?:{join_patterns(_LEXICON['headlines']['labels'], _PARTS)})[ \d]*"
_LABELLED: Final = compile_patterns(
    [rf"[\[{{(]{{1,2}}{_LABEL}[)\]}}]{{1,2}}.*", rf".*[\[{{]{{1,2}}{_LABEL}[\]}}]{{1,2}}"], {}, re.I | re.S
)
_SHOUTED: Final = compile_patterns(_LEXICON["headlines"]["shouted"], _PARTS, re.S)
_FILLER: Final = re.compile(r"lorem ipsum dolor sit\b", re.I)
_AROUND: Final = " \t.!?…,;:*#_~-–—|\"'“”‘’0123456789()[]{}<>/\\"


def is_test_item(headline: str, summary: str = "") -> bool:
    """Return whether an item, given as plain text, only tries out whether publishing works. News that tells of tests does not."""
    if _LABELLED.fullmatch(headline) or _SHOUTED.fullmatch(headline):
        return True
    return bool(_TEST_ITEMS.fullmatch(headline.strip(_AROUND)) or _FILLER.match(summary))


class Genre(StrEnum):
    """The genre of a report. `howto` includes explainers, `podcast` video programmes, `review` buying advice and promotions."""

    NEWS = "news"
    LIVE = "live"
    ROUNDUP = "roundup"
    PODCAST = "podcast"
    NEWSLETTER = "newsletter"
    OPINION = "opinion"
    HOWTO = "howto"
    REVIEW = "review"


# Round-ups that are better known by their form.
_SERIAL: Final = frozenset({Genre.LIVE, Genre.PODCAST, Genre.NEWSLETTER})
_GENRES: Final = load_lexicon("genres")
_HEADLINES, _SUMMARIES, _SECTIONS = (
    {Genre(genre): compile_patterns(patterns, _GENRES["parts"], re.I) for genre, patterns in _GENRES[name].items()}
    for name in ("headlines", "summaries", "sections")
)


@lru_cache(maxsize=16_384)
def find_genre(headline: str, url: str = "", summary: str = "") -> Genre:
    """Return the genre of a report by its headline, the first words of its summary, and its address; news if no rule knows it."""
    genre = next((genre for genre, pattern in _HEADLINES.items() if pattern.fullmatch(headline)), None)
    if genre not in _SERIAL and is_roundup(headline):
        return Genre.ROUNDUP
    genre = genre or next((genre for genre, pattern in _SUMMARIES.items() if pattern.match(summary)), None)
    if genre:
        return genre
    sections = re.split("[?#]", url, maxsplit=1)[0].rstrip("/").split("/")[3:-1]
    if sections[:1] in (["video"], ["videos"]):  # deeper in a path it may be a subject
        return Genre.PODCAST
    by_section = (genre for genre, pattern in _SECTIONS.items() for section in sections if pattern.fullmatch(section))
    return next(by_section, Genre.NEWS)
