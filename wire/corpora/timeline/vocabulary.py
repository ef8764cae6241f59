"""Words that rules and queries know. Stance, grade and frame are the same in every corpus; all others are its own."""

from collections.abc import Mapping
from typing import Final, Literal

from wire.text.lexicons import load

Stance = Literal["belief", "neutral", "skeptical", "official", "mixed"]
Grade = Literal["official", "firsthand", "reported", "interpretive", "symbolic", "speculative"]
Frame = Literal["belief", "neutral", "skeptical"]
FRAMES: Final[tuple[Frame, ...]] = ("belief", "neutral", "skeptical")
GRADES: Final[Mapping[str, str]] = load("timeline_fields")["grades"]

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
