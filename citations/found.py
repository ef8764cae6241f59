"""What a citation that stands in a text says of its story. Pure."""

import re
from dataclasses import dataclass
from typing import Any

from citations.formats import CitationFormat


@dataclass(frozen=True, slots=True)
class Found:
    """One citation and what it says; None and empty for what it does not say. `text` is on one line, its typography plain."""

    text: str
    format: CitationFormat | None = None
    """None for an id or permalink in words of somebody's own."""
    story_id: str | None = None
    other_id: str | None = None
    """A second id in the same record, or what only looks like an id."""
    address: str | None = None
    """What stands before the id: the permalink without it."""
    revision: int | None = None
    pin: str | None = None
    """How the hash of the revision begins."""
    publisher: str | None = None
    tier: int | None = None
    credited: str | None = None
    """Whom a citation of the category wire credits."""
    headline: str | None = None
    heading: str | None = None
    """What ends with the headline, of an APA citation without an author; other text of the writer's may stand before."""
    statement: str | None = None
    rest: str | None = None
    """Of an inline citation what follows its date: the headline, and perhaps more of the text."""
    original_url: str | None = None
    author: str | None = None
    byline: str | None = None
    """What stands before the date of an academic citation: it ends with the author."""
    dates: tuple[str, ...] = ()
    """YYYY-MM-DD, or YYYY-MM where no day is given."""
    corrected_on: str | None = None
    quotations: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    """Fields of a record that nothing is known to say."""
    is_open: bool = False
    """Nothing shows where its statement ends: sentences of the writer's own may follow."""
    behind: str = ""
    """How the sentence goes on behind a citation of one of the formats."""
    ahead: str = ""
    """What its sentence has before a citation of one of the formats."""
    around: str = ""
    """The rest of its paragraph, if no other citation stands in that."""
    near: tuple[str, str] = ("", "")
    """Paragraphs before and behind an id that stands alone, up to other citations: it may be of either."""
    is_wrapped: bool = False
    """Its lines were broken, perhaps inside of words."""


def address_of(match: re.Match[str]) -> dict[str, Any]:
    """What an id says beside itself."""
    revision, pin = match["revision"], match["pin"]
    return {"address": match["address"] or None, "revision": int(revision) if revision else None, "pin": pin and pin.lower()}


def correction_in(text: str) -> str | None:
    match = re.search(r"[\[(]corrected (\d{4}-\d\d-\d\d)[\])]", text, re.I)
    return match[1] if match else None
