"""Adds up for publishers how often agents asked, by day, tool and article; nothing of who asked."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from django.db import connection, transaction

from wire.articles.models import Article, ArticleAlias, ArticleCount, Publisher

NONE: Final = -1
"""Stands for an article's number where a tool asks for none."""


class Asked(NamedTuple):
    """What one call is counted under. `key`: of the article's address, "" where a tool asks for none."""

    day: dt.date
    publisher: str
    tool: str
    key: str = ""


_ADD: Final = (
    "INSERT INTO articles_articlecount (publisher_id, day, tool, number, count) VALUES (%s, %s, %s, %s, %s) "
    "ON CONFLICT (publisher_id, day, tool, number) DO UPDATE SET count = articles_articlecount.count + excluded.count"
)


def add(counts: Mapping[Asked, int]) -> None:
    """Add counts to what is stored, in one transaction. Those of a publisher that was removed meanwhile are dropped."""
    if not counts:
        return
    day = ArticleCount._meta.get_field("day")
    with transaction.atomic():
        publishers = dict(Publisher.objects.live().filter(slug__in={one.publisher for one in counts}).values_list("slug", "pk"))
        numbers = {slug: _numbers(pk, {one.key for one in counts if one.publisher == slug}) for slug, pk in publishers.items()}
        rows: dict[tuple[int, dt.date, str, int], int] = defaultdict(int)
        for one, times in counts.items():
            if one.publisher in publishers:
                number = numbers[one.publisher].get(one.key, NONE)
                rows[publishers[one.publisher], one.day, one.tool, number] += times
        with connection.cursor() as cursor:
            cursor.executemany(
                _ADD, [[key[0], day.get_db_prep_save(key[1], connection), *key[2:], times] for key, times in sorted(rows.items())]
            )


def _numbers(publisher: int, keys: Iterable[str]) -> dict[str, int]:
    """The numbers of the articles at these addresses, aliases included."""
    wanted = [key for key in keys if key]
    aliases = ArticleAlias.objects.filter(publisher=publisher, key__in=wanted).values_list("key", "article__number")
    return dict(aliases) | dict(Article.objects.filter(publisher=publisher, key__in=wanted).values_list("key", "number"))
