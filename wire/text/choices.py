"""Closed vocabularies of the wire. Every `choices=`, OpenAPI enum and MCP schema derives from these."""

import re
from typing import Final

from django.db.models import TextChoices

# The public reasons of a revision that `rebuild` made, and of the one that withdraws a story because an older one is the same
# article. Any other reason is an editor's own.
NEWER_RULES: Final = "Read again with newer rules."
MERGED: Final = "Merged with {}: the same article under another address."


def get_merged_into(reason: str) -> str | None:
    """Return the id in a reason for a merge; None for any other reason."""
    match = re.fullmatch(re.escape(MERGED).replace(r"\{\}", "(cbn-[0-9a-z]{12})"), reason)
    return match[1] if match else None


class Category(TextChoices):
    """The one section a story belongs to."""

    LAUNCHES = "launches", "Launches"
    FUNDING = "funding", "Funding"
    AGENTS = "agents", "AI Agents"
    INDUSTRY = "industry", "Industry"
    ANALYSIS = "analysis", "Analysis"


class Topic(TextChoices):
    """What a story is about; a story has none, one or several."""

    OPENAI = "openai", "OpenAI"
    ANTHROPIC = "anthropic", "Anthropic"
    GOOGLE = "google", "Google"
    MICROSOFT = "microsoft", "Microsoft"
    META = "meta", "Meta"
    NVIDIA = "nvidia", "NVIDIA"
    XAI = "xai", "xAI"
    MISTRAL = "mistral", "Mistral"
    PERPLEXITY = "perplexity", "Perplexity"
    AGENTS = "agents", "Agents"
    FUNDING = "funding", "Funding"
    REGULATION = "regulation", "Regulation"


# The topics that are companies.
COMPANIES: Final = frozenset({*Topic} - {Topic.AGENTS, Topic.FUNDING, Topic.REGULATION})


class Status(TextChoices):
    """Where a story stands editorially. A publisher's own edit leaves it live; `corrected` is an editor's act."""

    LIVE = "live", "Live"
    CORRECTED = "corrected", "Corrected"
    WITHDRAWN = "withdrawn", "Withdrawn"


class PairLabel(TextChoices):
    """Editor's decision on how two reports belong together."""

    SAME = "S", "One event"
    FOLLOW_UP = "F", "Another event of the same storyline"
    DIFFERENT = "N", "Nothing to do with each other"


class ChangeKind(TextChoices):
    """What happened to the public record."""

    STORY_ADDED = "story_added"
    STORY_REVISED = "story_revised"
    STORY_CORRECTED = "story_corrected"
    STORY_WITHDRAWN = "story_withdrawn"
    STORY_MOVED = "story_moved"
    EVENT_FOUNDED = "event_founded"
    EVENT_MERGED = "event_merged"
    EVENT_SPLIT = "event_split"
    ROSTER_REPLACED = "roster_replaced"
    DAY_PUBLISHED = "day_published"
