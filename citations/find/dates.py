"""Dates as people write them, in English, German and French. Pure."""

import re
from typing import Final

from citations.citation_lexicon import list_words
from citations.format.formats import MLA_MONTHS, MONTHS

_MONTH: Final = {
    name.casefold().rstrip("."): at
    for names in (MONTHS, MLA_MONTHS, list_words("german_months"), list_words("french_months"))
    for at, name in enumerate(names, 1)
} | {"jun": 6, "jul": 7, "sep": 9}
_MONTH_NAME: Final = "|".join(sorted(_MONTH, key=len, reverse=True))
DATE: Final = re.compile(
    r"(?<![\w/-])(?:(?P<iso>\d{4}-\d\d-\d\d)(?![\w-])"
    r"|(?P<day4>\d{1,2})\. ?(?P<month4>\d{1,2})\. ?(?P<year4>\d{4})"
    rf"|(?P<day>\d{{1,2}})(?:st|nd|rd|th|er|\.)? (?P<month>{_MONTH_NAME})\.?,? (?P<year>\d{{4}})"
    rf"|(?P<month2>{_MONTH_NAME})\.? (?P<day2>\d{{1,2}})(?:st|nd|rd|th)?,? (?P<year2>\d{{4}})"
    rf"|(?P<year3>\d{{4}}),? (?P<month3>{_MONTH_NAME})\.? (?P<day3>\d{{1,2}}))(?!\w)",
    re.I,
)


def find_dates(text: str) -> tuple[str, ...]:
    """Return every date that a text gives, as YYYY-MM-DD, whether or not a calendar has it."""
    return tuple(map(to_iso_date, DATE.finditer(text)))


def parse_month(name: str) -> int | None:
    return _MONTH.get(name.casefold().strip(". "))


def to_iso_date(match: re.Match[str]) -> str:
    if match["iso"]:
        return match["iso"]
    if match["year4"]:
        return f"{match['year4']}-{int(match['month4']):02}-{int(match['day4']):02}"
    day, month, year = (match[name] or match[f"{name}2"] or match[f"{name}3"] for name in ("day", "month", "year"))
    return f"{int(year):04}-{_MONTH[month.casefold().rstrip('.')]:02}-{int(day):02}"
