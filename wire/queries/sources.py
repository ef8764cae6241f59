"""Queries of the roster with its stories, of one publication, and of the health of feeds."""

import datetime as dt
from collections.abc import Collection
from typing import Final

from django.db.models import Count, Exists, Max, OuterRef, Q

from sources import queries as sources_queries
from sources.models import Publication
from sources.schemas import FeedsHealthOut, SourcesOut
from wire.models import Story
from wire.queries.snapshots import is_sample
from wire.schemas.story import SourcePageOut

LOOKED_AT: Final = 200  # newest stories of which it is counted how many others report, too
A_DAY: Final = dt.timedelta(days=1)
ASKS_NONE: Final = (
    "The sample wire fetches no feeds. `manage.py doctor`, on the machine that serves this, reports on the real wire's; "
    "the real wire is served here as soon as its first day is published."
)


def feeds_health() -> FeedsHealthOut:
    """Return the age of each source and the state of its feeds; of the sample wire only a note that it fetches none."""
    found = sources_queries.feeds_health()
    if is_sample():
        found.note = ASKS_NONE
    return found


def list_sources(tier: int | None = None) -> SourcesOut:
    """Return the roster in tier order, or one tier of it, each publication with its stories. Raises: InvalidArgument."""
    found = sources_queries.list_sources(tier)
    rows = Story.objects.live().order_by().values_list("publication__slug")
    stories = {slug: (number, newest) for slug, number, newest in rows.annotate(Count("pk"), Max("published_at"))}
    for source in found.sources:
        source.stories, source.newest_story_at = stories.get(source.slug, (0, None))
    return found


def list_not_received(moments: Collection[dt.datetime]) -> list[str]:
    """Return the publications of the roster without any story of the UTC days of these moments, a day before and a day after."""
    first, last = (dt.datetime.combine(end.astimezone(dt.UTC), dt.time(), dt.UTC) for end in (min(moments), max(moments)))
    in_time = Story.objects.published().filter(published_at__gte=first - A_DAY, published_at__lt=last + 2 * A_DAY)
    rows = Publication.objects.active().in_roster_order().exclude(Exists(in_time.filter(publication=OuterRef("pk"))))
    return list(rows.values_list("name", flat=True))


def get_source(slug: str) -> SourcePageOut:
    """Return one publication, in the roster or retired. Raises: NotFound."""
    found = sources_queries.get_publication(slug)
    newest = Story.objects.live().filter(publication__slug=slug).newest_first().values_list("pk", flat=True)[:LOOKED_AT]
    rows = Story.objects.filter(pk__in=list(newest)).order_by()
    counts = rows.aggregate(newest=Count("pk"), shared=Count("pk", filter=Q(cross_source_count__gt=1)))
    return SourcePageOut(**dict(found), **counts, note=ASKS_NONE if is_sample() else None)
