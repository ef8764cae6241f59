"""Compares what reports say on a topic: by stance, grade and source, with the evidence of each claim. Nothing is generated."""

from collections.abc import Sequence
from typing import Any, Final

from wire.corpora.timeline import search
from wire.corpora.timeline.errors import NoMatchingTopic
from wire.corpora.timeline.models import Motif, Report, SourceFamily, Thread, TimelineEvent
from wire.corpora.timeline.queries.lists import list_official_events
from wire.corpora.timeline.queries.reports import ReportHits, find_reports
from wire.corpora.timeline.queries.scope import Scope, Walk, narrow_rows, quote
from wire.corpora.timeline.row_schemas import DISPUTED, FRAMES, OFFICIAL, Frame
from wire.corpora.timeline.schemas import CompareOut, GroupOut, TimelineEvidenceOut, TimelineFactOut
from wire.corpora.timeline.search import Filters
from wire.text.tokens import STOP_WORDS

SKIPPED: Final = STOP_WORDS | {
    *("about", "cause", "does", "effect", "effects", "report", "reports", "shift", "shifts", "story", "stories"),
    *("timeline", "timelines"),
}  # words of a topic that tell nothing apart
MAX_COMPARED: Final = 500  # reports: those of the thread, then the newest that a search finds
MOST_NAMED: Final = 5  # reports that a group names


def compare_sources(slug: str, topic: str, frames: Sequence[Frame] | None = None, **given: Any) -> CompareOut:
    """Compare the reports of the thread that fits a topic best, if one does, with those that a search finds. Raises: WireError."""
    walk = Walk("claims", slug, topic, sorted(set(frames or ())), **given)
    scope = walk.scope
    answer = find_reports(scope, topic, shares=search.SHARES[:2], skipped=SKIPPED)
    thread, thread_words = _find_thread(scope, answer.words)
    reports = [*scope.list_rows(Report, thread.get("report_ids", ())[:MAX_COMPARED]), *_load_newest_reports(scope, answer)]
    source_names = {row["id"]: row["label"] for row in (one.row for one in scope.rows(SourceFamily))}
    if len({_name_source(row, source_names) for row in reports}) == 1 and len(answer.words) > 1:
        # A comparison wants two sources: reports with most of the words join those with all.
        answer = find_reports(scope, topic, shares=(search.EITHER,), skipped=SKIPPED)
        reports += _load_newest_reports(scope, answer)
    rows = list({row["id"]: row for row in reports}.values())[:MAX_COMPARED]
    if not answer.words or not (rows or thread):
        raise NoMatchingTopic(f"No report and no thread matches {quote(topic)}.", f"Try one of: {_suggest_topics(scope)}.")
    claims = [_to_evidence(scope, row, claim, source_names) for row in rows for claim in row["claims"]]
    unmatched = [word for word in answer.not_found if word not in thread_words]
    start = walk.before[0] if walk.before else 0
    end = start + walk.limit
    if thread:
        facts = list_official_events(scope, thread["anchor_ids"])
    else:  # the newest official events that hold every word
        official = [layer for layer, lane in scope.settings.vocabularies.lanes().items() if lane == OFFICIAL]
        words = Filters(query=" ".join(answer.words[: search.MAX_TERMS]))
        events = narrow_rows(scope.rows(TimelineEvent).filter(layer__in=official), words).order_by("-date", "position")
        facts = [one.row for one in events[:10]]
    framed: dict[str, Any] = {name: thread.get(f"{name}_frame") or None for name in FRAMES if name in (frames or FRAMES)}
    return CompareOut(
        **scope.answered,
        topic=topic,
        **answer.notes,
        matched_thread=thread.get("id"),
        matched_words=[word for word in answer.words if word not in unmatched],
        unmatched_words=unmatched,
        **(framed if thread else {}),
        total_reports=max(len(rows), len(answer.numbers)),
        reports_compared=len(rows),
        groups={name: _group_reports(rows, name, source_names) for name in ("stance", "evidence_grade", "source")},
        shared_facts=[
            TimelineFactOut(fact=f"{one['title']} ({one.get('date_label') or one['date']})", source_url=one.get("source_url"))
            for one in facts
        ],
        disputed_or_unsourced=[scope.settings.phrases.unsourced_thread] if thread.get("flag") else [],
        disputed_claims=[claim for claim in claims if claim.status == DISPUTED or claim.disputed_by],
        total_claims=len(claims),
        next_cursor=walk.cursor(end) if end < len(claims) else None,
        claims=claims[start:end],
        recommended_wording=scope.settings.phrases.wording,
    )


def _load_newest_reports(scope: Scope, answer: ReportHits) -> list[Any]:
    numbers = answer.numbers[:MAX_COMPARED].tolist()
    found = search.load_report_rows(scope.corpus.pk, numbers)
    return [found[number] for number in numbers]


def _find_thread(scope: Scope, asked: Sequence[str]) -> tuple[Any, list[str]]:
    """Return the thread with a frame that fits best, and the words it speaks of; ({}, []) if most are about something else."""
    rows = [one.row for one in scope.rows(Thread).in_order()[:5_000]]
    rows = [row for row in rows if any(row.get(f"{name}_frame") for name in FRAMES)]
    events = {one["id"]: one for one in list_official_events(scope, [key for row in rows for key in row["anchor_ids"]])}
    stems = [search.stem_text(word)[0] for word in asked]
    highest, best, words = 0, dict[str, Any](), list[str]()
    for row in rows:
        anchors = [events[key] for key in row["anchor_ids"] if key in events]
        near = _stem_all(row["id"], row["title"], row["public_summary"])
        motifs = _stem_all(*row["motifs"])
        official = _stem_all(*(text for one in anchors for text in (one["title"], one["summary"], one.get("source_url") or "")))
        score = sum(3 * (one in motifs) + 2 * (one in near) + (one in official) for one in stems)
        if score > highest:
            anywhere = near | motifs | official | _stem_all(*(row.get(f"{name}_frame") or "" for name in FRAMES))
            highest, best = score, row
            words = [word for word, stem in zip(asked, stems, strict=True) if stem in anywhere]
    return (best, words) if 3 * len(words) > len(asked) else ({}, [])


def _stem_all(*texts: str) -> set[str]:
    return {stem for text in texts for stem in search.stem_text(text)}


def _suggest_topics(scope: Scope) -> str:
    """Return titles of threads, or labels of motifs where there are none, as a hint says them."""
    for model, name in ((Thread, "title"), (Motif, "label")):
        if titles := [one.row[name] for one in scope.rows(model).in_order()[:5]]:
            return "; ".join(titles)
    return "words of this corpus's reports; timeline_search_reports without a query lists the newest"


def _name_source(row: Any, source_names: dict[str, str]) -> str:
    source = row["source"]
    return source_names.get(source.get("source_id"), str(source["source_type"]))


def _group_reports(rows: Sequence[Any], name: str, source_names: dict[str, str]) -> dict[str, GroupOut]:
    """Return how many reports have each stance, grade or source, the most frequent first; nothing where no report has any."""
    ids = dict[str, list[str]]()
    for row in rows:
        if value := _name_source(row, source_names) if name == "source" else row[name]:
            ids.setdefault(value, []).append(row["id"])
    ordered = sorted(ids.items(), key=lambda one: (-len(one[1]), one[0]))
    return {value: GroupOut(reports=len(some), report_ids=some[:MOST_NAMED]) for value, some in ordered}


def _to_evidence(scope: Scope, row: Any, claim: Any, source_names: dict[str, str]) -> TimelineEvidenceOut:
    stated = claim.get("disputes") or []
    there = scope.get_rows(Report, [dispute["report_id"] for dispute in stated]) if stated else {}
    disputes = [dispute for dispute in stated if dispute["report_id"] in there]  # a report may have left
    return TimelineEvidenceOut(
        **{name: claim[name] for name in ("text", "claim_type", "status")},
        **{name: row[name] for name in ("evidence_grade", "stance")},
        source_url=claim.get("source_url") or row["source"].get("source_url"),
        report_id=row["id"],
        report_title=row["title"],
        source_type=row["source"]["source_type"],
        source=_name_source(row, source_names),
        disputed_by=[dispute["report_id"] for dispute in disputes],
        disputes=disputes,
    )
