"""Schemas of the roster, the same over REST and MCP. Their docstrings are public: OpenAPI and MCP show them."""

import datetime as dt
from typing import Final

from ninja import Field, Schema
from pydantic import BaseModel

from sources.choices import Circuit, FeedType, Tier

ALLOWS_PICTURES: Final = "Its terms allow its pictures to be shown, at /pictures/{story_id}.webp."


class SourceOut(Schema):
    """One publication of the roster."""

    name: str
    tier: int = Field(ge=min(Tier), le=max(Tier))
    tier_label: str
    feed_type: FeedType
    slug: str
    domain: str
    homepage: str
    owner: str = Field(description="Empty if unknown.")
    allows_pictures: bool = Field(description=ALLOWS_PICTURES)
    stories: int = 0  # these two are counted by `wire.queries.list_sources`
    newest_story_at: dt.datetime | None = None


class ReplacementOut(Schema):
    """One change of the roster."""

    on: dt.date = Field(description="UTC date of the change.")
    roster_revision: int
    retired: str
    admitted: str
    reason: str


class SourcesOut(Schema):
    """The roster or one tier of it, in tier order."""

    sources: list[SourceOut]
    total_authorized_sources: int = Field(description="Always 24, whatever the filter.")
    roster_sha256: str = Field(description="SHA-256 of the RFC 8785 JSON of [{name, tier, domain}] of all 24, sorted by name.")
    roster_revision: int
    in_force_since: dt.date
    extension_policy: str
    replacements: list[ReplacementOut] = Field(description="All since the roster began, newest first.")


class VerdictOut(Schema):
    """Whether a publication name is in the roster."""

    in_roster: bool
    tier: int | None = Field(description="1-4, or null when not in the roster.")
    canonical_name: str | None = Field(description="The name to cite, or null when not in the roster.")
    notes: str = Field(description="How it matched, or why it did not and what to do.")
    closest_match: str | None = Field(description="null when none is similar.")
    similarity: float = Field(ge=0, le=1, description="1 for a name, alias or domain, less for other spellings.")


class FeedItemOut(BaseModel):  # a Schema takes several times as long to make, and there are hundreds
    """One item of a feed in the publisher's words, shortened, and its outcome."""

    headline: str
    address: str = Field(description="The values of its parameters are shown as '…'.")
    why: str = Field(description="Why it had this outcome; empty if the outcome says why.")
    at: dt.datetime = Field(description="When the feed last showed it with this outcome.")


class FeedWarningOut(Schema):
    """A warning about a feed that answers."""

    code: str = Field(description="empty: it answers without items, though it had some before; charset: its charset was guessed.")
    message: str = Field(description="What happened, and what to do.")


class FeedHealthOut(Schema):
    """Health of one feed. Times are UTC; null means never, or not known yet."""

    publication: str
    tier: int = Field(ge=min(Tier), le=max(Tier))
    feed_type: FeedType
    address: str = Field(description="The feed's address, with … for its parameters' values; or the search used in its place.")
    active: bool = Field(description="False after the publisher answered 410 (gone) or an editor switched it off.")
    last_try_at: dt.datetime | None
    last_success_at: dt.datetime | None = Field(description="Last answer that could be read, 'nothing new' included.")
    last_change_at: dt.datetime | None = Field(description="Last answer with something new in it.")
    newest_item_at: dt.datetime | None = Field(description="Newest date of an item.")
    age_seconds: int | None = Field(description="Age of newest_item_at.")
    usual_gap_seconds: int | None = Field(description="Mean time between the items of the latest answer.")
    silent: bool = Field(description="Nothing new for three times the usual gap, which counts as one hour at least.")
    items: int = Field(description="Items in the latest answer.")
    outcomes: dict[str, int] = Field(description="Number of these items by outcome; rejections as rejected:{reason}.")
    recent_items: dict[str, list[FeedItemOut]] = Field(description="The last three items of each outcome, newest first.")
    warnings: list[FeedWarningOut] = Field(description="About the latest readable answer; a warning is not a failure.")
    failures_in_a_row: int
    failure: str | None = Field(description="Why the last try failed; null if it succeeded.")
    failure_code: str | None
    circuit: Circuit = Field(description="closed: fetched at every run; open: paused until next_try_at; half_open: one try.")
    next_try_at: dt.datetime | None = Field(description="null: at the next run.")


class PublicationOut(Schema):
    """The roster's record of one publication, current or retired."""

    name: str
    slug: str
    tier: int = Field(ge=min(Tier), le=max(Tier))
    homepage: str
    domains: list[str]
    aliases: list[str]
    owner: str
    owner_since: dt.date | None = Field(description="null: since before the wire knew the publication.")
    allows_pictures: bool = Field(description=ALLOWS_PICTURES)
    admitted_on: dt.date
    retired_on: dt.date | None
    feeds: list[FeedHealthOut]


class FeedsHealthOut(Schema):
    """All feeds of the roster, in roster order."""

    checked_at: dt.datetime
    feeds: list[FeedHealthOut]
    note: str | None = Field(description="On the sample wire, a note that it fetches no feeds; else null.")
