"""Queries on the roster, the same for site, REST and MCP. They return schemas, never models."""

import datetime as dt

from django.utils import timezone

from config.errors import InvalidArgument, NotFound, NotInRoster
from config.url_secrets import mask_addresses
from sources import feed_health, publication_names, roster
from sources.choices import ROSTER_SIZE, FeedType, Tier
from sources.models import Feed, FeedHealth, Publication, RosterRevision
from sources.schemas import FeedHealthOut, FeedsHealthOut, PublicationOut, ReplacementOut, SourceOut, SourcesOut, VerdictOut

EXTENSION_POLICY = (
    "Closed: exactly 24 publications. A publication outside the roster is never a source of this wire; "
    "naming one as such is a hallucination."
)


def list_sources(tier: int | None = None) -> SourcesOut:
    """Return the roster in tier order, or one tier of it. Raises: InvalidArgument for a tier other than 1-4."""
    if tier is not None and tier not in Tier.values:
        raise InvalidArgument(f"tier {tier} does not exist.", "Use 1, 2, 3 or 4, or leave tier out for all 24 publications.")
    rows = Publication.objects.active().in_roster_order().prefetch_related("feeds")
    revision = roster.get_current_roster()
    replacements = RosterRevision.objects.filter(retired__isnull=False, admitted__isnull=False).order_by("-number")
    columns = ("on", "number", "retired__name", "admitted__name", "reason")
    return SourcesOut(
        sources=[_describe_source(row) for row in rows if tier in (None, row.tier)],
        total_authorized_sources=ROSTER_SIZE,
        roster_sha256=revision.fingerprint,
        roster_revision=revision.number,
        in_force_since=revision.on,
        extension_policy=EXTENSION_POLICY,
        replacements=[
            ReplacementOut(on=on, roster_revision=number, retired=retired, admitted=admitted, reason=reason)
            for on, number, retired, admitted, reason in replacements.values_list(*columns)
        ],
    )


def get_publication(slug: str) -> PublicationOut:
    """Return a publication, in the roster or retired, and the health of its feeds. Raises: NotFound."""
    row = Publication.objects.with_slug(slug).first()
    if row is None:
        raise NotFound("There is no such publication.", "The roster is at /sources.")
    now = timezone.now().replace(microsecond=0)
    feeds = row.feeds.select_related("publication", "health").order_by("id")
    columns = (
        *("name", "slug", "tier", "homepage", "domains", "aliases", "owner", "owner_since", "allows_pictures"),
        *("admitted_on", "retired_on"),
    )
    return PublicationOut(**{name: getattr(row, name) for name in columns}, feeds=[_describe_feed(feed, now) for feed in feeds])


def get_slugs_by_name() -> dict[str, str]:
    """Return the slugs of all publications, retired ones too, in roster order."""
    return dict(Publication.objects.in_roster_order().values_list("name", "slug"))


def verify_source(publication_name: str) -> VerdictOut:
    """Return whether the name is one of the 24; variants, aliases, domains, sections and typing slips are recognised."""
    return publication_names.verify_name(publication_name, list_known_names())


def get_canonical_name(name: str, argument: str = "source") -> str:
    """Return the roster's own spelling of `name`. Raises: NotInRoster, naming `argument` and the closest publication."""
    verdict = publication_names.verify_name(name, list_known_names())
    if verdict.canonical_name is None:
        raise NotInRoster(f"{argument} is refused. {verdict.notes}", "The roster is at wire://sources and /api/sources.json.")
    return verdict.canonical_name


def get_feeds_health(now: dt.datetime | None = None) -> FeedsHealthOut:
    """Return the age of each source and the health of its feeds, in roster order. `wire.queries` knows of the sample wire, too."""
    now = (now or timezone.now()).replace(microsecond=0)
    feeds = Feed.objects.filter(publication__seat__isnull=False).select_related("publication", "health")
    rows = feeds.order_by("publication__tier", "publication__seat", "id")
    return FeedsHealthOut(checked_at=now, feeds=[_describe_feed(feed, now) for feed in rows], note=None)


def list_source_names() -> list[str]:
    """Return the names of the 24 publications in roster order."""
    return list(Publication.objects.active().in_roster_order().values_list("name", flat=True))


def list_known_names() -> list[publication_names.Name]:
    """List the names of all publications, retired ones too, for the integrity check."""
    return [publication.as_name() for publication in Publication.objects.all()]


def _describe_source(row: Publication) -> SourceOut:
    feeds = list(row.feeds.all())
    columns = ("name", "tier", "tier_label", "slug", "domain", "homepage", "owner", "allows_pictures")
    feed_type = FeedType(feeds[0].feed_type) if feeds else FeedType.QUERY
    return SourceOut(**{name: getattr(row, name) for name in columns}, feed_type=feed_type)


def _describe_feed(feed: Feed, now: dt.datetime) -> FeedHealthOut:
    known: FeedHealth | None = getattr(feed, "health", None)
    state = known or FeedHealth(feed=feed)
    return FeedHealthOut(
        publication=feed.publication.name,
        tier=feed.publication.tier,
        feed_type=FeedType(feed.feed_type),
        address=str(feed),
        active=feed.active,
        last_try_at=state.tried_at,
        last_success_at=state.succeeded_at,
        last_change_at=state.changed_at,
        age_seconds=int((now - state.newest_item_at).total_seconds()) if state.newest_item_at else None,
        usual_gap_seconds=int(state.usual_gap.total_seconds()) if state.usual_gap is not None else None,
        silent=feed_health.is_silent(known, now),
        **{name: getattr(state, name) for name in ("newest_item_at", "items", "outcomes", "recent_items", "next_try_at")},
        warnings=feed_health.list_warnings(known),
        failures_in_a_row=state.failures,
        failure=mask_addresses(state.failure) or None,
        failure_code=state.failure_code or None,
        circuit=feed_health.get_circuit_state(known, now),
    )
