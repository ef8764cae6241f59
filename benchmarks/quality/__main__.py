"""Every figure of docs/quality.md, on the project's own labels and on those beside it: `python -m benchmarks.quality [--rounds N]`.

Labelled headlines of others are not part of the project. Those found in ../shared/data (docs/quality.md says which) are measured
too; without them the rows are left out. Rewrites the table in docs/quality.md.
"""

import argparse
import csv
import datetime as dt
import gzip
import json
import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from io import StringIO
from itertools import count, cycle
from pathlib import Path

from benchmarks import report

ROOT = Path(__file__).resolve().parents[2]
OTHERS = ROOT.parent / "shared" / "data"
SAMPLES = 10
START = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.quality", description="Measure what docs/quality.md says.")
    parser.add_argument("--rounds", type=int, default=5, help="of each time, whose median counts (default: 5)")
    parser.add_argument("--others", type=Path, default=OTHERS, help="where labelled headlines of others are")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    import django

    django.setup()
    rows = [*_events(options.others), *_rest(), *_speed(options.rounds, options.others)]
    table = report.table(("what", "labels", "figures"), rows)
    report.write("quality", "python -m benchmarks.quality", table, report.page("quality.md"))


def _events(others: Path) -> Iterator[tuple[str, str, str]]:
    from benchmarks.quality.samples import small_events
    from wire.ops.quality import evaluate

    for name, rows in [*_labelled(others), *_real(others)]:
        found = evaluate.score_events(rows)
        bcubed = f"BCubed {found['bcubed_precision']:.2f} / {found['bcubed_recall']:.2f} / {found['bcubed_f1']:.3f}"
        told = f"{bcubed}, pairwise precision {found['pairwise_precision']:.3f}, recall {found['pairwise_recall']:.3f}"
        told += f"; a headline asked about: precision {found['asked_precision']:.2f}, recall {found['asked_recall']:.2f}"
        if len(rows) > 1000:
            small = [evaluate.score_events(small_events(rows, seed)) for seed in range(SAMPLES)]
            told += f"; events of 1–6 stories: pairwise precision {statistics.mean(s['pairwise_precision'] for s in small):.3f}"
            told += f", BCubed F1 {statistics.mean(s['bcubed_f1'] for s in small):.3f} (mean of {SAMPLES} samples)"
        yield f"events, {name}", f"{len(rows):,} headlines, {int(found['events_true'])} events", told


def _labelled(others: Path) -> Iterator[tuple[str, list[dict[str, str]]]]:
    """Name and rows of each set of headlines whose events are known."""
    yield "the sample wire", _csv(ROOT / "fixtures" / "eval" / "events.csv")
    uci = others / "clusters" / "uci_dev.csv"
    if uci.exists():
        yield "UCI News Aggregator 2014", [{"title": row["TITLE"], "event": row["STORY"]} for row in _csv(uci)]
    google = others / "clusters" / "googlenews_T.gz"
    if google.exists():
        with gzip.open(google, "rt", encoding="utf-8") as lines:
            read = [json.loads(line) for line in lines]
        yield "Google News 2013, no capitals or stop words", [{"title": row["text"], "event": str(row["cluster"])} for row in read]


def _real(others: Path) -> Iterator[tuple[str, Sequence[Mapping[str, str]]]]:
    """Real AI stories: by headlines alone, and with the summaries that the archives have."""
    from benchmarks.quality.samples import real_events, with_summaries

    rows = real_events()
    yield "real AI stories, headlines only", rows
    if (others / "archives").exists():
        told = with_summaries(rows, others / "archives")
        yield "real AI stories", told
        yield "real AI stories that nothing was tuned on", [row for row in told if row["half"] == "report"]


def _rest() -> Iterator[tuple[str, str, str]]:
    from django.core.management import call_command

    from benchmarks.quality import bm25

    out = StringIO()
    call_command("evalwire", "--json", stdout=out)
    own = json.loads(out.getvalue())
    for name, of, labelled in (("categories", "", 600), ("newsrooms", ", newsrooms", 640)):
        told = own[name]
        labels = f"{int(told['headlines'])} headlines that nothing was tuned on"
        each = ", ".join(f"{one[3:]} {value:.2f}" for one, value in told.items() if one.startswith("f1_"))
        yield f"categories{of}", labels, f"macro-F1 {told['macro_f1']:.3f} ({each})"
        yield f"topics{of}", labels, f"micro-F1 {told['topics_micro_f1']:.3f}"
        agreed = f"Cohen's kappa {told['kappa']:.2f} on categories, F1 {told['topics_agreement_f1']:.2f} on topics"
        yield f"two labellings{of or ' of the headlines'}", f"{labelled} headlines", agreed
    told = own["names"]
    labels = f"{int(told['spellings']):,} spellings, {int(told['near_misses']):,} near misses"
    yield (
        "publication names",
        labels,
        f"{told['spellings_found']:.1%} found ({told['held_back_spellings_found']:.1%} of {int(told['held_back_spellings'])} that "
        f"nothing was tuned on), {int(told['near_misses_accepted'])} near misses accepted",
    )
    document = json.loads((ROOT / "fixtures" / "eval" / "search.json").read_text(encoding="utf-8"))
    plain = {
        f"plain BM25, {name}": bm25.searches(document, every=every) for name, every in (("any word", False), ("all words", True))
    }
    for name, told in {"search": own["search"], **plain}.items():
        figures = f"NDCG@10 {told['ndcg_10']:.3f}; {told['relevant']:.0%} of what is found was judged relevant"
        yield name, f"{int(own['search']['queries'])} queries", figures


def _speed(rounds: int, others: Path) -> Iterator[tuple[str, str, str]]:
    from benchmarks.quality.samples import archived_summaries
    from wire.ingest import classifier_terms
    from wire.publishing.grouping import cluster
    from wire.publishing.grouping.candidates import Item

    rows, terms = _csv(ROOT / "fixtures" / "eval" / "headlines.csv"), classifier_terms.load_shipped_lexicon()
    new = map(str, count())  # the lexicon remembers the last texts: each is to be one that it never saw

    def classify(headline: str, summary: str) -> object:
        return terms.category(headline, summary), terms.topics(headline, summary)

    took = _median(lambda: [classify(row["title"], next(new)) for row in rows], rounds)
    yield "speed, category and topics", f"{len(rows)} headlines", f"{took / len(rows):.2f} ms each"
    background = others / "background" / "allsides_headlines.csv.gz"
    if not background.exists():
        return
    with gzip.open(background, "rt", encoding="utf-8", newline="") as lines:
        titles = [row["title"] for row in csv.DictReader(lines)][::7]
    day = [Item(f"{n:05}", title, START) for n, title in enumerate(titles[:5000])]
    yield "speed, one day told whole", "5,000 headlines", f"{_median(lambda: cluster.group_stories(day), rounds):,.0f} ms"
    weeks = [Item(f"{n:05}", titles[n], START + dt.timedelta(days=n // 150)) for n in range(2100)]
    sealed = [replace(item, event_id=item.chatbotnews_id) for item in weeks[: 10 * 150]]
    took = _median(lambda: cluster.group_stories([*sealed, *weeks[len(sealed) :]]), rounds)
    yield "speed, whatever a new story changes", "150 a day: four days told anew beside ten sealed ones", f"{took:,.0f} ms"
    if not (others / "archives").exists():
        return
    summaries = archived_summaries(others / "archives")
    told = [replace(item, summary=summary) for item, summary in zip(day, cycle(summaries))]
    yield (
        "speed, one day told whole",
        "5,000 headlines with summaries",
        f"{_median(lambda: cluster.group_stories(told), rounds):,.0f} ms",
    )
    told = [replace(item, summary=summary) for item, summary in zip([*sealed, *weeks[len(sealed) :]], cycle(summaries))]
    took = _median(lambda: cluster.group_stories(told), rounds)
    yield "speed, whatever a new story changes", "the same with summaries", f"{took:,.0f} ms"


def _csv(file: Path) -> list[dict[str, str]]:
    with file.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def _median(action: Callable[[], object], rounds: int) -> float:
    """Return the milliseconds of the median round."""
    took = []
    for _ in range(rounds):
        started = time.perf_counter()
        action()
        took.append(time.perf_counter() - started)
    return 1000 * statistics.median(took)


if __name__ == "__main__":
    main()
