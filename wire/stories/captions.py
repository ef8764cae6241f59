"""Which summaries are none: feeds put a picture's description there, or the headline a second time."""

import re
from typing import Final

from wire.stories.text import ends_whole, first_sentence

_PICTURE: Final = (
    r"(?:images?|photos?|photographs?|pictures?|illustrations?|collages?|drawings?|animations?|graphics?|screenshots?|screens?|videos?"
    r"|mp4s?|gifs?|logos?|icons?|posters?|emblem|banner|diagram|chart|carousel|cartoon|render(?:ing)?|still|thumbnail|text)"
)
# "Illustration showing the search box …", "A collage of images including …", "mp4 showing a carousel …", "Gemini logo on a …"
_DESCRIBED: Final = re.compile(
    rf"(?:[\w’'+&.-]+ ){{0,7}}?{_PICTURE}(?:,? [\w-]+ed| sits| zooms)? ?"
    r"(?:of|showing|shows|with|reads?|reading|depicting|featuring|depicts|features|including|includes|displaying|representing|sharing"
    r"|on an?|on the|in front of|against|surrounded by|next to|for a film|in|:)\b",
    re.I,
)
_BEGINS_WITH_PICTURE: Final = re.compile(rf"(?:an? |the |three |four |two )?(?:\w+[ -]){{0,2}}?{_PICTURE}\b", re.I)
_SCENERY: Final = re.compile(r"\b(?:in the (?:center|middle|corner|foreground)|background|pictured)\b", re.I)
_OF_ITSELF: Final = re.compile(r"the (?:image|picture|photo|illustration|video|animation) (?:is|shows|depicts|features)\b", re.I)
_LABEL: Final = 60  # characters up to which a text without a final stop is a label, no sentence


def is_caption(text: str) -> bool:
    """Whether a plain text describes a picture, as the alternative texts of blogs' pictures do, or is a label without a verb.

    Precision first: a text that ends as sentences do is taken for a caption only if it begins with the picture itself.
    """
    if _OF_ITSELF.match(text):
        return True
    if not ends_whole(text):
        return len(text) <= _LABEL or bool(_DESCRIBED.match(text) or _BEGINS_WITH_PICTURE.match(text) or _SCENERY.search(text))
    return bool(_BEGINS_WITH_PICTURE.match(text) and _DESCRIBED.match(text) and _SCENERY.search(text))


def repeats(headline: str, text: str) -> bool:
    """Whether `text` says no more than the headline: the same words, or fewer of them in the same order."""
    said, known = _words(text), _words(headline)
    return f" {' '.join(said)} " in f" {' '.join(known)} " or (said[: len(known)] == known and len(said) <= len(known) + 2)


def without_headline(headline: str, text: str) -> str:
    """`text` from its second sentence on if its first repeats the headline; as it is if it has no other."""
    first = first_sentence(text)
    return text[len(first) :].lstrip() or text if repeats(headline, first) else text


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())
