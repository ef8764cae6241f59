"""What agents asked a publisher's server: counts by day, tool and article. Nothing of who asked is stored, so nothing is shown."""

import csv
import datetime as dt
import io
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from django.db.models import Sum

from wire.articles.models import Article, ArticleCount, Publisher

DAYS: Final = 30
SHOWN: Final = 50  # articles, the most asked for
CHUNK: Final = 500  # rows that are read at a time
COLUMNS: Final = ("day", "tool", "url", "title", "count")
TOOLS: Final = ("search-content", "get-article", "list-recent")
FORMULA: Final = tuple("=+-@\t\r\n＝＋－＠")
"""What spreadsheets take for the beginning of a formula (OWASP: CSV injection), wide forms included."""


class Day(NamedTuple):
    """Calls of one UTC day: of all tools, and of each in the order of TOOLS."""

    day: dt.date
    calls: int
    by_tool: list[int]


class AskedFor(NamedTuple):
    """An article, and how often agents asked for it."""

    title: str
    url: str
    calls: int


@dataclass(frozen=True, slots=True)
class Asked:
    """The last 30 UTC days: those with a call, newest first, and the articles that were asked for most."""

    calls: int
    days: list[Day]
    articles: list[AskedFor]


def asked(publisher: Publisher, today: dt.date) -> Asked:
    counts = ArticleCount.objects.filter(publisher=publisher, day__gt=today - dt.timedelta(days=DAYS)).order_by()
    found: dict[dt.date, dict[str, int]] = {}
    for day, tool, number in counts.values_list("day", "tool").annotate(number=Sum("count")):
        found.setdefault(day, {})[tool] = number
    days = [
        Day(day, sum(tools.values()), [tools.get(tool, 0) for tool in TOOLS]) for day, tools in sorted(found.items(), reverse=True)
    ]
    most = counts.filter(number__gte=0).values_list("number").annotate(times=Sum("count")).order_by("-times", "number")[:SHOWN]
    named = _named(publisher, [number for number, _ in most])
    articles = [AskedFor(*named[number], times) for number, times in most if number in named]
    return Asked(sum(day.calls for day in days), days, articles)


def csv_lines(publisher: Publisher) -> Iterator[str]:
    """All that was ever counted, newest first, as lines of CSV with COLUMNS."""
    yield _line(*COLUMNS)
    rows = ArticleCount.objects.filter(publisher=publisher).order_by("-day", "tool", "number")
    counted = rows.values_list("day", "tool", "number", "count").iterator(chunk_size=CHUNK)
    while chunk := list(islice(counted, CHUNK)):
        named = _named(publisher, [number for _, _, number, _ in chunk])
        for day, tool, number, count in chunk:
            title, url = named.get(number, ("", ""))
            yield _line(day, tool, url, title, count)


def _named(publisher: Publisher, numbers: list[int]) -> dict[int, tuple[str, str]]:
    """Title and address of each article, by its number."""
    rows = Article.objects.filter(publisher=publisher, number__in=numbers).values_list("number", "title", "url")
    return {number: (title, url) for number, title, url in rows}


def _line(*values: object) -> str:
    text = io.StringIO()
    csv.writer(text).writerow([_harmless(str(value)) for value in values])
    return text.getvalue()


def _harmless(value: str) -> str:
    """A value that no spreadsheet runs: what would begin a formula stands behind an apostrophe."""
    return f"'{value}" if value.lstrip(" ").startswith(FORMULA) else value
