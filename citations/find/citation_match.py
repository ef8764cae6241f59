"""A citation that stands in a text, and what it says of its story. Pure."""

import re
from dataclasses import dataclass
from typing import Any

from citations.format.formats import CitationFormat


@dataclass(frozen=True, slots=True)
class CitationMatch:
    """A citation and what it says; None and empty for what it does not say. `text` is on one line, its typography plain."""

    text: str
    format: CitationFormat | None = None  # None for an id or permalink in words of the writer's own
    story_id: str | None = None
    other_id: str | None = None  # a second id in the same record, or what only looks like an id
    address: str | None = None  # the permalink without its id
    revision: int | None = None
    pin: str | None = None  # the first digits of the revision's hash
    publisher: str | None = None
    tier: int | None = None
    credited: str | None = None  # the outlet that a citation of the category wire credits
    headline: str | None = None
    heading: str | None = None  # ends with the headline, in APA without an author; the writer's own text may stand before
    statement: str | None = None
    rest: str | None = None  # behind the date of an inline citation: the headline, and perhaps more of the text
    original_url: str | None = None
    author: str | None = None
    byline: str | None = None  # before the date of an academic citation: it ends with the author
    dates: tuple[str, ...] = ()  # YYYY-MM-DD, or YYYY-MM where no day is given
    corrected_on: str | None = None
    quotations: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()  # fields of a record that are not compared
    is_open: bool = False  # nothing shows where its statement ends: the writer's own sentences may follow
    behind: str = ""  # the rest of the sentence behind a citation of one of the formats
    ahead: str = ""  # the sentence before a citation of one of the formats
    around: str = ""  # the rest of its paragraph, if no other citation stands in that
    near: tuple[str, str] = ("", "")  # paragraphs before and behind an id that stands alone, up to other citations
    is_wrapped: bool = False  # its lines were broken, perhaps inside of words


def get_permalink_parts(match: re.Match[str]) -> dict[str, Any]:
    revision, pin = match["revision"], match["pin"]
    return {"address": match["address"] or None, "revision": int(revision) if revision else None, "pin": pin and pin.lower()}


def find_correction_date(text: str) -> str | None:
    match = re.search(r"[\[(]corrected (\d{4}-\d\d-\d\d)[\])]", text, re.I)
    return match[1] if match else None
