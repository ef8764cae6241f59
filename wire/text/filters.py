"""Genres of reports, and filters of texts that are no news: boilerplate, captions of pictures, round-ups, test items."""

import re
from collections.abc import Mapping, Sequence
from enum import StrEnum
from functools import lru_cache
from itertools import chain
from typing import Final

from citations.sentence_boundaries import ends_whole, first_sentence
from wire.text.lexicons import compile_patterns, load

_LEXICON: Final = load("filters")
_PARTS: Final[Mapping[str, str]] = _LEXICON["parts"]
_BOILERPLATE: Final = compile_patterns(chain.from_iterable(_LEXICON["sentences"].values()), _PARTS)
# Navigation, headings and credits that stand before the first sentence without a stop of their own.
_GLUED: Final = compile_patterns(
    [
        r"(?:Skip to (?:the )?(?:main )?content|How it started"
        r"|<pictures>(?: by| [Cc]redits?:|:) (?:<name> ){0,4}?<name> ?/ ?<credited>)[.:|]?\s+(?=[A-Z“\"])"
    ],
    _PARTS,
)


def is_boilerplate(sentence: str) -> bool:
    """Return whether a plain sentence is only what pages print around an article: greetings, navigation, picture credits."""
    return bool(_BOILERPLATE.fullmatch(sentence.strip().rstrip(" .!?…:")))


def strip_glued(text: str) -> str:
    """Return the text without navigation and credits that run into its first sentence."""
    glued = _GLUED.match(text)
    return text[glued.end() :] if glued else text


_IMAGE: Final = (
    r"(?:images?|photos?|photographs?|pictures?|illustrations?|collages?|drawings?|animations?|graphics?|screenshots?|screens?|videos?"
    r"|mp4s?|gifs?|logos?|icons?|posters?|emblem|banner|diagram|chart|carousel|cartoon|render(?:ing)?|still|thumbnail|text)"
)
# "Illustration showing the search box …", "A collage of images including …", "mp4 showing a carousel …", "Gemini logo on a …"
_DESCRIBED: Final = re.compile(
    rf"(?:[\w’'+&.-]+ ){{0,7}}?{_IMAGE}(?:,? [\w-]+ed| sits| zooms)? ?"
    r"(?:of|showing|shows|with|reads?|reading|depicting|featuring|depicts|features|including|includes|displaying|representing|sharing"
    r"|on an?|on the|in front of|against|surrounded by|next to|for a film|in|:)\b",
    re.I,
)
_BEGINS_WITH_PICTURE: Final = re.compile(rf"(?:an? |the |three |four |two )?(?:\w+[ -]){{0,2}}?{_IMAGE}\b", re.I)
_SCENERY: Final = re.compile(r"\b(?:in the (?:center|middle|corner|foreground)|background|pictured)\b", re.I)
_OF_ITSELF: Final = re.compile(r"the (?:image|picture|photo|illustration|video|animation) (?:is|shows|depicts|features)\b", re.I)
# An amount, or another script, whose sentences may end without a stop.
_SAYS_SOMETHING: Final = re.compile(r"[%$€£]|[^\W\d_a-zA-ZÀ-ɏ]")
_LONGEST_LABEL: Final = 70  # characters up to which a text without a final stop is a label, no sentence


_PICTURE_WORDS: Final = re.compile(rf"\b(?:{'|'.join(_LEXICON['captions']['picture'])})\b", re.I)
_SEEN_WORDS: Final = re.compile(rf"\b(?:{'|'.join(_LEXICON['captions']['seen'])})\b", re.I)
_NEWS_WORDS: Final = re.compile(rf"\b(?:{'|'.join(_LEXICON['captions']['news'])})\b", re.I)
_PERSON_FIRST: Final = re.compile(
    r"(?:an?|two|three|four|several) (?:\w+ ){0,3}(?:wom[ae]n|m[ae]n|people|person|doctor|teacher|students?)\b"
)
_OPENING: Final = 240  # characters of a text that are judged


def is_caption(text: str, *, of_maker: bool = False) -> bool:
    """Return whether a plain text describes a picture, as alternative texts do, or is a label without a verb.

    Precision first: a text that ends as sentences do is taken for a caption only if it begins with the picture itself. A maker's
    blog (`of_maker`) often gives its picture's description in whole sentences: there a text with more words of what is seen in
    pictures than of news is a caption.
    """
    if _OF_ITSELF.match(text):
        return True
    if of_maker:
        opening = text[:_OPENING].casefold()
        pictures = len(set(_PICTURE_WORDS.findall(opening)))
        seen = 2 * pictures + len(set(_SEEN_WORDS.findall(opening))) + bool(_PERSON_FIRST.match(opening))
        # Newsrooms begin with scenes, too.
        if seen - 2 * len(_NEWS_WORDS.findall(opening)) >= (2 if pictures else 4):
            return True
    if not ends_whole(text):
        is_label = len(text) <= _LONGEST_LABEL and not _SAYS_SOMETHING.search(text)
        return is_label or bool(_DESCRIBED.match(text) or _BEGINS_WITH_PICTURE.match(text) or _SCENERY.search(text))
    return bool(_BEGINS_WITH_PICTURE.match(text) and _DESCRIBED.match(text) and _SCENERY.search(text))


def repeats_headline(headline: str, text: str) -> bool:
    """Return whether `text` says no more than the headline: the same words, or fewer of them in the same order."""
    words, known = (re.findall(r"\w+", part.casefold()) for part in (text, headline))
    return f" {' '.join(words)} " in f" {' '.join(known)} " or (words[: len(known)] == known and len(words) <= len(known) + 2)


def strip_headline(headline: str, text: str) -> str:
    """Return `text` from its second sentence on if its first repeats the headline; as it is if it has no other."""
    first = first_sentence(text)
    return text[len(first) :].lstrip() or text if repeats_headline(headline, first) else text


_SERIES: Final = rf"(?:{'|'.join(_LEXICON['headlines']['series'])})(?:,? (?:#|no\. ?)?\d+)?(?: ?[:|–—].*| - .*)?"
_ROUNDUPS: Final = compile_patterns(_LEXICON["headlines"]["roundups"], _PARTS, re.I)


@lru_cache(maxsize=16_384)  # asked of the same stories on each day that is grouped near theirs
def is_roundup(headline: str) -> bool:
    """Return whether a headline is that of a round-up, a newsletter's issue or a live page: these tell of many events at once."""
    return bool(re.fullmatch(_SERIES, headline) or _ROUNDUPS.fullmatch(headline))


_TEST_ITEMS: Final = compile_patterns(_LEXICON["headlines"]["test_items"], _PARTS, re.I)
_LABEL: Final = rf"(?:{compile_patterns(_LEXICON['headlines']['labels'], _PARTS).pattern})[ \d]*"
_LABELLED: Final = re.compile(rf"[\[{{(]{{1,2}}{_LABEL}[)\]}}]{{1,2}}.*|.*[\[{{]{{1,2}}{_LABEL}[\]}}]{{1,2}}", re.I | re.S)
_SHOUTED: Final = re.compile(  # in capitals, at either end, as editors do at each other
    r"(?:DO NOT PUBLISH|DO NOT USE|DON[’']T PUBLISH|PLEASE IGNORE) ?[-–—:|*]+ .*|TEST ?[-–—|*]+ .*"
    r"|.* [-–—:|*]+ ?(?:DO NOT PUBLISH|DO NOT USE|DON[’']T PUBLISH|PLEASE IGNORE)",
    re.S,
)
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
_GENRES: Final = load("genres")


def _compile(rules: Mapping[str, Sequence[str]]) -> Mapping[Genre, re.Pattern[str]]:
    return {Genre(genre): compile_patterns(patterns, _GENRES["parts"], re.I) for genre, patterns in rules.items()}


_HEADLINES: Final = _compile(_GENRES["headlines"])
_SUMMARIES: Final = _compile(_GENRES["summaries"])
_SECTIONS: Final = _compile(_GENRES["sections"])


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
