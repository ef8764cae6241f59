"""Shapes of what lets anybody check the wire: verified citations, proofs, changes, corroboration, coverage side by side."""

import datetime as dt
from typing import Any, Literal

from ninja import Field, Schema

from wire.bounds import Moment, Sha256, StoryId

Verdict = Literal["verified", "outdated", "reworded", "wrong", "unknown"]


class CheckOut(Schema):
    """One thing that a citation says, beside what the record says."""

    field: str
    said: str
    record: str | None
    ok: bool


class QuotationOut(Schema):
    text: str
    found_in: str | None = Field(description="Such as `headline, revision 2`; null: the record has no such words.")


class VerifiedCitation(Schema):
    """One citation that was found in the text."""

    text: str = Field(description="As found, on one line.")
    format: str = Field(description="layered, inline, reference, …; `mention` for an id or permalink in other words.")
    verdict: Verdict = Field(
        description="verified: all that it says is the record's. outdated: it was, in an earlier revision, or the story was "
        "withdrawn. reworded: nothing is wrong, but words are not the record's. wrong: see problems. unknown: no such story."
    )
    problems: list[str] = Field(description="What is wrong, in words; empty when nothing is.")
    checks: list[CheckOut]
    quotations: list[QuotationOut]
    story_id: StoryId | None
    permalink: str | None
    status: str | None = Field(description="Of the story now: live, corrected, withdrawn.")
    revision: int | None = Field(description="The story's current one.")
    cited_revision: int | None = Field(description="The one that the citation is of, if it can be told.")
    story_sha256: Sha256 | None = Field(description="Of the current revision.")
    correct: str | None = Field(description="The right citation, in the same format; null for one that must not be cited.")


class VerifiedOut(Schema):
    """What a text cites of the wire, and whether it is true."""

    citations: list[VerifiedCitation]
    found: int
    verified: int
    notes: str
