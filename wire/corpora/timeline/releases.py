"""Makes releases of a corpus's draft: the hash, linked to the one before, signed with the wire's key, and the search index.

Nothing that answers the public may import this.
"""

import datetime as dt
import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable
from itertools import combinations, groupby
from typing import Any, Final

import orjson
from django.db import transaction
from django.utils import timezone

from wire.corpora.timeline import search, store
from wire.corpora.timeline.corpus_config import CorpusFile, parse_corpus
from wire.corpora.timeline.corpus_files import Written
from wire.corpora.timeline.models import MODELS, Corpus, CorpusRelease, Report
from wire.corpora.timeline.row_schemas import NEEDS_SOURCE, OFFICIAL, UNVERIFIED
from wire.corpora.timeline.validation import expect_valid
from wire.models import WireState
from wire.publishing.signing import sign_hash
from wire.search import postings_index as postings
from wire.text.provenance_manifest import canonicalize_json, hash_json

UNKNOWN: Final = "unknown"


def release_draft(corpus: Corpus, note: str = "", *, checked: bool = False) -> CorpusRelease | None:
    """Release the draft; None if nothing changed. `checked`: it keeps every rule. Raises: RefusedCorpus; WireError, unsigned."""
    with transaction.atomic():
        WireState.lock()
        corpus.refresh_from_db()
        if not store.has_unreleased_changes(corpus):
            return None
        if not checked:
            expect_valid(read_draft(corpus), parse_corpus(corpus.written))
        number, before = corpus.release + 1, corpus.releases.first()
        build_release_rows(corpus, number)
        manifest = build_manifest(corpus, number, before.sha256 if before else "", corpus.written, corpus.meta)
        sha256 = hash_json(manifest)
        signature, key = sign_hash(sha256)
        return store_release(
            corpus,
            manifest,
            released_at=timezone.now().replace(microsecond=0),
            note=note[:500],
            sha256=sha256,
            signature=signature,
            key_id=key.key_id,
            public_key=key.public_key,
        )


def read_draft(corpus: Corpus) -> Written:
    rows = {name: [row.row for row in model.objects.draft(corpus.pk).in_order()] for name, model in MODELS.items()}
    return Written(rows=rows, corpus=orjson.loads(corpus.written))


def build_manifest(corpus: Corpus, number: int, previous: str, written: str, meta: str) -> dict[str, Any]:
    """Return the value whose hash is a release's, from its rows as they are stored; `previous` is "" for the first."""
    rows = {name: model.objects.in_release(corpus.pk, number).in_order() for name, model in MODELS.items()}
    return {
        "v": 1,
        "corpus": corpus.slug,
        "release": number,
        "previous_sha256": previous or None,
        "corpus_sha256": hash_json(orjson.loads(written)),
        "meta_sha256": hash_json(orjson.loads(meta)),
        "tables": {name: hash_table(some.values_list("sha256", flat=True)) for name, some in rows.items()},
    }


def hash_table(rows: Iterable[str]) -> dict[str, Any]:
    """Return the number of a table's rows, and the SHA-256 of their hashes, one a line, in order."""
    lines = [f"{row}\n" for row in rows]
    return {"rows": len(lines), "sha256": hashlib.sha256("".join(lines).encode()).hexdigest()}


def store_release(corpus: Corpus, manifest: dict[str, Any], *, released_at: dt.datetime, **fields: str) -> CorpusRelease:
    """Store the release, and make it the newest."""
    number = corpus.release = manifest["release"]
    counts = compute_release_stats(corpus.pk, number, parse_corpus(corpus.written))
    release = CorpusRelease.objects.create(
        corpus=corpus,
        number=number,
        released_at=released_at,
        previous_sha256=manifest["previous_sha256"] or "",
        manifest=canonicalize_json(manifest).decode(),
        written=corpus.written,
        meta=corpus.meta,
        counts=orjson.dumps(counts).decode(),
        **fields,
    )
    corpus.save(update_fields=["release"])
    WireState.raise_version()
    return release


def build_release_rows(corpus: Corpus, number: int) -> None:
    """Make the draft the rows of this release: new reports are indexed, and what left keeps its last release."""
    words, lives = search.rank_index_name(corpus.pk), search.lifespan_index_name(corpus.pk)
    gone = Report.objects.filter(corpus=corpus, dropped=True, until=None).values_list("number", "since")
    postings.set_values(lives, {place: search.encode_lifespan(since, number) for place, since in gone})
    fresh = Report.objects.filter(corpus=corpus, since=None).order_by("number")
    columns = fresh.values_list("number", "date_observed", "position", "body").iterator(store.BATCH)
    for block, rows in groupby(columns, key=lambda row: row[0] // postings.BLOCK):
        documents, ranks, ages = {}, {}, {}
        for place, date, position, body in rows:
            documents[place] = search.list_report_tokens(orjson.loads(body))
            ranks[place] = search.compute_rank(date, position)
            ages[place] = search.encode_lifespan(number, None)
        if postings.is_block_filled(words, block):
            postings.add(words, documents)
        else:
            postings.fill_block(words, block, documents)
        postings.set_values(words, ranks)
        postings.set_values(lives, ages)
    for model in MODELS.values():
        model.objects.filter(corpus=corpus, since=None).update(since=number)
        model.objects.filter(corpus=corpus, dropped=True, until=None).update(until=number, dropped=False)


def compute_release_stats(corpus: int, number: int, settings: CorpusFile) -> dict[str, Any]:
    """Count what `timeline_stats` answers about a whole release."""
    rows = {name: model.objects.in_release(corpus, number).in_order() for name, model in MODELS.items()}
    events, threads = ([one.row for one in rows[name]] for name in ("events", "threads"))
    lanes = settings.vocabularies.lanes()
    by_report = ("phenomenon", "source_type", "evidence_grade", "stance", "year", "month", "language")
    names = [f"reports_by_{name}" for name in by_report]
    by = {name: Counter[str]() for name in (*names, "claims_by_status", "claims_by_type", "motif_counts", "motif_pairs")}
    crossed = defaultdict[str, Counter[str]](Counter)
    unverified: list[str] = []
    sourced = 0
    for report in rows["reports"].iterator(2_000):
        row = report.row
        date, source = row.get("date_observed"), row["source"]
        by["reports_by_phenomenon"][row["phenomenon_type"]] += 1
        by["reports_by_source_type"][source["source_type"]] += 1
        by["reports_by_evidence_grade"][row["evidence_grade"]] += 1
        by["reports_by_stance"][row["stance"] or "unstated"] += 1
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
