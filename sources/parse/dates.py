"""Dates as feeds write them. A date that cannot be right is none: better an estimate, flagged, than a plausible mistake."""

import datetime as dt
import re
import unicodedata
from functools import cache
from itertools import product
from typing import Final
from zoneinfo import ZoneInfo

from babel import Locale

from sources.lexicons import load_lexicon

MAX_DATE: Final = 100  # characters; JavaScript's long form with a spelled-out zone has about 80
# Digits are ASCII, letters are of any script.
_TWO: Final = "([0-9]{2})"
_NUMBER: Final = "([0-9]{1,2})"
_YEAR: Final = "([0-9]{4})"
_CLOCK: Final = rf"{_NUMBER}:{_TWO}(?::{_TWO}(?:[.,][0-9]+)?)?\s*(?:Uhr|hrs?\b)?\s*(?P<half>[AP]\.?\s?M\b\.?)?\s*(?P<zone>\S.*)?"
_TIME: Final = rf"(?:(?:T|[\s,]+(?:(?:at|um|kl\.|à|-)\s+)?){_CLOCK})?"
_WEEKDAY: Final = r"(?:[^\W\d_]{2,15}\b\.?,?\s*)?"
_MONTH: Final = r"([^\W\d_]{3,12})\.?"
# Days, with their groups of year, month and day; of dotted ones the day stands first wherever dots do.
_FORMS: Final = [
    (re.compile(form + _TIME, re.I), year, month, day)
    for form, year, month, day in (
        (rf"{_YEAR}(?:-|/|\. ?|年|년 ?){_NUMBER}(?:-|/|\. ?|月|월 ?){_NUMBER}[.日일]?", 1, 2, 3),
        (rf"{_WEEKDAY}{_NUMBER}(?:st|nd|rd|th|er|\.)?[\s-]+(?:de\s+)?{_MONTH},?[\s-]+(?:de\s+)?([0-9]{{4}}|[0-9]{{2}})", 3, 2, 1),
        (rf"{_WEEKDAY}{_MONTH}\s+{_NUMBER}(?:st|nd|rd|th)?,?\s+{_YEAR}", 3, 1, 2),
        (rf"{_WEEKDAY}{_NUMBER}\. ?{_NUMBER}\. ?{_YEAR}", 3, 2, 1),
    )
]
_SLASHED: Final = re.compile(rf"{_WEEKDAY}{_NUMBER}/{_NUMBER}/{_YEAR}{_TIME}", re.I)
_ASCTIME: Final = re.compile(
    rf"[A-Z]{{3}}\s+([A-Z]{{3}})\s+{_NUMBER}\s+{_TWO}:{_TWO}:{_TWO}\s+(?:([A-Z]{{2,5}})\s+)?{_YEAR}", re.A | re.I
)
_EPOCH: Final = re.compile(r"([0-9]{10})(?:[0-9]{3})?")  # seconds or milliseconds since 1970, between 2001 and 2286
_LEXICON: Final = load_lexicon("parse")["dates"]
_ENGLISH: Final = {name: number for number, names in enumerate(_LEXICON["english"], 1) for name in names.split()}
_OFFSET: Final = re.compile(r"(?:GMT|UTC)?\s?([+-])(\d\d?):?(\d\d)?\b.*", re.A | re.I)
_PLACE: Final = re.compile(r"\[?([A-Z][A-Za-z]+/[A-Za-z_/+-]{3,30})\]?")
_NAMED: Final = re.compile(r"\(?([A-Z]+)\)?(?: \(.*)?", re.A | re.I)
_ZONES: Final = {name: int(hours) for hours, names in _LEXICON["zones"].items() for name in names.split()}
_PLACES: Final = _LEXICON["places"]


def read_date(text: str) -> dt.datetime | None:
    """Return an aware moment in UTC, whole seconds; midnight for a day alone, UTC where no zone is given; None if it is no date.

    Reads RFC 3339 and ISO 8601, RFC 822 and 5322 with their obsolete forms (two-digit years are 1950 to 2049), asctime and
    JavaScript's forms, seconds since 1970, and days written out in English or a language of feeds, by whole names or CLDR's
    abbreviations. Of 11/24/2026 the number above 12 is the day; 03/11/2026 is two dates, so it is none. Never raises.
    """
    text = " ".join(text[: MAX_DATE + 1].split())
    if len(text) > MAX_DATE:
        return None
    try:
        return _parse_moment(text)
    except (ValueError, KeyError, OverflowError, OSError):  # no such day, month, hour or zone; or a machine without time zones
        return None


def _parse_moment(text: str) -> dt.datetime | None:
    if match := _ASCTIME.fullmatch(text):
        return _build_moment(match[7], _get_month_number(match[1]), match[2], match.group(3, 4, 5), match[6])
    for pattern, year, month, day in _FORMS:
        if match := pattern.fullmatch(text):
            number = int(match[month]) if match[month].isdigit() else _get_month_number(match[month])
            return _build_moment(match[year], number, match[day], match.group(4, 5, 6), match["zone"], match["half"])
    if match := _SLASHED.fullmatch(text):
        first, second = sorted(match.group(1, 2), key=int)
        if int(second) <= 12 and first != second:
            return None
        return _build_moment(match[3], int(first), second, match.group(4, 5, 6), match["zone"], match["half"])
    if match := _EPOCH.fullmatch(text):
        return dt.datetime.fromtimestamp(int(match[1]), dt.UTC)
    moment = dt.datetime.fromisoformat(text)  # ISO 8601's basic form and weeks
    return (moment if moment.tzinfo else moment.replace(tzinfo=dt.UTC)).astimezone(dt.UTC).replace(microsecond=0)


def _get_month_number(name: str) -> int:
    """Raises: KeyError for a name of no month, or of two."""
    name = name.lower()
    return _ENGLISH[name] if name in _ENGLISH else _read_foreign_months()[name]


@cache
def _read_foreign_months() -> dict[str, int]:
    """Return months by their names in other languages. A name that means two months ("listopad") is left out."""
    months: dict[str, int] = {}
    ambiguous: set[str] = set()
    for context, width in product(("format", "stand-alone"), ("wide", "abbreviated")):
        for language in _LEXICON["languages"].split():
            for number, name in Locale.parse(language).months[context][width].items():
                plain = "".join(char for char in unicodedata.normalize("NFD", name) if not unicodedata.combining(char))
                for spelling in {name, plain}:
                    word = re.sub(r"^(?:de |d[’'])", "", spelling.lower()).rstrip(".")
                    if _ENGLISH.get(word, number) != number or months.setdefault(word, number) != number:
                        ambiguous.add(word)
    return {name: number for name, number in months.items() if name not in ambiguous}


def _build_moment(
    year: str, month: int, day: str, clock: tuple[str | None, ...], zone: str | None, half: str | None = None
) -> dt.datetime:
    hour, minute, second = (int(part or 0) for part in clock)
    if half and not 1 <= hour <= 12:
        raise ValueError(hour)
    hour = hour % 12 + (12 if half[0] in "Pp" else 0) if half else hour
    is_midnight_after = (hour, minute, second) == (24, 0, 0)  # ISO 8601-1:2019 §5.3.2.2
    full_year = int(year) + (0 if len(year) == 4 else 2000 if int(year) < 50 else 1900)
    second = min(second, 59) if second <= 60 else second  # a leap second
    hour = 0 if is_midnight_after else hour
    moment = dt.datetime(full_year, month, int(day), hour, minute, second, tzinfo=_read_zone(zone or ""))
    return (moment + dt.timedelta(days=is_midnight_after)).astimezone(dt.UTC)


def _read_zone(name: str) -> dt.tzinfo:
    if offset := _OFFSET.fullmatch(name):
        length = dt.timedelta(hours=int(offset[2]), minutes=int(offset[3] or 0))
        return dt.timezone(-length if offset[1] == "-" else length)
    if not name:
        return dt.UTC
    if place := _PLACE.fullmatch(name):
        return ZoneInfo(place[1])
    if not (named := _NAMED.fullmatch(name)):
        raise ValueError(name)
    zone = named[1].upper()
    return ZoneInfo(_PLACES[zone]) if zone in _PLACES else dt.timezone(dt.timedelta(hours=_ZONES[zone]))
