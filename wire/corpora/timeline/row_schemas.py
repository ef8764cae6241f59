"""The rows of a corpus, field by field. A row is stored as it was written; these types say which ones are accepted."""

import re
from collections.abc import Mapping
from typing import Annotated, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from wire.schemas.params import read_date
from wire.text.lexicons import load_lexicon

MAX_TEXT: Final = 20_000
# Stance, grade and frame are the same in every corpus; all other words are its own.
Stance = Literal["belief", "neutral", "skeptical", "official", "mixed"]
Grade = Literal["official", "firsthand", "reported", "interpretive", "symbolic", "speculative"]
Frame = Literal["belief", "neutral", "skeptical"]
FRAMES: Final[tuple[Frame, ...]] = ("belief", "neutral", "skeptical")
GRADES: Final[Mapping[str, str]] = load_lexicon("timeline_fields")["grades"]

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

_ID: Final = re.compile(r"[A-Za-z0-9]+([._-][A-Za-z0-9]+)*")
# What would reorder or hide text, and what no text holds: tabs and line ends aside.
_CONTROL: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\u2028\u2029]")


def expect_plain_text(text: str) -> str:
    """Raises: ValueError."""
    if not text.strip():
        raise ValueError("is empty")
    if _CONTROL.search(text):
        raise ValueError("holds control characters")
    return text


def _expect_id(text: str) -> str:
    if not _ID.fullmatch(text):
        raise ValueError("letters and digits, joined by -, . or _")
    return text


def _expect_date(text: str) -> str:
    try:
        read_date(text)
    except ValueError:
        raise ValueError("not an ISO 8601 date such as 2026-06-29") from None
    return text


def _expect_web_address(text: str) -> str:
    parts = urlsplit(text)
    if parts.scheme not in {"https", "http"} or not parts.hostname or any(c.isspace() for c in text):
        raise ValueError("not a web address that begins with https:// or http://")
    return text


_PLAIN: Final = WithJsonSchema({"type": "string"})  # answers have these types too, and promise no bounds
Id = Annotated[str, Field(max_length=120), AfterValidator(_expect_id), _PLAIN]
Line = Annotated[str, Field(max_length=500), AfterValidator(expect_plain_text), _PLAIN]
Text = Annotated[str, Field(max_length=MAX_TEXT), AfterValidator(expect_plain_text), _PLAIN]
Date = Annotated[str, AfterValidator(_expect_date)]
Url = Annotated[str, Field(max_length=2_000), AfterValidator(_expect_web_address), _PLAIN]
Term = Annotated[str, Field(max_length=60), _PLAIN]
_LIST: Final = WithJsonSchema({"type": "array", "items": {"type": "string"}})
Ids = Annotated[list[Id], Field(max_length=2_000), _LIST]


class Row(BaseModel):
    """Base of all rows: nothing unknown is accepted, and nothing is converted."""

    model_config = ConfigDict(extra="forbid", strict=True)


class SourceFamilyRow(Row):
    id: Id
    label: Line
    kind: Term
    policy: Text
    author_policy: Term | None = None
    home_url: Url | None = None


class MotifRow(Row):
    id: Id
    label: Line
    short_definition: Text
    long_definition: Text | None = None
    family: Term
    aliases: list[Line]
    recommended_visuals: list[Line] = []
    caution: Text | None = None
    x: float | None = None
    y: float | None = None
    freq: int | None = Field(None, ge=0, le=1_000_000_000)


class PlaceRow(Row):
    label: Line
    latitude: float | None = Field(None, ge=-90, le=90)
    longitude: float | None = Field(None, ge=-180, le=180)
    symbolic: bool | None = None


class SourceRow(Row):
    source_id: Id | None = None
    source_type: Term
    source_url: Url | None = None
    author_display: Line | None = None
    author_policy: Term
    language: Annotated[str, Field(pattern=r"^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8})*$", max_length=35)] | None = None
    archived: bool | None = None


class DisputeRow(Row):
    """Says that a report, or a claim of it (numbered from 1), disputes a claim, and where that can be read."""

    report_id: Id
    claim: int | None = Field(None, ge=1)
    source_url: Url


class ClaimRow(Row):
    text: Text
    claim_type: Term
    status: Term
    source_url: Url | None = None
    disputes: list[DisputeRow] | None = Field(None, max_length=50)


class AnchorRow(Row):
    anchor_id: Id
    label: Line
    date: Date | None = None
    layer: Term
    source_url: Url | None = None
    relation: Term


class ReportRow(Row):
    id: Id
    title: Line
    summary: Text
    long_summary: Text | None = None
    phenomenon_type: Term
    date_observed: Date | None = None
    date_posted: Date | None = None
    date_added: Date
    location: PlaceRow | None = None
    source: SourceRow
    evidence_grade: Grade
    stance: Stance | None
    motifs: Ids
    claims: list[ClaimRow] = Field(min_length=1, max_length=200)
    anchors: list[AnchorRow] | None = Field(None, max_length=200)
    related_report_ids: Ids | None = None
    safety_flags: list[Term] | None = None
    display_flag: Line | None = None
    recommended_agent_language: Annotated[list[Line], Field(max_length=2), _LIST] | None = None


class EventRow(Row):
    id: Id
    title: Line
    date: Date
    date_label: Line | None = None
    short: Line | None = None
    layer: Term
    summary: Text
    source_url: Url | None = None
    motifs: Ids
    claim_status: Term
    attribution: Line | None = None
    flag: bool | None = None


class ThreadRow(Row):
    id: Id
    title: Line
    anchor_label: Line | None = None
    flag: bool | None = None
    public_summary: Text
    belief_frame: Text | None
    neutral_frame: Text | None
    skeptical_frame: Text | None = None
    motifs: Ids
    anchor_ids: Ids
    report_ids: Ids
    suggested_questions: list[Line]


class ItemRow(Row):
    id: Id
    title: Line
    category: Term
    remembered_variant: Text
    current_variant: Text
    community_notes: Text
    mainstream_notes: Text | None = None
    motifs: Ids
    first_known_wave: Line | None = None
    source_links: list[Url]
    related_report_ids: Ids
    status: Term


class EdgeRow(Row):
    """A link between two motifs, written [a, b, weight]; the weight is the curator's, beside what the reports say."""

    a: Id
    b: Id
    weight: float = Field(gt=0)


ROWS: Final[dict[str, type[Row]]] = {
    "sources": SourceFamilyRow,
    "motifs": MotifRow,
    "edges": EdgeRow,
    "events": EventRow,
    "reports": ReportRow,
    "items": ItemRow,
    "threads": ThreadRow,
}
