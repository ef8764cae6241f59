"""Tools that let a client check the wire, and what was written about it."""

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any, Final

from ninja import Schema
from pydantic import Field, StringConstraints

from mcpserver.http.threads import run_query
from mcpserver.tooling.arguments import WHOLE, Arguments
from mcpserver.tooling.tools import ToolAnswer
from wire import queries
from wire.api.streaming import LONGEST_WAIT, wait_for_changes
from wire.queries.changes import LIMIT, MOST, parse_kinds
from wire.queries.claim_corroboration import MAX_CLAIM
from wire.queries.verification import MAX_TEXT
from wire.schemas import proofs
from wire.schemas.params import IsoDate

Id = Annotated[str, Field(max_length=100), StringConstraints(strip_whitespace=True)]


class VerifyCitation(Arguments):
    text: Annotated[str, Field(min_length=1, max_length=MAX_TEXT, description="Prose or citations in any format.")]


def verify_citation(args: VerifyCitation) -> ToolAnswer:
    return ToolAnswer(queries.verify_citation(args.text).model_dump(mode="json"))


class GetProvenance(Arguments):
    date: Annotated[IsoDate | None, Field(description="A UTC day; default: the latest, or the story's.")] = None
    story_id: Annotated[Id | None, Field(description="Also prove that this story is in it.")] = None


class GetChanges(Arguments):
    cursor: Annotated[str | None, Field(max_length=500, description="next_cursor of the answer before.")] = None
    kinds: Annotated[str | None, Field(max_length=200, description="Only these: story_added,story_withdrawn,…")] = None
    limit: Annotated[int, Field(ge=1, le=MOST), WHOLE] = LIMIT
    wait: Annotated[int, Field(ge=0, le=LONGEST_WAIT, description="Seconds to wait for one."), WHOLE] = 0


class Corroborate(Arguments):
    claim: Annotated[str, Field(min_length=1, max_length=MAX_CLAIM, description="A plain sentence: who did what.")]


class CompareCoverage(Arguments):
    event_id: Annotated[Id, Field(description="An event_id, or the id of a story of it.")]


def corroborate(args: Corroborate) -> ToolAnswer:
    return ToolAnswer(queries.corroborate(args.claim).model_dump(mode="json"))


def compare_coverage(args: CompareCoverage) -> ToolAnswer:
    return ToolAnswer(queries.compare_coverage(args.event_id).model_dump(mode="json"))


def get_provenance(args: GetProvenance) -> ToolAnswer:
    return ToolAnswer(queries.get_proved(args.date, args.story_id).model_dump(mode="json"))


def get_changes(args: GetChanges) -> ToolAnswer:
    return ToolAnswer(_changes(args).model_dump(mode="json"))


def _changes(args: GetChanges) -> proofs.ChangesOut:
    return queries.get_changes(args.cursor, args.limit, parse_kinds(args.kinds))


async def wait_for_answer(args: GetChanges) -> ToolAnswer:
    """Return the changes behind the cursor as soon as there are any, or none after `wait` seconds."""
    found = await wait_for_changes(args.wait, partial(run_query, _changes, args))
    return ToolAnswer(found.model_dump(mode="json"))


TRUST: Final[tuple[tuple[Callable[[Any], ToolAnswer], type[Arguments], type[Schema], str, str], ...]] = (
    (
        verify_citation, VerifyCitation, proofs.VerifiedOut, "Check citations",
        "Finds every citation of this wire in a text and checks publisher, tier, date, URL and quoted words against the record; "
        "gives the correct string. Call it before you publish or repeat one.",
    ),
    (
        get_provenance, GetProvenance, proofs.ProvedOut, "Prove a day or a story",
        "Hash, link, signature and log checkpoint of a published day, and a Merkle proof for one story. Use it to show somebody "
        "else that the wire published something.",
    ),
    (
        get_changes, GetChanges, proofs.ChangesOut, "Follow every change",
        "Stories added, revised, corrected, withdrawn, events, days, in order. To keep a copy, begin without cursor and read each.",
    ),
    (
        corroborate, Corroborate, proofs.CorroborationOut, "Who reports a claim",
        "Whether publications report what a sentence claims: confirmed (two or more independently), single_source or not_found. "
        "get_consensus weighs a known story instead.",
    ),
    (
        compare_coverage, CompareCoverage, proofs.ComparisonOut, "Coverage side by side",
        "One event as each publication has it: headlines, words only one uses, figures that differ. get_event lists reports.",
    ),
)  # fmt: skip
"""What runs it, arguments, answer, title, description."""
