"""Reports: search, and one by its id."""

from typing import Any, Final

from wire.corpora.timeline import answer_phrases, search
from wire.corpora.timeline.errors import ReportRemoved, UnknownReport
from wire.corpora.timeline.models import Report
from wire.corpora.timeline.queries.scope import Scope, Walk, filters_of, quote, scope_of
from wire.corpora.timeline.schemas import BriefOut, PhrasingOut, TimelineClaimOut, TimelineReportOut, TimelineSearchOut
from wire.search.cursor import invalid

FOUND: Final = 10
MAX_RELATED: Final = 20


def search_reports(slug: str, query: str | None = None, cursor: str | None = None, **given: Any) -> TimelineSearchOut:
    """Return reports that fulfil all of it, the newest first, undated ones last. Raises: NotFound, InvalidArgument."""
    offset = int(cursor) if cursor and cursor.isascii() and cursor.isdigit() and len(cursor) < 10 else None
    walk = Walk("reports", slug, query, cursor=None if offset is not None else cursor, **{"limit": FOUND} | given)
    scope = walk.scope
    numbers = search.find_matches(scope.key, filters_of(scope, query=query, **walk.given))
    if offset and offset >= len(numbers):  # clients of the original count rows
        raise invalid()
    before = walk.before[0] if walk.before else None
    shown, last = search.page(scope.key, numbers[offset or 0 :], walk.limit, before)
    rows = search.rows_of(scope.corpus.pk, shown)
    found = walk.page(len(numbers), shown, None if last is None else (last,))
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
    related = scope.list_rows(Report, (row.get("related_report_ids") or [])[:MAX_RELATED])
    row["claims"] = [TimelineClaimOut.model_construct(**claim) for claim in row["claims"]]
    return TimelineReportOut.model_construct(
        **scope.answered, **row, related_reports=[to_brief(one) for one in related], recommended_phrasing=phrasing(row)
    )


def report_of(scope: Scope, report_id: str) -> Any:
    """Return what a report says. Raises: ReportRemoved, UnknownReport."""
    if found := scope.list_rows(Report, [report_id]):
        return found[0]
    gone = Report.objects.filter(corpus=scope.corpus, key=report_id, until__lte=scope.number).order_by("-until").first()
    if gone is not None:
        left = scope.corpus.releases.get(number=gone.until)
        raise ReportRemoved(
            f"{quote(report_id)} left this corpus with release {gone.until} on {left.released_at:%Y-%m-%d}. Do not cite it.",
            f"{left.note} ".lstrip() + f"as_of={gone.until - 1} still answers what it said.",
        )
    ordered = scope.rows(Report).in_order().values_list("key", flat=True)
    raise UnknownReport(
        f"No report with id {quote(report_id)}.",
        f"Valid ids run {ordered.first()}…{ordered.last()}. Use timeline_search_reports to find one.",
    )


def to_brief(row: Any) -> BriefOut:
    names = ("id", "title", "phenomenon_type", "evidence_grade", "stance", "date_observed", "motifs", "summary")
    return BriefOut(
        **{name: row.get(name) for name in names},
        source_type=row["source"]["source_type"],
        source_url=row["source"].get("source_url"),
        flags=row.get("safety_flags") or [],
    )


def phrasing(row: Any) -> PhrasingOut:
    """Return the phrases for a report: its editors', else those for what a community reports."""
    said = row.get("recommended_agent_language") or []
    avoid = said[1].removeprefix("avoid:").strip() if len(said) > 1 else answer_phrases.COMMUNITY_AVOID
    return PhrasingOut(say=said[0] if said else answer_phrases.COMMUNITY_SAY, avoid=avoid)
