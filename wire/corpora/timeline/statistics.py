"""Statistics of a release, counted from its rows when it is made. Frequencies and links of motifs come from reports alone."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations
from typing import Any, Final

from wire.corpora.timeline.corpus_config import CorpusFile
from wire.corpora.timeline.models import CatalogItem, Motif, MotifEdge, Report, SourceFamily, Thread, TimelineEvent
from wire.corpora.timeline.vocabulary import NEEDS_SOURCE, OFFICIAL, UNVERIFIED

UNKNOWN: Final = "unknown"
UNSTATED: Final = "unstated"  # a stance that nobody judged


def counts(corpus: int, number: int, settings: CorpusFile) -> dict[str, Any]:
    """Count what `timeline_stats` answers about a whole release."""
    events = [event.row for event in TimelineEvent.objects.in_release(corpus, number).in_order()]
    threads = [thread.row for thread in Thread.objects.in_release(corpus, number).in_order()]
    reports = Report.objects.in_release(corpus, number).in_order()
    found = _count_reports(report.row for report in reports.iterator(2_000))
    motifs = list(Motif.objects.in_release(corpus, number).in_order().values_list("key", flat=True))
    lanes = settings.vocabularies.lanes()
    totals = {
        "reports": found.pop("reports"),
        "motifs": len(motifs),
        "motif_edges": MotifEdge.objects.in_release(corpus, number).count(),
        "motif_pairs": len(found["motif_pairs"]),
        "mandela_items": CatalogItem.objects.in_release(corpus, number).count(),
        "story_threads": len(threads),
        "events": len(events),
        "official_anchors": sum(lanes.get(event["layer"]) == OFFICIAL for event in events),
        "source_families": SourceFamily.objects.in_release(corpus, number).count(),
    }
    unverified = found.pop("unverified")
    return {
        "totals": totals,
        **found,
        "needs_source": {
            "events": [event["id"] for event in events if event["claim_status"] == NEEDS_SOURCE],
            "threads": [thread["id"] for thread in threads if thread.get("flag")],
            "reports": unverified,
        },
    }


def _count_reports(rows: Iterable[Any]) -> dict[str, Any]:
    names = ("phenomenon", "source_type", "evidence_grade", "stance", "year", "month", "language")
    by = {name: Counter[str]() for name in names}
    statuses, kinds, motifs, pairs = (Counter[str]() for _ in range(4))
    crossed = defaultdict[str, Counter[str]](Counter)
    unverified: list[str] = []
    number = sourced = 0
    for row in rows:
        number += 1
        date, source = row.get("date_observed") or UNKNOWN, row["source"]
        values = (
            row["phenomenon_type"],
            source["source_type"],
            row["evidence_grade"],
            row["stance"] or UNSTATED,
            date[:4] if date != UNKNOWN else date,
            date[:7],
            source.get("language") or UNKNOWN,
        )
        for name, value in zip(names, values, strict=True):
            by[name][value] += 1
        crossed[row["phenomenon_type"]][row["evidence_grade"]] += 1
        for claim in row["claims"]:
            statuses[claim["status"]] += 1
            kinds[claim["claim_type"]] += 1
        motifs.update(row["motifs"])
        pairs.update("|".join(pair) for pair in combinations(sorted(row["motifs"]), 2))
        sourced += bool(source.get("source_url"))
        if UNVERIFIED in (row.get("safety_flags") or ()):
            unverified.append(row["id"])
    return {
        "reports": number,
        **{f"reports_by_{name}": dict(counted) for name, counted in by.items()},
        "phenomenon_by_evidence_grade": {name: dict(counted) for name, counted in crossed.items()},
        "claims_by_status": dict(statuses),
        "claims_by_type": dict(kinds),
        "reports_with_source_url": sourced,
        "motif_counts": dict(motifs),
        "motif_pairs": dict(pairs),
        "unverified": unverified,
    }
