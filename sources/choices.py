"""Closed vocabularies of the roster. Every `choices=`, OpenAPI enum and MCP schema derives from these."""

from typing import Final

from django.db.models import IntegerChoices, TextChoices

ROSTER_SIZE: Final = 24


class Tier(IntegerChoices):
    """The kind of source a publication is, not its quality."""

    CORPORATE = 1, "Corporate AI Blogs"
    SPECIALIST = 2, "Specialist AI Press"
    GLOBAL = 3, "Global Newswires & Business Press"
    CATEGORY = 4, "Category Wire"

    @property
    def meaning(self) -> str:
        return _MEANINGS[self]


_MEANINGS: Final = {
    Tier.CORPORATE: "Companies’ own announcements: first-hand, not independent.",
    Tier.SPECIALIST: "Newsrooms that specialise in technology: independent reporting for readers who follow the field.",
    Tier.GLOBAL: "Agencies and titles read in many industries: independent reporting, where AI is one subject among others.",
    Tier.CATEGORY: "A wire of other outlets’ articles: it finds reports and writes none, and it counts least in consensus.",
}


class FeedType(TextChoices):
    """How a publication's items are found. `query` is a Google News search limited to its domain."""

    RSS = "rss", "RSS"
    ATOM = "atom", "Atom"
    JSON = "json", "JSON Feed"
    SITEMAP = "sitemap", "News sitemap"
    QUERY = "query", "Google News search"


class Circuit(TextChoices):
    """Whether a feed is asked: at every run, not for now, or once to see whether it is back."""

    CLOSED = "closed", "Closed"
    OPEN = "open", "Open"
    HALF_OPEN = "half_open", "Half open"
