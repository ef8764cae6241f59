"""A publisher's own limit of requests by one client, to its MCP server and its addresses in REST."""

import re
from collections.abc import Mapping
from functools import partial
from typing import Final

from config.database import routing
from config.database.threads import in_thread
from config.errors import Unavailable
from config.http import memory_cache
from wire.corpora.articles.models import Publisher

_OF_PUBLISHER: Final = re.compile(r"/(?:mcp|api)/articles/([^/.]+)")
_KEY: Final = ("limits", "articles")
_BYTES: Final = 200  # of memory, about, that an entry takes


async def limit_at(path: str) -> tuple[str, int] | None:
    """Return the publisher at this path, and its requests a minute; None without such a limit, and while the database is away."""
    if (found := _OF_PUBLISHER.match(path)) is None:
        return None
    limits: Mapping[str, int] | None = memory_cache.answers.get(_KEY)
    if limits is None:
        try:
            limits = await memory_cache.answers.make(_KEY, _read)
        except Unavailable:  # whoever answers says so
            return None
    slug = found[1]
    return (slug, limits[slug]) if limits and slug in limits else None


async def _read() -> tuple[Mapping[str, int], int]:
    rows = Publisher.objects.live().exclude(per_minute=None).values_list("slug", "per_minute")
    found = await in_thread(partial(routing.read, lambda: list(rows)))
    limits = {slug: per_minute for slug, per_minute in found if per_minute is not None}
    return limits, _BYTES * (1 + len(limits))
