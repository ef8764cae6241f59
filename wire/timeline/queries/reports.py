"""Reports: search, and one by its id."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from wire.search.cursor import invalid
from wire.timeline import searching, wording
from wire.timeline.errors import ReportRemoved, UnknownReport
from wire.timeline.models import Report
from wire.timeline.queries.scope import Scope, Walk, filters_of, hint_for, scope_of, told
from wire.timeline.schemas import BriefOut, PhrasingOut, TimelineReportOut, TimelineSearchOut

FOUND: Final = 10
MAX_FOUND: Final = 50
MAX_RELATED: Final = 20


def search_reports(
    slug: str,
    query: str | None = None,
    motifs: Sequence[str] | None = None,
    phenomenon_types: Sequence[str] | None = None,
    source_types: Sequence[str] | None = None,
    stance: str | None = None,
    evidence_grade: str | None = None,
    date_start: str | None = None,
    date_end: str | None = None,
    limit: int = FOUND,
    cursor: str | None = None,
    as_of: int | None = None,
) -> TimelineSearchOut:
    """Reports that fulfil all of it, the newest first, undated ones last. Raises: NotFound, InvalidArgument."""
    given = (query, motifs, phenomenon_types, source_types, stance, evidence_grade, date_start, date_end)
    offset = int(cursor) if cursor and cursor.isascii() and cursor.isdigit() and len(cursor) < 10 else None
    walk = Walk("reports", slug, as_of, _told(given), None if offset is not None else cursor, 1)
    scope = scope_of(slug, walk.as_of)
    filters = filters_of(scope, *given)
    numbers = searching.matching(scope.key, filters)
    before = walk.before[0] if walk.before else None
    if offset:  # clients of the original count rows
        if offset >= len(numbers):
            raise invalid()
        before = searching.page(scope.key, numbers, offset, None)[1]
    shown, last = searching.page(scope.key, numbers, limit, before)
    rows = searching.rows_of(scope.corpus.pk, shown)
    return TimelineSearchOut(
        **scope.answered,
        query=query,
        total_matches=len(numbers),
        returned=len(shown),
        next_cursor=walk.cursor(scope, last) if last is not None else None,
        language_note=wording.LANGUAGE,
        reports=[brief(rows[number]) for number in shown],
        matches_over_time=searching.over_time(scope.key, numbers),
        **hint_for(len(numbers), not filters.are_empty()),
    )


def get_report(slug: str, report_id: str, as_of: int | None = None) -> TimelineReportOut:
    """One report, whole. Raises: NotFound; ReportRemoved for one that left with a later release."""
    scope = scope_of(slug, as_of)
    row = report_of(scope, report_id)
    return TimelineReportOut(**scope.answered, **row, related_reports=_related(scope, row), recommended_phrasing=phrasing(row))


def report_of(scope: Scope, report_id: str) -> dict[str, Any]:
    """Raises: UnknownReport, ReportRemoved."""
    found = scope.rows(Report).filter(key=report_id).first()
    if found is None:
        raise _missing(scope, report_id)
    row: dict[str, Any] = found.row
    return row


def _missing(scope: Scope, report_id: str) -> ReportRemoved | UnknownReport:
    gone = Report.objects.filter(corpus=scope.corpus, key=report_id, until__lte=scope.number).order_by("-until").first()
    if gone is not None:
        left = scope.corpus.releases.get(number=gone.until)
        return ReportRemoved(
            f"{told(report_id)} left this corpus with release {gone.until} on {left.released_at:%Y-%m-%d}. Do not cite it.",
            f"{left.note} ".lstrip() + f"as_of={gone.until - 1} still answers what it said.",
        )
    ordered = scope.rows(Report).in_order().values_list("key", flat=True)
    first, last = ordered.first(), ordered.last()
    return UnknownReport(
        f"No report with id {told(report_id)}.", f"Valid ids run {first}…{last}. Use timeline_search_reports to find one."
    )


def brief(row: Any) -> BriefOut:
    return BriefOut(
        id=row["id"],
        title=row["title"],
        phenomenon_type=row["phenomenon_type"],
        source_type=row["source"]["source_type"],
        evidence_grade=row["evidence_grade"],
        stance=row["stance"],
        date_observed=row.get("date_observed"),
        motifs=row["motifs"],
        summary=row["summary"],
        source_url=row["source"].get("source_url"),
        flags=row.get("safety_flags") or [],
    )


def phrasing(row: Any) -> PhrasingOut:
    """How to speak of it: as its editors say, else as of something that a community reports."""
    said = row.get("recommended_agent_language") or []
    avoid = said[1].removeprefix("avoid:").strip() if len(said) > 1 else wording.COMMUNITY_AVOID
    return PhrasingOut(say=said[0] if said else wording.COMMUNITY_SAY, avoid=avoid)


def _related(scope: Scope, row: Any) -> list[BriefOut]:
    return [brief(one) for one in rows_named(scope, (row.get("related_report_ids") or [])[:MAX_RELATED])]


def rows_named(scope: Scope, ids: Iterable[str]) -> list[Any]:
    """Rows of these reports in this order."""
    wanted = list(ids)
    found = {report.key: report.row for report in scope.rows(Report).filter(key__in=wanted)}
    return [found[one] for one in wanted if one in found]


def _told(given: Sequence[Any]) -> list[Any]:
    """The question in a form that is the same however it is spelled."""
    return [sorted(set(one)) if isinstance(one, list | tuple) else one or None for one in given]
