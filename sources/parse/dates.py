"""Dates as feeds write them. A date that cannot be right is none: better an estimate, flagged, than a plausible mistake."""

import datetime as dt
import re
from typing import Final
from zoneinfo import ZoneInfo

MAX_DATE: Final = 64  # characters; the longest honest form has 45
_CLOCK: Final = r"(\d\d?):(\d\d)(?::(\d\d)(?:[.,]\d+)?)?\s*(?P<half>[AP]\.?\s?M\b\.?)?\s*(?P<zone>\S.*)?"
_ISO: Final = re.compile(rf"(\d{{4}})-(\d\d?)-(\d\d?)(?:(?:T| +){_CLOCK})?", re.A | re.I)
_TIME: Final = rf"(?:,?\s+(?:at\s+)?{_CLOCK})?"
_WEEKDAY: Final = r"(?:[A-Za-z]{2,9}\.?,?\s+)?"
_DAY_FIRST: Final = re.compile(
    rf"{_WEEKDAY}(\d\d?)(?:st|nd|rd|th)?[\s-]+([A-Za-z]{{3,9}})\.?,?[\s-]+(\d{{4}}|\d\d){_TIME}", re.A | re.I
)
_MONTH_FIRST: Final = re.compile(rf"{_WEEKDAY}([A-Za-z]{{3,9}})\.?\s+(\d\d?)(?:st|nd|rd|th)?,?\s+(\d{{4}}){_TIME}", re.A | re.I)
_ASCTIME: Final = re.compile(r"[A-Za-z]{3}\s+([A-Za-z]{3})\s+(\d\d?)\s+(\d\d):(\d\d):(\d\d)\s+(?:([A-Z]{2,5})\s+)?(\d{4})", re.A)
_MONTHS: Final = dict(
    zip(("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"), range(1, 13), strict=True)
)
_OFFSET: Final = re.compile(r"(?:GMT|UTC)?\s?([+-])(\d\d?):?(\d\d)?\b.*", re.A | re.I)
_NAMED: Final = re.compile(r"\(?([A-Z]+)\)?(?: \(.*)?", re.A | re.I)
# Hours from UTC: RFC 5322 §4.3, and names that are not ambiguous among those seen in feeds. RFC 5322 would have any other name
# taken for UTC, which is hours away from what the publisher meant: a date with such a name is none.
_ZONES: Final = {
    **{"Z": 0, "UT": 0, "UTC": 0, "GMT": 0, "WET": 0},
    **{"EST": -5, "EDT": -4, "CST": -6, "CDT": -5, "MST": -7, "MDT": -6, "PST": -8, "PDT": -7},
    **{"AKST": -9, "AKDT": -8, "HST": -10, "ADT": -3},
    **{"BST": 1, "WEST": 1, "CET": 1, "MET": 1, "CEST": 2, "MEST": 2, "EET": 2, "EEST": 3, "MSK": 3},
    **{"JST": 9, "KST": 9, "AEST": 10, "AEDT": 11, "NZST": 12, "NZDT": 13},
}
# Said in summer and in winter alike.
_PLACES: Final = {"ET": "America/New_York", "CT": "America/Chicago", "MT": "America/Denver", "PT": "America/Los_Angeles"}


def read_date(text: str) -> dt.datetime | None:
    """An aware moment in UTC, whole seconds; midnight for a day alone, UTC where no zone is given; None if it is no date.

    Reads RFC 3339 and W3CDTF days, RFC 822 and 5322 with their obsolete forms (two-digit years are 1950 to 2049), asctime, and
    American dates. Month names are English. Never raises.
    """
    text = " ".join(text[: MAX_DATE + 1].split())
    if len(text) > MAX_DATE:
        return None
    try:
        if match := _ISO.fullmatch(text):
            return _moment(match[1], int(match[2]), match[3], match.group(4, 5, 6), match["zone"], match["half"])
        if match := _DAY_FIRST.fullmatch(text):
            return _moment(match[3], _MONTHS[match[2][:3].lower()], match[1], match.group(4, 5, 6), match["zone"], match["half"])
        if match := _MONTH_FIRST.fullmatch(text):
            return _moment(match[3], _MONTHS[match[1][:3].lower()], match[2], match.group(4, 5, 6), match["zone"], match["half"])
        if match := _ASCTIME.fullmatch(text):
            return _moment(match[7], _MONTHS[match[1].lower()], match[2], match.group(3, 4, 5), match[6])
    except (ValueError, KeyError, OverflowError):  # no such day, month, hour or zone; or a machine without time zones
        return None
    return None


def _moment(
    year: str, month: int, day: str, clock: tuple[str | None, ...], zone: str | None, half: str | None = None
) -> dt.datetime:
    hour, minute, second = (int(part or 0) for part in clock)
    if half:
        if not 1 <= hour <= 12:
            raise ValueError(hour)
        hour = hour % 12 + (12 if half[0] in "Pp" else 0)
    full_year = int(year) + (0 if len(year) == 4 else 2000 if int(year) < 50 else 1900)
    second = min(second, 59) if second <= 60 else second  # a leap second
    return dt.datetime(full_year, month, int(day), hour, minute, second, tzinfo=_zone(zone or "")).astimezone(dt.UTC)


def _zone(name: str) -> dt.tzinfo:
    if offset := _OFFSET.fullmatch(name):
        length = dt.timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return dt.timezone(-length if offset[1] == "-" else length)
    if not name:
        return dt.UTC
    if not (named := _NAMED.fullmatch(name)):
        raise ValueError(name)
    zone = named[1].upper()
    return ZoneInfo(_PLACES[zone]) if zone in _PLACES else dt.timezone(dt.timedelta(hours=_ZONES[zone]))
