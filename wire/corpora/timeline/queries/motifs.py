"""The map of motifs: counts of the reports that carry each, and each pair. What curators wrote stands beside it."""

from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np

from wire.corpora.timeline import search
from wire.corpora.timeline.models import Motif, MotifEdge
from wire.corpora.timeline.queries.scope import Scope, Walk, expect_motifs, expect_words, narrow_rows, to_filters
from wire.corpora.timeline.schemas import EdgeOut, MotifMapOut, NodeOut
from wire.corpora.timeline.search import Filters
from wire.search import postings_index

Pair = tuple[str, str]


def motif_map(slug: str, family: str | None = None, motif: str | None = None, **given: Any) -> MotifMapOut:
    """Return motifs in order, with links. Words and `motifs` choose motifs, other filters reports that count. Raises: WireError."""
    walk = Walk("motifs", slug, family, motif, **given)
    scope = walk.scope
    expect_words("family", family, scope.settings.vocabularies.families)
    expect_motifs(scope, [motif] if motif else (), "")
    filters = to_filters(scope, **walk.given)
    counted = replace(filters, query="", motifs=())  # these choose motifs
    if counted == Filters():
        frequency, pairs = scope.counts["motif_counts"], _read_pair_counts(scope)
    else:
        frequency, pairs = count_motifs_in_index(scope, counted)
    rows = narrow_rows(scope.rows(Motif), Filters(query=filters.query), key__in=filters.motifs)
    links = list_edges(scope, pairs)
    if motif:
        links = [edge for edge in links if motif in edge[:2]]
        rows = rows.filter(key__in={motif, *(one for a, b, *_ in links for one in (a, b))})
    elif family:
        rows = rows.filter(family=family)
    chosen = list(rows.in_order())
    start = sum(one.position <= walk.before[0] for one in chosen) if walk.before else 0
    shown = chosen[start : start + walk.limit]
    end = start + len(shown)
    place_of = {one.key: place for place, one in enumerate(chosen)}
    return MotifMapOut(
        **walk.build_head(len(chosen), shown, (shown[-1].position,) if end < len(chosen) else None),
        nodes=[
            NodeOut(
                **{name: one.row.get(name) for name in ("id", "label", "family", "aliases", "caution")},
                freq=frequency.get(one.key, 0),
                curated_freq=one.row.get("freq"),
                definition=one.row["short_definition"],
            )
            for one in shown
        ],
        edges=[
            EdgeOut(a=a, b=b, weight=weight, curated_weight=curated)
            for a, b, weight, curated in links
            if a in place_of and b in place_of and start <= max(place_of[a], place_of[b]) < end
        ],
        note=scope.settings.phrases.motifs,
    )


def list_edges(scope: Scope, pairs: dict[Pair, int] | None = None) -> list[tuple[str, str, int, float | None]]:
    """Return links: those that curators wrote, in their order; then those that only reports show, the strongest first."""
    counted = _read_pair_counts(scope) if pairs is None else dict(pairs)
    curated = [edge.row for edge in scope.rows(MotifEdge).in_order()]
    found = [(a, b, counted.pop((min(a, b), max(a, b)), 0), weight) for a, b, weight in curated]
    return [*found, *((a, b, times, None) for (a, b), times in sorted(counted.items(), key=lambda one: (-one[1], one[0])))]


def _read_pair_counts(scope: Scope) -> dict[Pair, int]:
    return {tuple(both.split("|", 1)): times for both, times in scope.counts["motif_pairs"].items()}


def count_motifs_in_index(scope: Scope, filters: Filters) -> tuple[dict[str, int], dict[Pair, int]]:
    names = scope.rows(Motif).in_order().values_list("key", flat=True)
    matches = search.find_matches(scope.key, filters).numbers
    motif_tokens = (search.field_token("motif", name) for name in names)
    numbers_of = postings_index.get_weights(search.rank_index_name(scope.corpus.pk), motif_tokens)
    carried = {}
    for name in names:
        numbers, _ = numbers_of.get(search.field_token("motif", name), ((), ()))
        if len(held := np.intersect1d(matches, numbers, assume_unique=True)):
            carried[name] = held
    frequency = {name: len(held) for name, held in carried.items()}
    if len(frequency) > 300:  # pairs of so many cost too much
        return frequency, {}
    pairs = {
        (a, b): times
        for a, b in combinations(sorted(frequency), 2)
        if (times := len(np.intersect1d(carried[a], carried[b], assume_unique=True)))
    }
    return frequency, pairs
