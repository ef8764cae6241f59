"""Words of a question that name a period: "yesterday", "January 2026", "between May 2025 and March 2026". English, UTC days."""

import calendar
import datetime as dt
import re
from dataclasses import dataclass
from typing import Final

MONTHS: Final = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
SEASONS: Final = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # the first month of each, in the north
DAY: Final = dt.timedelta(days=1)

_NAMES: Final = (
    "(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    "|nov(?:ember)?|dec(?:ember)?)"
)
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
_INTERVAL: Final = re.compile(rf"({_YEAR}-[0-9]{{2}}-[0-9]{{2}})/({_YEAR}-[0-9]{{2}}-[0-9]{{2}})")
_GOES_ON: Final = re.compile(r"\s*(?:and|to|until|till|through|–|-)\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Period:
    """since <= a day < until, either of which may be open; `said`: the words that name it; `rest`: the question without them."""

    since: dt.date | None
    until: dt.date | None
    said: str
    rest: str


def find_period(question: str, today: dt.date) -> Period | None:
    """Return the first period that a question names outside of double quotes; None if it names none."""
    outside = _QUOTED.sub(lambda quoted: "\0" * len(quoted[0]), question)
    for match in _MOMENT.finditer(outside):
        if span := _read_span(match, today):
            break
    else:
        return None
    (since, until), (start, end) = span, match.span()
    how = ""
    if before := _LEADS.search(outside[:start]):
        how, start = before[1].lower(), before.start()
    if how in ("between", "from") and (more := _GOES_ON.match(outside, end)) and (last := _MOMENT.match(outside, more.end())):
        later = _read_span(last, today)
        if later and later[1] > since:
            until, end = later[1], last.end()
    opened = {"since": (since, None), "after": (until, None), "before": (None, since)}
    opened |= dict.fromkeys(("until", "till"), (None, until))
    return Period(*opened.get(how, (since, until)), question[start:end].strip(), f"{question[:start]} {question[end:]}".strip())


def read_period(text: str, today: dt.date) -> tuple[dt.date, dt.date] | None:
    """Return the first day and the day after the last of a text that is nothing but the name of a period, or two ISO 8601 dates
    with a slash between them, both included.
    """
    if both := _INTERVAL.fullmatch(text.strip()):
        try:
            first, last = map(dt.date.fromisoformat, both.groups())
            return (first, last + DAY) if first <= last else None
        except (ValueError, OverflowError):
            return None
    period = find_period(text, today)
    return (period.since, period.until) if period and not period.rest and period.since and period.until else None


def _read_span(match: re.Match[str], today: dt.date) -> tuple[dt.date, dt.date] | None:
    """Return the first day, and the day after the last. None for a day that no calendar has."""
    found = {name.rstrip("_2345"): text.lower() for name, text in match.groupdict().items() if text}
    try:
        if iso := found.get("iso"):
            year, month, *days = map(int, iso.split("-"))
            first = dt.date(year, month, days[0] if days else 1)
            return first, first + DAY if days else _add_months(first, 1)
        if "count" in found:
            return _subtract_units(today, int(found["count"]), found["unit"]), today + DAY
        if named := found.get("named"):
            if named in ("today", "yesterday"):
                return (today, today + DAY) if named == "today" else (today - DAY, today)
            which, unit = named.split()
            begins = {"week": today - today.weekday() * DAY, "month": today.replace(day=1), "year": today.replace(month=1, day=1)}
            first = begins[unit]
            return (first, today + DAY) if which == "this" else (_subtract_units(first, 1, unit), first)
        year = int(found["year"])
        if "season" in found:
            first = dt.date(year, SEASONS[found["season"]], 1)
            return first, _add_months(first, 3)
        if "month" not in found:
            return dt.date(year, 1, 1), dt.date(year + 1, 1, 1)
        month = MONTHS.index(found["month"][:3]) + 1
        if "day" in found:
            first = dt.date(year, month, int(found["day"]))
            return first, first + DAY
        begin = MONTHS.index(found.get("first_month", found["month"])[:3]) + 1
        # "November to February 2026" begins the year before.
        return dt.date(year - (begin > month), begin, 1), _add_months(dt.date(year, month, 1), 1)
    except (ValueError, OverflowError):
        return None


def _subtract_units(day: dt.date, count: int, unit: str) -> dt.date:
    if unit in ("day", "week"):
        return day - count * (7 if unit == "week" else 1) * DAY
    return _add_months(day, -count * (12 if unit == "year" else 1))


def _add_months(day: dt.date, months: int) -> dt.date:
    """Return the same day of another month, or its last if it is shorter."""
    years, month = divmod(day.month - 1 + months, 12)
    year, month = day.year + years, month + 1
    return dt.date(year, month, min(day.day, calendar.monthrange(year, month)[1]))
