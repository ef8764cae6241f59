"""Who of the roster reported an event, who did not, and from whom nothing came."""

from django.conf import settings

from sources import queries as sources_queries
from sources.choices import Tier
from wire.publishing.event_view import EventView
from wire.queries.events import view_event
from wire.queries.site_pages import list_not_received
from wire.schemas.figures import CoverageOut, TierCoverage


def get_coverage(event_id: str) -> CoverageOut:
    """Return the coverage of an event, by its id or that of any of its stories. Raises: NotFound."""
    return measure_coverage(view_event(event_id))


def measure_coverage(event: EventView) -> CoverageOut:
    """Return the coverage of an event, each tier in roster order. A publication that left the roster stands behind the others."""
    counted = {report.story.original_publisher for report in event.reports if report.independent}
    told = {report.story.original_publisher: report.story.original_publisher_tier for report in event.reports}
    nothing = set(list_not_received([report.story.published_at for report in event.reports]))
    roster = {source.name: source.tier for source in sources_queries.list_sources().sources}
    tiers = {
        tier: TierCoverage(tier=tier, tier_label=tier.label, reported=[], not_counted=[], silent=[], not_received=[])
        for tier in Tier
    }
    for name, tier in (roster | {name: tier for name, tier in told.items() if name not in roster}).items():
        found = tiers[Tier(tier)]
        if name in counted:
            found.reported.append(name)
        elif name in told:
            found.not_counted.append(name)
        else:
            (found.not_received if name in nothing else found.silent).append(name)
    return CoverageOut(
        event_id=event.event_id,
        permalink=f"{settings.WIRE_SITE_URL}/event/{event.event_id}",
        cross_source_count=event.count,
        tiers=list(tiers.values()),
    )
