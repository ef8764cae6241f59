"""A fact-check as a citation: who checked the claim, how it was rated, and where that is read."""

import datetime as dt
import json
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

import rispy

from citations.formats import MONTHS, WIRE, one_line

_URI: Final = "%:/?#[]@!$&'()*+,="
_WRITER: Final = rispy.RisWriter()


@dataclass(frozen=True, slots=True)
class Checked:
    """What a citation needs to know of a fact-check."""

    id: str
    claim: str
    rating: str | None
    checker: str | None
    url: str
    permalink: str
    published_on: dt.date | None

    def __post_init__(self) -> None:
        for name in ("claim", "rating", "checker"):
            if text := getattr(self, name):
                object.__setattr__(self, name, one_line(text))


def cite(check: Checked) -> str:
    """The layered citation, canonical here as it is for stories: who says what, found by whom, where."""
    day = check.published_on
    when = f" ({day.day} {MONTHS[day.month - 1]} {day.year})" if day else ""
    rated = f"rated “{check.rating}”" if check.rating else "checked, without a rating"
    claim = check.claim.removesuffix(".")
    found = "" if check.url == check.permalink else f", found by {WIRE}: {check.permalink}"
    return f"According to {check.checker or 'its fact-checkers'}{when}, the claim “{claim}” was {rated}. Source: {check.url}{found}"


def csl(check: Checked) -> str:
    """A CSL-JSON list of one item."""
    day = check.published_on
    item = {
        "id": check.id,
        "type": "webpage",
        "title": _title(check),
        **({"author": [{"literal": check.checker}]} if check.checker else {}),
        **({"issued": {"date-parts": [[day.year, day.month, day.day]]}} if day else {}),
        "URL": check.url,
        "genre": "Fact-check",
        "source": WIRE,
        "note": check.permalink,
    }
    return json.dumps([item], ensure_ascii=False)


def ris(check: Checked) -> str:
    day = check.published_on
    entry = {
        "type_of_reference": "ELEC",
        "id": check.id,
        "title": _title(check),
        **({"authors": [check.checker]} if check.checker else {}),
        **({"year": str(day.year), "date": day.strftime("%Y/%m/%d/")} if day else {}),
        "urls": [quote(check.url, safe=_URI)],
        "database_provider": WIRE,
        "notes": [check.permalink],
    }
    text: str = _WRITER.formats([entry])
    return text.removeprefix("1.\n")


def _title(check: Checked) -> str:
    return f"{check.claim} [Fact-check: {check.rating}]" if check.rating else f"{check.claim} [Fact-check]"
