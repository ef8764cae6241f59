"""Directions for research on one subject. Queries and questions are made of the corpus's fields: no source is invented."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from wire.timeline import wording
from wire.timeline.errors import BadInput, UnknownReport
from wire.timeline.models import Motif
from wire.timeline.queries.lists import events_named, thread_of
from wire.timeline.queries.motifs import edges
from wire.timeline.queries.reports import report_of, rows_named
from wire.timeline.queries.scope import Scope, expect_motifs, scope_of, told
from wire.timeline.schemas import DeepenOut
from wire.timeline.vocabulary import FRAMES, OFFICIAL, UNVERIFIED, VERIFIED

MAX_RELATED: Final = 50  # motifs
MAX_OPEN: Final = 50  # things that are left to verify


@dataclass(slots=True)
class Subject:
    """What is to be deepened: its name, its motifs, and what its fields leave open."""

    label: str
    motifs: list[str]
    is_flagged: bool = False
    anchor_ids: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)


def deepen_story(
    slug: str, report_id: str | None = None, motif: str | None = None, thread_id: str | None = None, as_of: int | None = None
) -> DeepenOut:
    """Of exactly one of them. Raises: BadInput, NotFound, UnknownMotif."""
    scope = scope_of(slug, as_of)
    if sum(map(bool, (report_id, motif, thread_id))) != 1:
        first = scope.rows(Motif).in_order().values_list("key", flat=True).first() or "…"
        raise BadInput("Provide exactly one of report_id, motif, or thread_id.", f'Example: {{ "motif": "{first}" }}.')
    if report_id:
        subject = _report(scope, report_id)
    elif thread_id:
        subject = _thread(scope, thread_id)
    else:
        subject = _motif(scope, str(motif))
    return _directions(scope, subject)


def _report(scope: Scope, report_id: str) -> Subject:
    try:
        row = report_of(scope, report_id)
    except UnknownReport:
        raise UnknownReport(f"No report {told(report_id)}.", "Use timeline_search_reports first.") from None
    anchors = [anchor["anchor_id"] for anchor in row.get("anchors") or ()]
    flagged = UNVERIFIED in (row.get("safety_flags") or ())
    return Subject(row["title"], row["motifs"], flagged, anchors, list(_left_open([row])))


def _thread(scope: Scope, thread_id: str) -> Subject:
    row = thread_of(scope, thread_id, briefly=True)
    missing = [f"Thread {row['id']} has no {name} frame." for name in FRAMES if not row.get(f"{name}_frame")]
    reports = rows_named(scope, row["report_ids"][:MAX_OPEN])
    return Subject(row["title"], row["motifs"], bool(row.get("flag")), row["anchor_ids"], [*missing, *_left_open(reports)])


def _motif(scope: Scope, motif: str) -> Subject:
    expect_motifs(scope, [motif], "")
    row = scope.rows(Motif).get(key=motif).row
    caution = [f"{row['label']}: {row['caution']}"] if row.get("caution") else []
    return Subject(row["label"], [motif], open=caution)


def _left_open(reports: Iterable[Any]) -> Iterable[str]:
    """A sentence for everything that reports themselves say is not verified."""
    for row in reports:
        if not row["source"].get("source_url"):
            yield f"Report {row['id']} names no source address."
        for claim in row["claims"]:
            if claim["status"] != VERIFIED:
                yield f"Claim of {row['id']}, filed as {claim['status']}: {claim['text']}"


def _directions(scope: Scope, subject: Subject) -> DeepenOut:
    motifs = subject.motifs
    rows = {one.key: one.row for one in scope.rows(Motif).filter(key__in=motifs)}
    defined = [rows[motif] for motif in motifs if motif in rows]
    lanes = scope.settings.vocabularies.lanes()
    anchors = [event for event in events_named(scope, subject.anchor_ids) if lanes[event["layer"]] == OFFICIAL]
    return DeepenOut(
        **scope.answered,
        subject=subject.label,
        source_search_queries=_queries(scope, subject, defined, anchors),
        related_motifs=_neighbours(scope, motifs),
        comparison_questions=[question.format(subject=subject.label) for question in wording.QUESTIONS],
        expansion_prompts=[
            *(wording.IMAGE.format(label=row["label"].lower(), definition=row["short_definition"].lower()) for row in defined),
            wording.CAPTION,
        ],
        visualization_ideas=_pictures(defined, anchors),
        verification_checklist=[*wording.CHECKS, wording.FLAGGED if subject.is_flagged else wording.UNFLAGGED],
        needs_verification=subject.open[:MAX_OPEN],
        rule=wording.DIRECTIONS,
    )


def _queries(scope: Scope, subject: Subject, motifs: Sequence[Any], anchors: Sequence[Any]) -> list[str]:
    return list(
        dict.fromkeys(
            [
                *(f'"{row["id"].replace("-", " ")}" {scope.settings.search_words}' for row in motifs),
                f'"{subject.label}" original post',
                *(f'"{event["title"]}" community reaction' for event in anchors),
                *(f'"{alias}" {scope.settings.search_words}' for row in motifs for alias in row["aliases"]),
            ]
        )
    )


def _pictures(motifs: Sequence[Any], anchors: Sequence[Any]) -> list[str]:
    """From what the corpus recommends to show; official events and readings never share a lane."""
    shown = [f"{row['label']}: {visual}" for row in motifs for visual in row.get("recommended_visuals", ())]
    lanes = [f"Two lanes: “{event['title']}” ({event['date']}) above, the reports' readings below." for event in anchors]
    return [*shown, *lanes]


def _neighbours(scope: Scope, motifs: Sequence[str]) -> list[str]:
    """Motifs linked with these, curated links first."""
    found = dict.fromkeys(one for a, b, *_ in edges(scope) if a in motifs or b in motifs for one in (a, b))
    return [one for one in found if one not in motifs][:MAX_RELATED]
