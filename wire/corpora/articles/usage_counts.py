"""Counts of what agents asked a publisher's server, by day, tool and article. Nothing about the callers is stored."""

import csv
import datetime as dt
import io
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any, Final, NamedTuple

from django.db import transaction
from django.db.models import Sum

from config.database.counters import add_counts
from wire.corpora.articles.models import Article, ArticleAlias, ArticleCount, Publisher

NONE: Final = -1  # in place of an article's number where a tool asks for none
DAYS: Final = 30
SHOWN: Final = 50  # articles, the most asked for
CHUNK: Final = 500  # rows that are read at a time
COLUMNS: Final = ("day", "tool", "url", "title", "count")
TOOLS: Final = ("search-content", "get-article", "list-recent")
# The beginnings that spreadsheets take for a formula (OWASP: CSV injection), wide forms included.
FORMULA: Final = tuple("=+-@\t\r\n＝＋－＠")


class CallKey(NamedTuple):
    """The key that a call is counted under. `key`: of the article's address, "" where a tool asks for none."""

    day: dt.date
    publisher: str
    tool: str
    key: str = ""


def add_to_stored(counts: Mapping[CallKey, int]) -> None:
    """Add counts to the stored ones, in one transaction. Those of a publisher that was removed meanwhile are dropped."""
    with transaction.atomic():
        publishers = dict(Publisher.objects.live().filter(slug__in={one.publisher for one in counts}).values_list("slug", "pk"))
        rows, numbers = Counter[tuple[Any, ...]](), dict[tuple[int, str], int]()
        for rows_of, column in ((ArticleAlias, "article__number"), (Article, "number")):
            known = rows_of.objects.filter(publisher__in=publishers.values(), key__in={one.key for one in counts if one.key})
            numbers |= {(pk, key): number for pk, key, number in known.values_list("publisher", "key", column)}
        for one, times in counts.items():
            if (pk := publishers.get(one.publisher)) is not None:
                rows[pk, one.day, one.tool, numbers.get((pk, one.key), NONE)] += times
        add_counts(ArticleCount, ("publisher_id", "day", "tool", "number"), rows)


def report_usage(publisher: Publisher, today: dt.date) -> dict[str, Any]:
    """Return `calls` of 30 UTC days, `days` (day, calls, calls by tool), newest first, and the `articles` asked for most."""
    counts = ArticleCount.objects.filter(publisher=publisher, day__gt=today - dt.timedelta(days=DAYS)).order_by()
    by_day: dict[dt.date, dict[str, int]] = {}
    for day, tool, number in counts.values_list("day", "tool").annotate(number=Sum("count")):
        by_day.setdefault(day, {})[tool] = number
    newest = sorted(by_day.items(), reverse=True)
    days = [(day, sum(tools.values()), [tools.get(tool, 0) for tool in TOOLS]) for day, tools in newest]
    most = counts.filter(number__gte=0).values_list("number").annotate(times=Sum("count")).order_by("-times", "number")[:SHOWN]
    names = _load_titles(publisher, [number for number, _ in most])
    articles = [names[number] | {"calls": times} for number, times in most if number in names]
    return {"calls": sum(calls for _, calls, _ in days), "days": days, "articles": articles}


def iterate_csv_lines(publisher: Publisher) -> Iterator[str]:
    """Yield all counts, newest first, as lines of CSV with COLUMNS."""
    yield _format_csv_line(*COLUMNS)
    rows = ArticleCount.objects.filter(publisher=publisher).order_by("-day", "tool", "number")
    counted = rows.values_list("day", "tool", "number", "count").iterator(chunk_size=CHUNK)
    while chunk := list(islice(counted, CHUNK)):
        names = _load_titles(publisher, [number for _, _, number, _ in chunk])
        for day, tool, number, count in chunk:
            one = names.get(number, {"url": "", "title": ""})
            yield _format_csv_line(day, tool, one["url"], one["title"], count)


def _load_titles(publisher: Publisher, numbers: list[int]) -> dict[int, dict[str, Any]]:
    rows = Article.objects.filter(publisher=publisher, number__in=numbers).values("number", "title", "url")
    return {row["number"]: {**row} for row in rows}


def _format_csv_line(*values: object) -> str:
    """Return a line in which no spreadsheet finds a formula: an apostrophe precedes what would begin one."""
    texts = [str(value) for value in values]
    line = io.StringIO()
    csv.writer(line).writerow([f"'{text}" if text.lstrip(" ").startswith(FORMULA) else text for text in texts])
    return line.getvalue()
