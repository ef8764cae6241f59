"""Which summaries are none: feeds put a picture's description there, or the headline a second time."""

import re
from typing import Final

from citations.sentences import ends_whole, first_sentence

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
_SAYS: Final = re.compile(r"[%$€£]|[^\W\d_a-zA-ZÀ-ɏ]")  # an amount, or another script, whose sentences may end without a stop
_LABEL: Final = 70  # characters up to which a text without a final stop is a label, no sentence


# What is seen in pictures: words that tell of the picture itself, and of what stands in it.
_OF_PICTURES: Final = re.compile(
    r"\b(?:illustrat(?:ion|ed)|screenshots?|collage|infographic|mock-?ups?|triptych|mp4|an image|images? (?:of|with|showing)"
    r"|graphic|logos?|icons?|(?:back|fore)ground|gradients?|pictured|photos?|overhead|overlay|close-?up|silhouettes?|animat(?:ion|ed)"
    r"|wireframe|styli[sz]ed|gr[ae]yscale|colou?red|diagram|grid of|a video (?:that|of|shows)|search bar|interface featuring"
    r"|(?:smartphones?|screens?|laptops?) showing)\b",
    re.I,
)
_SEEN: Final = re.compile(
    r"\b(?:smiling|smiles|wear(?:s|ing)|sits?(?! down)|sitting|stands?|standing|holding|leans?|look(?:s|ing) at|point(?:s|ing) at"
    r"|glasses|shirt|hijab|hoodie|dots|lines|shapes|screens?|laptops?|smartphones?|phones?|tablet|desks?|chairs?|table|monitors?"
    r"|display(?:s|ed|ing)|show(?:s|n|ing)|representing|depict\w*|floating|surround\w*|left|right|cent(?:er|re)|corner|arched"
    r"|abstract|geometric|red|green|blue|orange|purple|yellow|teal|pink|black|white|bald|blonde|wom[ae]n|m[ae]n|doctor|teacher"
    r"|farmer|person|people|female|male|catching|reacts|assisting|students?|header|title card|interface|featuring|vertical"
    r"|sketches|cards|bar|button|water|sky|snow|grass|stage|podium|patterns?|labels|side panel)\b",
    re.I,
)
_NEWS: Final = re.compile(
    r"\b(?:we|we[’']re|our|us|today|announc\w+|launch(?:e[ds]|ing)|now|learn|sa(?:ys?|id)|according|new|will|ha[sv]e?|can|could|would"
    r"|plans?|report\w*|introduc\w+|brings?|helps?|built|runs?|releas\w+|how)\b",
    re.I,
)
_SOMEBODY: Final = re.compile(
    r"(?:an?|two|three|four|several) (?:\w+ ){0,3}(?:wom[ae]n|m[ae]n|people|person|doctor|teacher|students?)\b"
)
_LOOKED_AT: Final = 240  # characters of a text that are judged


def is_caption(text: str, *, of_maker: bool = False) -> bool:
    """Whether a plain text describes a picture, as the alternative texts of blogs' pictures do, or is a label without a verb.

    Precision first: a text that ends as sentences do is taken for a caption only if it begins with the picture itself. A maker's
    blog (`of_maker`) often gives its picture's description in whole sentences: there more is seen than told.
    """
    if _OF_ITSELF.match(text) or (of_maker and _is_seen(text)):
        return True
    if not ends_whole(text):
        is_label = len(text) <= _LABEL and not _SAYS.search(text)
        return is_label or bool(_DESCRIBED.match(text) or _BEGINS_WITH_PICTURE.match(text) or _SCENERY.search(text))
    return bool(_BEGINS_WITH_PICTURE.match(text) and _DESCRIBED.match(text) and _SCENERY.search(text))


def _is_seen(text: str) -> bool:
    """Whether a text has more words of what is seen in pictures than of news. Newsrooms begin with scenes, too."""
    opening = text[:_LOOKED_AT].casefold()
    pictures = len(set(_OF_PICTURES.findall(opening)))
    seen = 2 * pictures + len(set(_SEEN.findall(opening))) + bool(_SOMEBODY.match(opening))
    return seen - 2 * len(_NEWS.findall(opening)) >= (2 if pictures else 4)


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
