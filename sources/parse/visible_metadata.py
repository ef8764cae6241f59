"""Date and authors as an article's page shows them, where its metadata does not say. Reads lxml's tree, changes nothing."""

import datetime as dt
import re
from typing import Final

from sources.parse.dates import read_date
from sources.parse.markdown import Element
from sources.parse.page_metadata import is_personal

MAX_BYLINE: Final = 200  # characters of an element that names authors
MAX_ELEMENTS: Final = 20  # that are looked at for each form of a date or a byline
_ELSEWHERE: Final = (
    "[not(ancestor::aside or ancestor::footer or ancestor::nav"
    " or ancestor::*[contains(@class, 'comment') or contains(@id, 'comment')])]"
)
_DATED: Final = (
    "//time[@pubdate]/@datetime",
    "//*[@itemprop='datePublished']/@*[name()='datetime' or name()='content']",
    f"//time[contains(@class, 'publish') or contains(@class, 'entry-date') or contains(@class, 'posted')]{_ELSEWHERE}/@datetime",
    f"//*[self::article or self::main or self::header]//time[not(contains(@class, 'updated'))]{_ELSEWHERE}/@datetime",
    f"//time[not(contains(@class, 'updated'))]{_ELSEWHERE}/@datetime",
)
# Year, perhaps a section, month and day; or eight digits.
_IN_PATH: Final = re.compile(
    r"(?<![0-9])((?:19|20)[0-9]{2})(?:(?:/[A-Za-z_]+)?([-/_])([01]?[0-9])\2([0-3]?[0-9])|([01][0-9])([0-3][0-9]))(?![0-9])"
)
_CLASSES: Final = (
    *("byline", "byline-name", "author", "author-name", "article-author", "post-author", "entry-author"),
    *("firma", "autor", "auteur"),
)
_MARKED: Final = (
    "//*[@itemprop='author']//*[@itemprop='name']",
    "//*[@itemprop='author']",
    "//*[contains(@class, 'author')]//*[contains(concat(' ', @class, ' '), ' fn ')]",
    "//*[@rel='author']",
    "//*[{}]".format(" or ".join(f"contains(concat(' ', translate(@class, '_', '-'), ' '), ' {name} ')" for name in _CLASSES)),
)
_LIKELY: Final = f"//*[{' or '.join(f'contains(@{at}, {name!r})' for at in ('class', 'id') for name in ('byline', 'author'))}]"
_LINES: Final = ("p", "div", "span", "a", "address", "h2", "h3", "h4", "h5", "em", "i", "cite", "strong", "b", "li", "td")
_BY: Final = re.compile(r"\s*(?:(?:written|posted|reported|story|text)\s+)?(?:by|von|par|por|di|door|av|af)\b[\s:]*", re.I)
# Signs and words between names, or between a name and the office, place, day or date behind it.
_BETWEEN: Final = re.compile(
    r"\s*(?:[,;/&·•|()\n]|\s[-–—]\s|\b(?:and|und|et|y|e|en|och|og|for|in|at|pour|für|para|on)\b"
    r"|\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*\.? (?=[0-9]))\s*"
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:[’'.-]+[^\W\d_]*)*")
_PARTICLES: Final = frozenset("al bin da de del della den der di dos du el la le ten ter van von zu".split())  # noqa: SIM905
_LABELS: Final = """
about account agency all archive author authors bureau by comments contact contributor correspondent desk editor editorial email
facebook follow google home linkedin log login more news newsletter online press profile read reporter rss share sign staff
subscribe team the this twitter updated view website writer writers you your
"""
_NO_NAMES: Final = frozenset(_LABELS.split())


def find_date(tree: Element, url: str) -> dt.datetime | None:
    """Return the date in UTC, midnight where only the day is shown: of a marked element, the address, else as htmldate finds it."""
    day = _read_path(url)
    for path in _DATED:
        for text in tree.xpath(path)[:MAX_ELEMENTS]:
            moment = read_date(text)
            # An address that has a date knows the day better than an element, which may be of a tweet or of an event.
            if moment is not None and (day is None or abs(moment - day) < dt.timedelta(days=2)):
                return moment
    return day or _guess_date(tree, url)


def _read_path(url: str) -> dt.datetime | None:
    found = _IN_PATH.findall(url.partition("?")[0])
    return next(filter(None, (read_date(f"{year}-{month or m:0>2}-{day or d:0>2}") for year, _, month, day, m, d in found)), None)


def _guess_date(tree: Element, url: str) -> dt.datetime | None:
    from htmldate import find_date as guess  # loads much, for the process that reads pages alone

    found = guess(tree, extensive_search=True, original_date=True, url=url) or ""
    return None if found.endswith("-01-01") else read_date(found)  # the first of a year is the year of a copyright


def find_authors(tree: Element) -> str:
    """Return the names in the page's byline, parted by a comma and a space; empty if it has none."""
    for path in _MARKED:
        for element in tree.xpath(path + _ELSEWHERE)[:MAX_ELEMENTS]:
            if names := read_names("\n".join(element.itertext())):
                return names
    for element in tree.iter(*_LINES):
        if any(_BY.match(text) for text in (element.text, *(child.tail for child in element)) if text) and (
            names := read_names("\n".join(element.itertext()))
        ):
            return names
    likely = (read_names("\n".join(element.itertext())) for element in tree.xpath(_LIKELY + _ELSEWHERE)[:MAX_ELEMENTS])
    return next(filter(None, likely), "")


def read_names(byline: str) -> str:
    """Return the persons that a byline names, parted by a comma and a space; empty for what is too long to be one."""
    if len(byline) > MAX_BYLINE:
        return ""
    parts = [" ".join(_BY.sub("", part, count=1).split()) for part in _BETWEEN.split(_BY.sub("", byline, count=1))]
    names = [name for name in dict.fromkeys(parts) if is_personal(name) and all(map(_may_be_in_name, name.split()))]
    # Who is named beside them in other letters is a newsroom: Ada Lovelace, THE WIRE; ADA LOVELACE, Quince Times.
    return ", ".join(name for name in names if len(name.split()) <= 5 and name.isupper() == names[0].isupper())


def _may_be_in_name(word: str) -> bool:
    plain = word.strip(".").casefold()
    return plain in _PARTICLES or (plain not in _NO_NAMES and bool(_WORD.fullmatch(word)) and not word[:1].islower())
