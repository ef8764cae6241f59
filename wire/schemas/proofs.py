"""Shapes of what lets anybody check the wire: verified citations, proofs, changes, corroboration, coverage side by side."""

import datetime as dt
from typing import Literal

from ninja import Field, Schema

from wire.schemas.params import Moment, Sha256, StoryId
from wire.schemas.story import ProvedDay
from wire.text.choices import ChangeKind

Verdict = Literal["verified", "outdated", "reworded", "wrong", "unknown"]


class CheckOut(Schema):
    """One thing that a citation says, beside what the record says."""

    field: str
    said: str
    record: str | None
    ok: bool


class QuotationOut(Schema):
    text: str
    found_in: str | None = Field(description="For example `headline, revision 2`; null: these words are not in the record.")


class VerifiedCitation(Schema):
    """One citation that was found in the text."""

    text: str = Field(description="As found, on one line.")
    format: str = Field(description="layered, inline, reference, …; `mention`: an id or permalink in free text.")
    verdict: Verdict = Field(
        description="verified: everything matches the record. outdated: it matches an earlier revision, or the story was "
        "withdrawn. reworded: nothing is wrong, but the wording differs. wrong: see problems. unknown: no such story."
    )
    support: Literal["supported", "unsupported"] | None = Field(
        default=None,
        description="For reworded: do names, numbers, months, directions and causes agree? unsupported: see problems.",
    )
    problems: list[str] = Field(description="What is wrong, in words; empty when nothing is.")
    checks: list[CheckOut]
    quotations: list[QuotationOut]
    story_id: StoryId | None
    permalink: str | None
    status: str | None = Field(description="Of the story now: live, corrected, withdrawn.")
    revision: int | None = Field(description="The story's current one.")
    cited_revision: int | None = Field(description="The revision cited, if known.")
    story_sha256: Sha256 | None = Field(description="Of the current revision.")
    correct: str | None = Field(description="The right citation, in the same format; null for one that must not be cited.")


class VerifiedOut(Schema):
    """A text's citations of the wire, and whether they are right."""

    citations: list[VerifiedCitation]
    found: int
    verified: int
    notes: str


class LeafOut(Schema):
    """A leaf of the log over all snapshots: its hash is SHA-256 of a zero byte and the RFC 8785 bytes of this object."""

    v: int
    sequence: int
    wire_date: dt.date
    revision: int
    wire_sha256: Sha256
    stories_root: Sha256 = Field(description="Root of the Merkle tree over the lines of the day's stories.")


class InclusionOut(Schema):
    """Proof that a story is in its day's snapshot, and the snapshot in the log. Hashes are base64; trees as in RFC 9162."""

    story: dict[str, object] = Field(description="The story's line in the day's manifest: the first leaf, as RFC 8785 bytes.")
    story_index: int
    story_count: int
    story_path: list[str]
    leaf: LeafOut
    log_size: int
    log_path: list[str]
    checkpoint: str = Field(description="Signed note (C2SP tlog-checkpoint) with the root of the log.")


class ConsistencyOut(Schema):
    """Proof: the log of `second` leaves extends that of `first` (RFC 9162, 2.1.4)."""

    first: int
    second: int
    first_root: str
    second_root: str
    path: list[str]


class LogOut(Schema):
    """Leaves of the log, oldest first."""

    leaves: list[LeafOut]
    next_start: int | None = Field(description="`start` of the next page; null on the last.")
    checkpoint: str


class WitnessedLogOut(Schema):
    """Another wire's log, as this one last saw it."""

    origin: str
    url: str
    size: int
    note: str = Field(description="Its checkpoint, with this wire's cosignature (C2SP tlog-cosignature) under it.")
    seen_at: Moment
    fault: str | None = Field(description="What the last check found wrong; `note` is from an earlier check.")


class WitnessedOut(Schema):
    """Logs that this wire watches."""

    logs: list[WitnessedLogOut]


class ProvedOut(Schema):
    """Provenance of a day, and the proof that a story is in it."""

    day: ProvedDay
    checkpoint: str = Field(description="The newest signed note of the log (C2SP tlog-checkpoint).")
    proof: InclusionOut | None = Field(description="null without a `story_id`.")


class LateStory(Schema):
    """A story that came after its day was final."""

    chatbotnews_id: StoryId
    headline: str
    original_publisher: str
    untrusted_instructions: bool
    first_seen_at: Moment
    permalink: str


class WithdrawnStory(Schema):
    chatbotnews_id: StoryId
    headline: str
    publisher: str
    reason: str
    recorded_at: Moment


class ChangedField(Schema):
    field: Literal["headline", "summary", "author", "category", "topics"]
    before: str
    after: str


class RevisedStory(Schema):
    """A revision of an already public story, by an editor of this wire or by its publisher."""

    chatbotnews_id: StoryId
    revision: int
    headline: str
    original_publisher: str
    untrusted_instructions: bool
    by: Literal["editor", "publisher"]
    reason: str = Field(description="The editor's, shown to readers; or empty.")
    recorded_at: Moment
    permalink: str = Field(description="Leads to this revision.")
    changed: list[ChangedField]


class Republished(Schema):
    """A revision of a final day, and why it was published."""

    revision: int
    generated_at: Moment
    reason: str


class DayChangesOut(Schema):
    """Changes of a day since it was first published."""

    wire_date: dt.date
    first_published_at: Moment
    revision: int = Field(description="The day's newest.")
    late: list[LateStory] = Field(description="Stories that came after the day was final, newest first.")
    withdrawn: list[WithdrawnStory] = Field(description="In the order of their withdrawal.")
    revised: list[RevisedStory] = Field(description="Texts before and after, the newest revision first; at most 200.")
    total_revised: int
    republished: list[Republished] = Field(description="Oldest first.")


class ChangeOut(Schema):
    """One change of the public record."""

    number: int
    kind: ChangeKind
    subject: str = Field(description="The story, event or day, or the roster's revision.")
    revision: int | None = Field(description="The story's or the day's, as it was then.")
    event_id: str | None = Field(description="For a story: its event. For a merged or split event: where its stories went.")
    at: Moment
    url: str = Field(description="Where it stands now.")


class ChangesOut(Schema):
    """What happened after a cursor or a moment, in order."""

    changes: list[ChangeOut]
    next_cursor: str = Field(description="Pass it as `cursor`; it never skips or repeats a change.")
    has_more: bool = Field(description="false: that is all so far; ask again later, or with `wait`.")
    est_tokens: int = Field(description="Approximate size of this answer, in tokens.")
    counts: dict[ChangeKind, int] | None = Field(
        None,
        exclude_if=lambda counts: counts is None,
        description="Without `cursor`: how many changes of each kind since then, listed here or not.",
    )


class VoiceOut(Schema):
    """One report that supports a claim."""

    chatbotnews_id: StoryId
    publisher: str
    tier: int
    headline: str
    published_at: Moment
    layered_ready: str = Field(description="The canonical citation.")
    untrusted_instructions: bool
    bears: str = Field(description="Its headline or the summary sentence that covers most of the claim.")


class EventCorroboration(Schema):
    """One event that a claim may be about."""

    event_id: StoryId
    headline: str
    coverage: float = Field(description="How much of the claim its best report covers, 0-1; 0 where numbers or names differ.")
    voices: list[VoiceOut] = Field(description="Newsrooms that report it independently, oldest first.")
    makers: list[VoiceOut] = Field(description="Makers' own statements, which are not independent.")
    first_reported: VoiceOut | None
    similar: list[VoiceOut] = Field(
        default=[], description="Reports that may say it in other words. They are not counted: compare them yourself."
    )
    words_not_reported: list[str] = Field(description="Words of the claim, stemmed, that are in no report of the event.")


class CorroborationOut(Schema):
    """Who reports what a sentence claims."""

    claim: str
    verdict: Literal["confirmed", "single_source", "not_found"]
    independent_sources: int = Field(description="Newsrooms in all `events`, each counted once.")
    events: list[EventCorroboration] = Field(description="Those that support the claim; for not_found, the nearest.")
    silent_sources: list[str] = Field(description="Sources whose feeds are silent or were never fetched: reports may be missing.")
    degraded: list[Literal["vectors"]] = Field(default=[], description="`vectors`: meaning could not be compared.")
    notes: str


class MementoOut(Schema):
    """One revision of a day, and when it became public."""

    url: str
    at: Moment


class ComparedReport(Schema):
    """One publication's report of an event, beside the others'."""

    chatbotnews_id: StoryId
    publisher: str
    tier: int
    headline: str
    published_at: Moment
    first_seen_at: Moment = Field(description="When the wire saw it first.")
    independent: bool = Field(description="false: a copy, a second story or the maker's own post.")
    is_copy: bool
    only_here: list[str] = Field(description="Words of headline and summary that no other report has.")
    figures: list[str] = Field(description="Amounts, shares and counts, as written.")
    untrusted_instructions: bool


class DifferingFigure(Schema):
    """Figures in one unit that differ between reports."""

    unit: str
    said: dict[str, list[str]] = Field(description="Each figure, and which publications have it.")


class ComparisonOut(Schema):
    """One event, as each publication has it."""

    event_id: StoryId
    agreement: str
    in_all: list[str] = Field(description="Words that every report has.")
    reports: list[ComparedReport] = Field(description="Oldest first.")
    differing_figures: list[DifferingFigure] = Field(description="Different things may be meant: compare the reports.")
    notes: str


class DayFileOut(Schema):
    """The NDJSON file of one day."""

    wire_date: dt.date
    revision: int
    url: str
    stories: int
    bytes: int
    sha256: Sha256
    wire_sha256: Sha256
