"""One publication: who it is, how its feeds fare, and how far others report what it reports."""

from typing import Final

from django.db.models import Count, Q

from sources import queries as sources_queries
from wire.models import Story
from wire.queries.days import is_sample
from wire.queries.feeds import ASKS_NONE
from wire.schemas import SourcePageOut

LOOKED_AT: Final = 200  # newest stories of which it is counted how many others report, too


def get_source(slug: str) -> SourcePageOut:
    """One publication, in the roster or retired. Raises: NotFound."""
    found = sources_queries.get_publication(slug)
    newest = Story.objects.live().filter(publication__slug=slug).newest_first().values_list("pk", flat=True)[:LOOKED_AT]
    rows = Story.objects.filter(pk__in=list(newest)).order_by()
    counts = rows.aggregate(newest=Count("pk"), shared=Count("pk", filter=Q(cross_source_count__gt=1)))
    return SourcePageOut(**dict(found), **counts, note=ASKS_NONE if is_sample() else None)
