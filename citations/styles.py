"""Authors and dates as APA (7th edition) and MLA (9th) print them in a list of works. Pure."""

import datetime as dt
from collections.abc import Sequence
from typing import Final

from citations.names import Author, Person

MLA_MONTHS: Final = ("Jan.", "Feb.", "Mar.", "Apr.", "May", "June", "July", "Aug.", "Sept.", "Oct.", "Nov.", "Dec.")
APA_MOST: Final = 20  # authors; of more, the first nineteen and the last are named


def apa_authors(authors: Sequence[Author]) -> str:
    """Family names and initials: "Doe, J., & Roe, J. R." (APA 9.7-9.12)."""
    names = [_apa_name(author) for author in authors]
    if len(names) > APA_MOST:
        return f"{', '.join(names[: APA_MOST - 1])}, . . . {names[-1]}"
    return ", & ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def mla_authors(authors: Sequence[Author]) -> str:
    """The first with the family name first, a second as it is spoken, more as "et al." (MLA 5.5-5.8)."""
    names = [author.inverted for author in authors[:1]] + [author.written for author in authors[1:]]
    return f"{names[0]}, et al." if len(names) > 2 else ", and ".join(names)


def mla_date(day: dt.date) -> str:
    return f"{day.day} {MLA_MONTHS[day.month - 1]} {day.year}"


def _apa_name(author: Author) -> str:
    if not isinstance(author, Person):
        return author.written
    return ", ".join(filter(None, (author.family, " ".join(map(_initials, author.given.split())), author.suffix)))


def _initials(given: str) -> str:
    """ "J.-P." of "Jean-Paul", "J. K." of "J.K."; a name in a script without capitals stays."""
    if given.upper() == given.lower():
        return given
    return "-".join(" ".join(f"{part[0]}." for part in name.split(".") if part) for name in given.split("-"))
