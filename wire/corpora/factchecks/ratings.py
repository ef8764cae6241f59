"""The meaning of fact-checkers' own labels on a common scale. The table ships with the project; editors change it."""

import re
from collections.abc import Mapping
from typing import Final

from django.db.models import TextChoices

from wire.text.lexicons import load_lexicon
from wire.text.tokens import fold_text


class Rating(TextChoices):
    """A common scale for all fact-checkers' labels."""

    TRUE = "true", "true"
    MOSTLY_TRUE = "mostly_true", "mostly true"
    MIXED = "mixed", "mixed"
    MISLEADING = "misleading", "misleading"
    MOSTLY_FALSE = "mostly_false", "mostly false"
    FALSE = "false", "false"
    UNPROVEN = "unproven", "unproven"
    SATIRE = "satire", "satire"
    UNKNOWN = "unknown", "unknown"


def make_label_key(label: str) -> str:
    return fold_text(" ".join(label.split()))[:200]


SHIPPED: Final[Mapping[str, Rating]] = {
    make_label_key(label): Rating(rating)
    for rating, labels in load_lexicon("factchecks")["ratings"].items()
    for label in labels.split(";")
}


_FIRST_CLAUSE: Final = re.compile(r"\s[-–—]+\s|[.:;!,(\[|/\n]")


def rate_label(label: str) -> Rating | None:
    """Return the shipped meaning of a label, or of its first clause ("False. The photo is old."); None for others."""
    for text in (label, _FIRST_CLAUSE.split(label.lstrip(" \"'„“«»([-–—*#"))[0]):
        key = re.sub(r"^\W+|\W+$", "", make_label_key(text.strip("\"'“”„«» ")))
        if found := SHIPPED.get(make_label_key(text)) or SHIPPED.get(key) or SHIPPED.get(key.replace("-", " ")):
            return found
    return None


def rate_number(value: float, worst: float, best: float) -> Rating:
    """Return the rating of a number between the worst and the best, as ClaimReview has it."""
    if not worst < best or not worst <= value <= best:
        return Rating.UNKNOWN
    scale = (Rating.FALSE, Rating.MOSTLY_FALSE, Rating.MIXED, Rating.MOSTLY_TRUE, Rating.TRUE)
    return scale[min(4, int((value - worst) / (best - worst) * 4 + 0.5))]
