"""Answers about a corpus. A field that a row does not have is left out, not null."""

from typing import Any, Literal

from pydantic import BaseModel as Schema  # ninja's own reads every part anew, and so counts every field as set
from pydantic import ConfigDict, Field

from wire.corpora.timeline.row_schemas import ClaimRow, EventRow, Frame, Grade, ItemRow, ReportRow, Stance

CURSOR = "Give it as `cursor` for the next page; null on the last."
Counts = dict[str, int]
_AS_STORED = ConfigDict(extra="ignore")  # of answers that are rows: `model_construct` makes them, since rows were checked before


class CorpusOut(Schema):
    """A corpus and where it is."""

    slug: str
    name: str
    about: str
    licence: str
    attribution: str | None
    release: int
    released_at: str
    sha256: str
    reports: int
    page: str
    mcp: str


class CorporaOut(Schema):
    corpora: list[CorpusOut]


class Answered(Schema):
    """The corpus and the release of an answer: as_of=release asks the same again."""

    corpus: str
    release: int = Field(description="Give it as `as_of` to have this answer again, whatever is released later.")


class ListOut(Answered):
    total: int
    returned: int
    next_cursor: str | None = Field(description=CURSOR)


class BriefOut(Schema):
    """A report in a list."""

    id: str
    title: str
    phenomenon_type: str
    source_type: str
    evidence_grade: Grade
    stance: Stance | None
    date_observed: str | None
    motifs: list[str]
    summary: str
    source_url: str | None
    flags: list[str] = Field(description="Safety flags: keep them in what you write.")


class TimelinePeriodOut(Schema):
    """A period that a query names in words; both dates are included."""

    said: str
    date_start: str | None
    date_end: str | None
    applied: bool = Field(description="false: no report of the period matches, or dates were given.")


class QuestionOut(Answered):
    """Base of answers to questions in words. Its fields say how the question was read, where not word by word."""

    matched: Literal["most words", "some words"] | None = Field(None, description="null where some report contains every word.")
    not_found: list[str] = Field([], description="Words that none of these reports holds.")
    period: TimelinePeriodOut | None = Field(None, description="The period that the question names.")


class TimelineSearchOut(QuestionOut):
    query: str | None
    total_matches: int
    returned: int
    next_cursor: str | None = Field(description=CURSOR)
    language_note: str
    reports: list[BriefOut]
    matches_over_time: Counts = Field(description="All matches by month, or by year where there are many months.")
    hint: str | None = Field(None, description="What to change where nothing matched.")


class PhrasingOut(Schema):
    say: str
    avoid: str


class TimelineClaimOut(ClaimRow):
    model_config = _AS_STORED

    disputes: list[dict[str, Any]] | None = None  # type: ignore[assignment]


class TimelineReportOut(ReportRow, Answered):
    """A whole report, as it was filed."""

    model_config = _AS_STORED

    location: dict[str, Any] | None = None  # type: ignore[assignment]
    source: dict[str, Any]  # type: ignore[assignment]
    claims: list[TimelineClaimOut] = Field(  # type: ignore[assignment]
        description="The report's claims; `status` says how far each is verified."
    )
    anchors: list[dict[str, Any]] | None = None  # type: ignore[assignment]
    related_reports: list[BriefOut]
    recommended_phrasing: PhrasingOut


class ItemOut(ItemRow):
    """A memory, and what is on record."""

    model_config = _AS_STORED


class CatalogueOut(ListOut):
    framing: str
    items: list[ItemOut]
    hint: str | None = None


class NodeOut(Schema):
    id: str
    label: str
    family: str
    freq: int = Field(description="Number of reports that carry it.")
    curated_freq: int | None = Field(description="The corpus editors' figure.")
    definition: str
    aliases: list[str]
    caution: str | None


class EdgeOut(Schema):
    a: str
    b: str
    weight: int = Field(description="Number of reports that carry both.")
    curated_weight: int | float | None = Field(description="The corpus editors' figure; null for a link that only reports show.")


class MotifMapOut(ListOut):
    nodes: list[NodeOut]
    edges: list[EdgeOut] = Field(description="Links among these nodes and with those of earlier pages.")
    note: str
    hint: str | None = None


class ThreadAnchorOut(Schema):
    id: str
    title: str
    date: str
    layer: str
    source_url: str | None


class ThreadReportOut(Schema):
    id: str
    title: str
    evidence_grade: Grade


class FramesOut(Schema):
    """The three sides; null where nobody wrote one."""

    belief: str | None
    neutral: str | None
    skeptical: str | None


class ThreadOut(Schema):
    id: str
    title: str
    anchor_label: str | None
    needs_source: bool
    public_summary: str
    frames: FramesOut
    active_frame: str | None
    motifs: list[str]
    anchors: list[ThreadAnchorOut]
    reports: list[ThreadReportOut]
    research_prompts: list[str]


class ThreadsOut(ListOut):
    active_lens: Frame | None
    threads: list[ThreadOut]
    hint: str | None = None


class TimelineEventOut(EventRow):
    model_config = _AS_STORED


class TimelineEventsOut(ListOut):
    layer_rules: dict[str, str]
    events: list[TimelineEventOut] = Field(description="Oldest first.")
    hint: str | None = None


class TimelineFactOut(Schema):
    fact: str
    source_url: str | None


class TimelineEvidenceOut(Schema):
    """A claim, with what stands behind it."""

    text: str
    claim_type: str
    status: str
    source_url: str | None
    report_id: str
    report_title: str
    evidence_grade: Grade
    stance: Stance | None
    source_type: str
    source: str = Field(description="The source family's name; without one, the source type.")
    disputed_by: list[str] = Field(description="Ids of reports that dispute it, as the corpus states.")
    disputes: list[dict[str, Any]] = Field(
        description="Each with `report_id`, `source_url` where it can be read, and `claim`, the disputed claim's number, from 1."
    )


class GroupOut(Schema):
    reports: int
    report_ids: list[str] = Field(description="The first few ids.")


class CompareOut(QuestionOut):
    topic: str
    matched_thread: str | None = Field(description="The curated thread on the topic; null without one.")
    matched_words: list[str]
    unmatched_words: list[str] = Field(description="Words of the topic that neither the reports nor the thread has.")
    belief: str | None = None
    neutral: str | None = None
    skeptical: str | None = None
    total_reports: int
    reports_compared: int = Field(description="How many; those of the thread first, then the newest.")
    groups: dict[str, dict[str, GroupOut]] = Field(description="Compared reports by `stance`, `evidence_grade` and `source`.")
    shared_facts: list[TimelineFactOut] = Field(description="Official events on the topic, with their sources.")
    disputed_or_unsourced: list[str]
    disputed_claims: list[TimelineEvidenceOut] = Field(description="All that are filed as disputed, or disputed by a report.")
    total_claims: int
    next_cursor: str | None = Field(description="Of claims. " + CURSOR)
    claims: list[TimelineEvidenceOut]
    recommended_wording: str


class DeepenOut(Answered):
    subject: str
    source_search_queries: list[str]
    related_motifs: list[str]
    comparison_questions: list[str]
    expansion_prompts: list[str]
    visualization_ideas: list[str]
    verification_checklist: list[str]
    needs_verification: list[str] = Field(description="Points that this subject's own fields leave open.")
    rule: str


class NeedsSourceOut(Schema):
    events: list[str]
    threads: list[str]
    reports: list[str]


class StatsOut(Answered):
    corpus_version: str
    released_at: str
    totals: Counts
    reports_by_phenomenon: Counts
    reports_by_source_type: Counts
    reports_by_evidence_grade: Counts
    reports_by_stance: Counts
    reports_by_year: Counts
    reports_by_month: Counts
    reports_by_language: Counts
    phenomenon_by_evidence_grade: dict[str, Counts]
    claims_by_status: Counts = Field(description="How far the claims are verified.")
    claims_by_type: Counts
    reports_with_source_url: int
    motif_frequency: Counts = Field(description="Number of reports that carry each motif.")
    motif_frequency_curated: Counts
    needs_source: NeedsSourceOut


class ManifestOut(Answered):
    name: str
    version: str
    what_this_is: str
    what_it_never_claims: str
    language_rules: list[str]
    evidence_grades: dict[str, str]
    layer_rules: dict[str, str]
    recommended_first_calls: list[str]
    install: dict[str, Any]
    raw_endpoints: list[str]
    citation_policy: str
    contribute: str | None
    licence: str
    attribution: str | None
    release_sha256: str
    corpora: list[str] = Field(description="Slugs of the other corpora; each has a server at /mcp/timeline/{slug}.")


class FindingOut(Schema):
    """A phrase that breaks a rule of the corpus."""

    rule: str = Field(description="avoid, symbolic-as-fact, official-cause or left-out-name.")
    phrase: str
    start: int = Field(description="Offset in the draft, in characters.")
    end: int
    why: str
    instead: str = Field(description="A wording that keeps the rule; empty where the phrase has to go.")
    about: list[str] = Field(description="Ids of reports or events that the rule comes from.")


class WordingOut(Answered):
    ok: bool
    findings: list[FindingOut]
    language_rules: list[str]
    unread_from: int | None = Field(
        None, description="Offset of the first sentence that was not compared; check the rest separately."
    )
