"""Reports: search, and one by its id."""

from collections.abc import Iterable
from typing import Any, Final

from wire.corpora.timeline import answer_phrases, search
from wire.corpora.timeline.errors import ReportRemoved, UnknownReport
from wire.corpora.timeline.models import Report
from wire.corpora.timeline.queries.scope import Scope, Walk, filters_of, quote, scope_of
from wire.corpora.timeline.schemas import BriefOut, PhrasingOut, TimelineReportOut, TimelineSearchOut
from wire.search.cursor import invalid

FOUND: Final = 10
MAX_RELATED: Final = 20


def search_reports(
    slug: str, query: str | None = None, limit: int = FOUND, cursor: str | None = None, as_of: int | None = None, **given: Any
) -> TimelineSearchOut:
    """Return reports that fulfil all of it, the newest first, undated ones last. Raises: NotFound, InvalidArgument."""
    offset = int(cursor) if cursor and cursor.isascii() and cursor.isdigit() and len(cursor) < 10 else None
    walk = Walk("reports", slug, as_of, [query], None if offset is not None else cursor, **given)
    scope = scope_of(slug, walk.as_of)
    filters = filters_of(scope, query, **given)
    numbers = search.matching(scope.key, filters)
    before = walk.before[0] if walk.before else None
    if offset:  # clients of the original count rows
        if offset >= len(numbers):
            raise invalid()
        before = search.page(scope.key, numbers, offset, None)[1]
    shown, last = search.page(scope.key, numbers, limit, before)
    rows = search.rows_of(scope.corpus.pk, shown)
    place = None if last is None else (last,)
    found = walk.page(scope, len(numbers), shown, place, is_narrowed=not filters.are_empty())
    return TimelineSearchOut(
        query=query,
        total_matches=found.pop("total"),
        **found,
        language_note=answer_phrases.LANGUAGE,
        reports=[to_brief(rows[number]) for number in shown],
        matches_over_time=search.over_time(scope.key, numbers),
    )


def get_report(slug: str, report_id: str, as_of: int | None = None) -> TimelineReportOut:
    """Return a whole report. Raises: NotFound; ReportRemoved for one that left with a later release."""
    scope = scope_of(slug, as_of)
    row = report_of(scope, report_id)
    related = [to_brief(one) for one in rows_named(scope, (row.get("related_report_ids") or [])[:MAX_RELATED])]
    return TimelineReportOut(**scope.answered, **row, related_reports=related, recommended_phrasing=phrasing(row))


def report_of(scope: Scope, report_id: str) -> dict[str, Any]:
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
            f"{quote(report_id)} left this corpus with release {gone.until} on {left.released_at:%Y-%m-%d}. Do not cite it.",
            f"{left.note} ".lstrip() + f"as_of={gone.until - 1} still answers what it said.",
        )
    ordered = scope.rows(Report).in_order().values_list("key", flat=True)
    first, last = ordered.first(), ordered.last()
    return UnknownReport(
        f"No report with id {quote(report_id)}.", f"Valid ids run {first}…{last}. Use timeline_search_reports to find one."
    )


def to_brief(row: Any) -> BriefOut:
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
    """Return the phrases for a report: its editors', else those for what a community reports."""
    said = row.get("recommended_agent_language") or []
    avoid = said[1].removeprefix("avoid:").strip() if len(said) > 1 else answer_phrases.COMMUNITY_AVOID
    return PhrasingOut(say=said[0] if said else answer_phrases.COMMUNITY_SAY, avoid=avoid)


def rows_named(scope: Scope, ids: Iterable[str]) -> list[Any]:
    """Return rows of these reports in this order."""
    wanted = list(ids)
    found = {report.key: report.row for report in scope.rows(Report).filter(key__in=wanted)}
    return [found[one] for one in wanted if one in found]
