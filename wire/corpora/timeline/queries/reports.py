"""Reports: search, and one by its id."""

import datetime as dt
import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any, Final, NamedTuple

from wire.corpora.timeline import schemas, search
from wire.corpora.timeline.errors import ReportRemoved, UnknownReport
from wire.corpora.timeline.models import Report
from wire.corpora.timeline.queries.scope import Scope, Walk, get_scope, quote, to_filters
from wire.search.cursor import build_cursor_error
from wire.search.postings_index import Numbers
from wire.text.date_range import Period, find_period
from wire.text.search_query import ALL, SOME
from wire.text.tokens import split_words

FOUND: Final = 10
MAX_RELATED: Final = 20
_YEARS: Final = re.compile(
    r"\b(?:(?P<how>after|since|before|until|till|in|from|between)\s+)?(?P<first>(?:19|20)\d\d)"
    r"(?:\s*(?:-|–|\bto\b|\band\b|\buntil\b)\s*(?P<last>(?:19|20)\d\d))?\b",
    re.IGNORECASE,
)


def search_reports(slug: str, query: str | None = None, cursor: str | None = None, **given: Any) -> schemas.TimelineSearchOut:
    """Return reports, newest first, undated ones last; without one with every word, those with some. Raises: WireError."""
    offset = int(cursor) if cursor and cursor.isascii() and cursor.isdigit() and len(cursor) < 10 else None
    walk = Walk("reports", slug, query, cursor=None if offset is not None else cursor, **{"limit": FOUND} | given)
    scope = walk.scope
    answer = find_reports(scope, query or "", **walk.given)
    numbers = answer.numbers
    if offset and offset >= len(numbers):  # clients of the original count rows
        raise build_cursor_error()
    before = walk.before[0] if walk.before else None
    shown, last = search.cut_page(scope.key, numbers[offset or 0 :], walk.limit, before)
    rows = search.load_report_rows(scope.corpus.pk, shown)
    found = walk.build_head(len(numbers), shown, None if last is None else (last,))
    return schemas.TimelineSearchOut(
        query=query,
        total_matches=found.pop("total"),
        **found,
        **answer.notes,
        language_note=scope.settings.phrases.language,
        reports=[to_brief(rows[number]) for number in shown],
        matches_over_time=search.count_by_month(scope.key, numbers),
    )


class ReportHits(NamedTuple):
    """Reports found, newest first. `notes` are the fields that say how the question was read, where not word by word."""

    numbers: Numbers
    words: list[str]
    not_found: list[str]
    notes: dict[str, Any]


def find_reports(
    scope: Scope,
    query: str,
    *,
    shares: Sequence[float] = search.SHARES,
    skipped: Collection[str] = (),
    **given: Any,
) -> ReportHits:
    """Find reports, in the period that a question names unless dates are given or nothing is there. Raises: InvalidArgument.

    `shares` says how far words that do not occur together are looked for apart; `skipped` words are no part of the question.
    """
    period = _find_period(query, scope.release.released_at.date())
    words = period.rest if period else query
    if skipped:
        words = " ".join(word for word in split_words(words) if word not in skipped)
    matches, notes = None, dict[str, Any]()
    filters = to_filters(scope, query=words, **given)
    if period:
        first, last = period.since, period.until and period.until - dt.timedelta(days=1)
        if not (filters.date_start or filters.date_end):
            matches = search.find_matches(scope.key, replace(filters, date_start=first, date_end=last), shares)
        notes["period"] = schemas.TimelinePeriodOut(
            said=period.said,
            date_start=str(first) if first else None,
            date_end=str(last) if last else None,
            applied=matches is not None and matches.numbers.size > 0,
        )
    if matches is None or not matches.numbers.size:
        matches = search.find_matches(scope.key, filters, shares)
    written = {search.stem_text(word)[0]: word for word in split_words(words)}
    not_found = [written.get(stem, stem) for stem in matches.not_found]
    if matches.share < ALL and matches.numbers.size:
        notes |= {"matched": "some words" if matches.share == SOME else "most words", "not_found": not_found}
    return ReportHits(matches.numbers, list(dict.fromkeys(split_words(words))), not_found, notes)


def _find_period(query: str, today: dt.date) -> Period | None:
    """Return the period that a question names; years alone behind a preposition, or two of them: "after 2012", "2012–2014"."""
    if period := find_period(query, today):
        return period
    found = _YEARS.search(query)
    if found is None or not (found["how"] or found["last"]):
        return None
    how, first, last = (found["how"] or "").lower(), int(found["first"]), int(found["last"] or found["first"])
    since = {"after": last + 1, "before": None, "until": None, "till": None}.get(how, first)
    until = {"after": None, "since": None, "before": first, "from": last + 1 if found["last"] else None}.get(how, last + 1)
    start, end = found.span()
    starts = [None if year is None else dt.date(year, 1, 1) for year in (since, until)]
    return Period(starts[0], starts[1], found[0].strip(), f"{query[:start]} {query[end:]}".strip())


def get_report(slug: str, report_id: str, as_of: int | None = None) -> schemas.TimelineReportOut:
    """Return a whole report. Raises: NotFound; ReportRemoved for one that left with a later release."""
    scope = get_scope(slug, as_of)
    row = get_report_row(scope, report_id)
    related = scope.list_rows(Report, (row.get("related_report_ids") or [])[:MAX_RELATED])
    row["claims"] = [schemas.TimelineClaimOut.model_construct(**claim) for claim in row["claims"]]
    return schemas.TimelineReportOut.model_construct(
        **scope.answered, **row, related_reports=[to_brief(one) for one in related], recommended_phrasing=build_phrasing(scope, row)
    )


def get_report_row(scope: Scope, report_id: str) -> Any:
    """Return what a report says. Raises: ReportRemoved, UnknownReport."""
    if found := scope.list_rows(Report, [report_id]):
        return found[0]
    gone = Report.objects.filter(corpus=scope.corpus, key=report_id, until__lte=scope.number).order_by("-until").first()
    if gone is not None:
        left = scope.corpus.releases.get(number=gone.until)
        raise ReportRemoved(
            f"{quote(report_id)} left this corpus with release {gone.until} on {left.released_at:%Y-%m-%d}. Do not cite it.",
            f"{left.note} ".lstrip() + f"as_of={gone.until - 1} still returns it.",
        )
    ordered = scope.rows(Report).in_order().values_list("key", flat=True)
    raise UnknownReport(
        f"No report with id {quote(report_id)}.",
        f"Valid ids run {ordered.first()}…{ordered.last()}. Use timeline_search_reports to find one.",
    )


def to_brief(row: Any) -> schemas.BriefOut:
    names = ("id", "title", "phenomenon_type", "evidence_grade", "stance", "date_observed", "motifs", "summary")
    return schemas.BriefOut(
        **{name: row.get(name) for name in names},
        source_type=row["source"]["source_type"],
        source_url=row["source"].get("source_url"),
        flags=row.get("safety_flags") or [],
    )


def build_phrasing(scope: Scope, row: Any) -> schemas.PhrasingOut:
    """Return the phrases for a report: its editors', else the corpus's."""
    said, usual = row.get("recommended_agent_language") or [], scope.settings.phrases
    avoid = said[1].removeprefix("avoid:").strip() if len(said) > 1 else usual.avoid_of_report
    return schemas.PhrasingOut(say=said[0] if said else usual.say_of_report, avoid=avoid)
