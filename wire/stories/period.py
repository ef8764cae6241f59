"""Words of a question that name a period: "yesterday", "January 2026", "between May 2025 and March 2026". English, UTC days."""

import datetime as dt
import re
from dataclasses import dataclass
from typing import Final

MONTHS: Final = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
]
SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # the first month of each, in the north
DAY: Final = dt.timedelta(days=1)

_NAMES: Final = rf"(?:{'|'.join(month for month in MONTHS)}|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)"
_YEAR: Final = "(?:19|20)[0-9]{2}"
# From the most to the least definite, for the first that fits wins.
_MOMENT: Final = re.compile(
    rf"""
      (?<![\w-])(?P<iso>{_YEAR}-[01][0-9](?:-[0-3][0-9])?)(?![\w-])
    | (?P<day>[0-3]?[0-9])(?:st|nd|rd|th)?\ (?:of\ )?(?P<month>{_NAMES})\.?,?\ (?P<year>{_YEAR})
    | (?P<month_2>{_NAMES})\.?\ (?P<day_2>[0-3]?[0-9])(?:st|nd|rd|th)?,?\ (?P<year_2>{_YEAR})
    | (?:(?P<first_month>{_NAMES})\.?\s*(?:\b(?:and|or|to|until|till|through)\b|[–-])\s*)?
      (?P<month_3>{_NAMES})\.?(?:\ of)?,?\ (?P<year_3>{_YEAR})
    | (?P<season>spring|summer|autumn|fall|winter)(?:\ of)?\ (?P<year_4>{_YEAR})
    | (?P<named>today|yesterday|(?:this|last)\ (?:week|month|year))
    | (?:the\ )?(?:last|past)\ (?P<count>[0-9]{{1,3}})\ (?P<unit>day|week|month|year)s?
    | (?<=\bin\ )(?P<year_5>{_YEAR})(?!\ [a-z]*\b(?:million|billion))
    """,
    re.VERBOSE | re.IGNORECASE,
)
_QUOTED: Final = re.compile(r'"[^"]*"')
_LEADS: Final = re.compile(
    r"\b(between|from|since|after|before|until|till|on|in|during|of|for|by|throughout)\s+(?:the\s+)?$", re.IGNORECASE
)
_GOES_ON: Final = re.compile(r"\s*(?:and|to|until|till|through|–|-)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Period:
    """since <= a day < until, either of which may be open; `said`: the words that name it; `rest`: the question without them."""

    since: dt.date | None
    until: dt.date | None
    said: str
    rest: str


def period_of(question: str, today: dt.date) -> Period | None:
    """The first period that a question names outside of double quotes; None if it names none."""
    outside = _QUOTED.sub(lambda quoted: "\0" * len(quoted[0]), question)
    for match in _MOMENT.finditer(outside):
        if span := _span(match, today):
            return _period(question, outside, match, span, today)
    return None


def _period(question: str, outside: str, match: re.Match[str], span: tuple[dt.date, dt.date], today: dt.date) -> Period:
    (since, until), (start, end) = span, match.span()
    how = ""
    if before := _LEADS.search(outside[:start]):
        how, start = before[1].lower(), before.start()
    if how in ("between", "from") and (more := _GOES_ON.match(outside, end)) and (last := _MOMENT.match(outside, more.end())):
        later = _span(last, today)
        if later and later[1] > since:
            until, end = later[1], last.end()
    opened = {
        "since": (since, None),
        "after": (until, None),
        "before": (None, since),
        "until": (None, until),
        "till": (None, until),
    }
    return Period(*opened.get(how, (since, until)), question[start:end].strip(), f"{question[:start]} {question[end:]}".strip())


def _span(match: re.Match[str], today: dt.date) -> tuple[dt.date, dt.date] | None:
    """First day, and the day after the last. None for a day that no calendar has."""
    found = match.groupdict()
    try:
        if found["iso"]:
            year, month, *day = map(int, found["iso"].split("-"))
            return _day(year, month, day[0]) if day else _month(year, month)
        for day_of, month_of, year_of in (("day", "month", "year"), ("day_2", "month_2", "year_2")):
            if found[day_of]:
                return _day(int(found[year_of]), _number(found[month_of]), int(found[day_of]))
        if found["month_3"]:
            return _months(int(found["year_3"]), _number(found["month_3"]), _number(found["first_month"] or found["month_3"]))
        if found["season"]:
            first = dt.date(int(found["year_4"]), SEASONS[found["season"].lower()], 1)
            return first, _months_later(first, 3)
        if found["year_5"]:
            return dt.date(int(found["year_5"]), 1, 1), dt.date(int(found["year_5"]) + 1, 1, 1)
        if found["count"]:
            return _back(today, int(found["count"]), found["unit"].lower()), today + DAY
        return _named(found["named"].lower().split(), today)
    except (ValueError, OverflowError):
        return None


def _named(said: list[str], today: dt.date) -> tuple[dt.date, dt.date]:
    if said == ["today"]:
        return today, today + DAY
    if said == ["yesterday"]:
        return today - DAY, today
    begins = {"week": today - today.weekday() * DAY, "month": today.replace(day=1), "year": today.replace(month=1, day=1)}
    begin = begins[said[1]]
    return (begin, today + DAY) if said[0] == "this" else (_back(begin, 1, said[1]), begin)


def _back(day: dt.date, count: int, unit: str) -> dt.date:
    if unit in ("day", "week"):
        return day - count * (7 if unit == "week" else 1) * DAY
    return _months_later(day, -count * (12 if unit == "year" else 1))


def _day(year: int, month: int, day: int) -> tuple[dt.date, dt.date]:
    return dt.date(year, month, day), dt.date(year, month, day) + DAY


def _month(year: int, month: int) -> tuple[dt.date, dt.date]:
    return dt.date(year, month, 1), _months_later(dt.date(year, month, 1), 1)


def _months(year: int, last: int, first: int) -> tuple[dt.date, dt.date]:
    """From a month of that year, or of the year before if it is later than the last, to the end of the last."""
    return dt.date(year - (first > last), first, 1), _month(year, last)[1]


def _months_later(day: dt.date, months: int) -> dt.date:
    """The same day of another month, or its last if it is shorter."""
    number = day.year * 12 + day.month - 1 + months
    first = dt.date(number // 12, number % 12 + 1, 1)
    following = dt.date((number + 1) // 12, (number + 1) % 12 + 1, 1)
    return first.replace(day=min(day.day, (following - first).days))


def _number(name: str) -> int:
    return next(number for number, month in enumerate(MONTHS, 1) if month.startswith(name.lower()[:3]))
