"""Statistics of a release, counted from its rows when it is made. Frequencies and links of motifs come from reports alone."""

from collections import Counter, defaultdict
from itertools import combinations
from typing import Any, Final

from wire.corpora.timeline.corpus_config import CorpusFile
from wire.corpora.timeline.models import MODELS
from wire.corpora.timeline.vocabulary import NEEDS_SOURCE, OFFICIAL, UNVERIFIED

UNKNOWN: Final = "unknown"
UNSTATED: Final = "unstated"  # a stance that nobody judged
COUNTED: Final = (
    *(f"reports_by_{name}" for name in ("phenomenon", "source_type", "evidence_grade", "stance", "year", "month", "language")),
    *("claims_by_status", "claims_by_type", "motif_counts", "motif_pairs"),
)


def counts(corpus: int, number: int, settings: CorpusFile) -> dict[str, Any]:
    """Count what `timeline_stats` answers about a whole release."""
    rows = {name: model.objects.in_release(corpus, number).in_order() for name, model in MODELS.items()}
    events, threads = ([one.row for one in rows[name]] for name in ("events", "threads"))
    lanes = settings.vocabularies.lanes()
    by = {name: Counter[str]() for name in COUNTED}
    crossed = defaultdict[str, Counter[str]](Counter)
    unverified: list[str] = []
    sourced = 0
    for report in rows["reports"].iterator(2_000):
        row = report.row
        date, source = row.get("date_observed"), row["source"]
        by["reports_by_phenomenon"][row["phenomenon_type"]] += 1
        by["reports_by_source_type"][source["source_type"]] += 1
        by["reports_by_evidence_grade"][row["evidence_grade"]] += 1
        by["reports_by_stance"][row["stance"] or UNSTATED] += 1
        by["reports_by_year"][date[:4] if date else UNKNOWN] += 1
        by["reports_by_month"][date[:7] if date else UNKNOWN] += 1
        by["reports_by_language"][source.get("language") or UNKNOWN] += 1
        by["claims_by_status"].update(claim["status"] for claim in row["claims"])
        by["claims_by_type"].update(claim["claim_type"] for claim in row["claims"])
        by["motif_counts"].update(row["motifs"])
        by["motif_pairs"].update("|".join(pair) for pair in combinations(sorted(row["motifs"]), 2))
        crossed[row["phenomenon_type"]][row["evidence_grade"]] += 1
        sourced += bool(source.get("source_url"))
        unverified += [row["id"]] if UNVERIFIED in (row.get("safety_flags") or ()) else []
    totals = {
        "reports": sum(by["reports_by_phenomenon"].values()),
        "motifs": rows["motifs"].count(),
        "motif_edges": rows["edges"].count(),
        "motif_pairs": len(by["motif_pairs"]),
        "mandela_items": rows["items"].count(),
        "story_threads": len(threads),
        "events": len(events),
        "official_anchors": sum(lanes.get(event["layer"]) == OFFICIAL for event in events),
        "source_families": rows["sources"].count(),
    }
    return {
        "totals": totals,
        **by,
        "phenomenon_by_evidence_grade": crossed,
        "reports_with_source_url": sourced,
        "needs_source": {
            "events": [event["id"] for event in events if event["claim_status"] == NEEDS_SOURCE],
            "threads": [thread["id"] for thread in threads if thread.get("flag")],
            "reports": unverified,
        },
    }
