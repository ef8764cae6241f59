"""Directions for research on a subject. Queries and questions are made of the corpus's fields: no source is invented."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from wire.corpora.timeline.errors import BadInput, UnknownReport
from wire.corpora.timeline.models import Motif, Report
from wire.corpora.timeline.queries.lists import get_thread, list_official_events
from wire.corpora.timeline.queries.motifs import list_edges
from wire.corpora.timeline.queries.reports import get_report_row
from wire.corpora.timeline.queries.scope import Scope, expect_motifs, get_scope, quote
from wire.corpora.timeline.row_schemas import FRAMES, UNVERIFIED, VERIFIED
from wire.corpora.timeline.schemas import DeepenOut

MAX_RELATED: Final = 50  # motifs
MAX_OPEN: Final = 50  # things that are left to verify


def deepen_story(
    slug: str, report_id: str | None = None, motif: str | None = None, thread_id: str | None = None, as_of: int | None = None
) -> DeepenOut:
    """Return directions about exactly one of them. Raises: BadInput, NotFound, UnknownMotif."""
    scope = get_scope(slug, as_of)
    if sum(map(bool, (report_id, motif, thread_id))) != 1:
        first = scope.rows(Motif).in_order().values_list("key", flat=True).first() or "…"
        raise BadInput("Provide exactly one of report_id, motif, or thread_id.", f'Example: {{ "motif": "{first}" }}.')
    if report_id:
        try:
            row = get_report_row(scope, report_id)
        except UnknownReport:
            raise UnknownReport(f"No report {quote(report_id)}.", "Use timeline_search_reports first.") from None
        anchors = [anchor["anchor_id"] for anchor in row.get("anchors") or ()]
        is_flagged, unverified = UNVERIFIED in (row.get("safety_flags") or ()), _list_unverified([row])
    elif thread_id:
        row = get_thread(scope, thread_id, briefly=True)
        missing = [name for name in FRAMES if not row.get(f"{name}_frame")]
        # A thread without any, as a storyline of the wire, is told without frames.
        unframed = [f"Thread {row['id']} has no {name} frame." for name in missing if missing != list(FRAMES)]
        reports = scope.list_rows(Report, row["report_ids"][:MAX_OPEN])
        anchors, is_flagged, unverified = row["anchor_ids"], bool(row.get("flag")), [*unframed, *_list_unverified(reports)]
    else:
        expect_motifs(scope, [str(motif)], "")
        (row,) = scope.list_rows(Motif, [str(motif)])
        carried = scope.rows(Report).filter(motifs__contains=f"|{row['id']}|").in_order()[:MAX_OPEN]
        caution = [f"{row['label']}: {row['caution']}"] if row.get("caution") else []
        anchors, is_flagged, unverified = [], False, [*caution, *_list_unverified(one.row for one in carried)]
    subject, motifs = (row["label"], [row["id"]]) if motif else (row["title"], row["motifs"])
    return _build_directions(scope, subject, motifs, anchors, is_flagged, unverified[:MAX_OPEN])


def _list_unverified(reports: Iterable[Any]) -> list[str]:
    """Return a sentence for everything that reports themselves say is not verified."""
    found = list[str]()
    for row in reports:
        found += [] if row["source"].get("source_url") else [f"Report {row['id']} names no source address."]
        claims = (claim for claim in row["claims"] if claim["status"] != VERIFIED)
        found += [f"Claim of {row['id']}, filed as {claim['status']}: {claim['text']}" for claim in claims]
    return found


def _build_directions(
    scope: Scope, subject: str, motifs: Sequence[str], anchor_ids: Sequence[str], is_flagged: bool, unverified: list[str]
) -> DeepenOut:
    defined = scope.list_rows(Motif, motifs)
    anchors = list_official_events(scope, anchor_ids)
    search_words, said = scope.settings.search_words, scope.settings.phrases
    queries = [
        *(f'"{row["id"].replace("-", " ")}" {search_words}' for row in defined),
        said.original.replace("{subject}", subject),
        *(said.reaction.replace("{subject}", event["title"]) for event in anchors),
        *(f'"{alias}" {search_words}' for row in defined for alias in row["aliases"]),
    ]
    # Curated links come first.
    neighbours = dict.fromkeys(one for a, b, *_ in list_edges(scope) if a in motifs or b in motifs for one in (a, b))
    images = [
        said.image.replace("{name}", row["label"])
        .replace("{label}", row["label"].lower())
        .replace("{definition}", row["short_definition"].lower())
        for row in defined
    ]
    return DeepenOut(
        **scope.answered,
        subject=subject,
        source_search_queries=list(dict.fromkeys(queries)),
        related_motifs=[one for one in neighbours if one not in motifs][:MAX_RELATED],
        comparison_questions=[question.replace("{subject}", subject) for question in said.questions],
        expansion_prompts=[*images, said.caption],
        visualization_ideas=[
            *(f"{row['label']}: {visual}" for row in defined for visual in row.get("recommended_visuals", ())),
            # official events and readings never share a lane
            *(f"Two lanes: “{event['title']}” ({event['date']}) above, the reports' readings below." for event in anchors),
        ],
        verification_checklist=[*said.checks, said.flagged if is_flagged else said.unflagged],
        needs_verification=unverified,
        rule=said.directions,
    )
