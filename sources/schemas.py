"""What is answered about the roster, the same over REST and MCP."""

import datetime as dt

from ninja import Field, Schema

from sources.vocabulary import FeedType, Tier


class SourceOut(Schema):
    """One publication of the roster."""

    name: str
    tier: int = Field(ge=min(Tier), le=max(Tier))
    tier_label: str
    feed_type: FeedType
    slug: str
    domain: str
    homepage: str


class SourcesOut(Schema):
    """The roster, in tier order, whole or one tier of it."""

    sources: list[SourceOut]
    total_authorized_sources: int = Field(description="Always 24, whatever filter was asked for.")
    roster_sha256: str = Field(description="SHA-256 of the RFC 8785 JSON of [{name, tier, domain}] of all 24, sorted by name.")
    roster_revision: int
    in_force_since: dt.date
    extension_policy: str


class VerdictOut(Schema):
    """Whether a publication name is in the roster."""

    in_roster: bool
    tier: int | None = Field(description="1-4, or null when not in the roster.")
    canonical_name: str | None = Field(description="The name to cite, or null when not in the roster.")
    notes: str = Field(description="How it matched, or why it did not and what to do.")
    closest_match: str | None = Field(description="The nearest name of the roster.")
    similarity: float = Field(ge=0, le=1, description="Of the given name to `closest_match`.")
