"""Words that a corpus may use. Stance, grade and frame are the same in every corpus; of all else a corpus may bring its own."""

from collections.abc import Mapping
from typing import Annotated, Final, Literal

from ninja import Schema
from pydantic import ConfigDict, Field, StringConstraints

Stance = Literal["belief", "neutral", "skeptical", "official", "mixed"]
Grade = Literal["official", "firsthand", "reported", "interpretive", "symbolic", "speculative"]
Frame = Literal["belief", "neutral", "skeptical"]
FRAMES: Final[tuple[Frame, ...]] = ("belief", "neutral", "skeptical")
GRADES: Final[Mapping[str, str]] = {
    "official": "Published by the institution itself — always linked.",
    "firsthand": "A person reporting their own experience.",
    "reported": "Shared accounts: forums, polls, threads.",
    "interpretive": "Community meaning-making on top of events.",
    "symbolic": "Allegory and teaching language, filed as such.",
    "speculative": "Unverified conjecture, clearly flagged.",
}

# A lane, a grade, a stance and a claim status: what an institution says of itself, with its address.
OFFICIAL: Final = "official"
OFFICIAL_FACT: Final = "official-fact"
VERIFIED: Final = "verified-source"
DISPUTED: Final = "disputed"
NEEDS_SOURCE: Final = "needs-source"
CAUSATION: Final = "speculative-causation"
NOT_AS_FACT: Final = "do-not-state-as-fact"
UNVERIFIED: Final = "source-needs-verification"
TEACHING: Final = "symbolic-teaching-summary"
OMITTED: Final = "omitted"

Name = Annotated[str, StringConstraints(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$", max_length=60)]


class Layer(Schema):
    """A layer of the timeline: its lane, and what may be said of what lies in it."""

    model_config = ConfigDict(extra="forbid")

    id: Name
    lane: Literal["official", "community"]
    rule: Annotated[str, Field(min_length=1, max_length=300)]


LAYERS: Final = (
    Layer(id="official-science", lane="official", rule="Institutional fact with a source URL."),
    Layer(id="community-wave", lane="community", rule="Community interpretation clustered in time — never causation."),
    Layer(id="symbolic-anchor", lane="community", rule="A symbolic reading overlaid on the calendar — never an event claim."),
    Layer(id="site-update", lane="community", rule="A change of this archive itself — no claim about the world."),
    Layer(id="submission-batch", lane="community", rule="Reports that were filed together — the date says when, not why."),
)


class Vocabularies(Schema):
    """Words that the fields of a corpus may hold; each list may be replaced by the corpus's own."""

    model_config = ConfigDict(extra="forbid")

    phenomenon_types: list[Name] = [
        *("mandela-effect", "timeline-shift", "synchronicity", "cern-lore", "simulation-glitch", "symbolic-alchemy"),
        *("dream-vision", "personal-report", "official-science-anchor"),
    ]
    source_types: list[Name] = [
        *("official-source", "firsthand-report", "social-post", "forum-thread", "article", "video", "transcript-summary"),
        *("symbolic-teaching-summary", "project-note"),
    ]
    claim_types: list[Name] = [
        *("official-fact", "personal-experience", "community-interpretation", "symbolic-reading", "speculative-causation"),
        "fictional-or-mythic",
    ]
    claim_statuses: list[Name] = ["verified-source", "reported", "needs-source", "disputed", "symbolic-only", "not-evidence"]
    event_statuses: list[Name] = ["official", "reported", "interpretive", "symbolic", "needs-source"]
    layers: list[Layer] = list(LAYERS)
    anchor_layers: list[Name] = ["cultural-marker"]  # layers that an anchor may name beside those of events
    relations: list[Name] = ["same-date", "same-period", "mentioned-by-source", "community-linked", "symbolic-parallel"]
    author_policies: list[Name] = ["public", "redacted", "omitted", "unknown"]
    safety_flags: list[Name] = [
        *("avoid-direct-teacher-name", "do-not-state-as-fact", "no-harassment", "source-needs-verification", "copyright-risk"),
        *("sensitive-personal-story", "institutional-claim"),
    ]
    families: list[Name] = [
        *("machine", "time", "light", "serpent", "memory", "simulation", "alchemy", "astronomy", "body"),
    ]
    categories: list[Name] = ["brand", "film", "music", "geography", "scripture", "pop-culture", "personal-memory"]
    item_statuses: list[Name] = ["classic", "new-wave", "unverified", "needs-review"]

    def lanes(self) -> dict[str, str]:
        return {layer.id: layer.lane for layer in self.layers}
