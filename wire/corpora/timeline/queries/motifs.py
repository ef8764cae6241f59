"""The map of motifs: counts of the reports that carry each, and each pair. What curators wrote stands beside it."""

from dataclasses import replace
from itertools import combinations
from typing import Any, Final

import numpy as np

from wire.corpora.timeline import answer_phrases, search
from wire.corpora.timeline.models import Motif, MotifEdge
from wire.corpora.timeline.queries.scope import LISTED, Scope, Walk, expect_motifs, expect_words, filter_rows, filters_of, scope_of
from wire.corpora.timeline.schemas import EdgeOut, MotifMapOut, NodeOut
from wire.corpora.timeline.search import Filters
from wire.search import index

Pair = tuple[str, str]
MOST_PAIRED: Final = 300  # motifs whose pairs are counted anew under filters; of more, only the frequencies


def motif_map(
    slug: str,
    family: str | None = None,
    motif: str | None = None,
    limit: int = LISTED,
    cursor: str | None = None,
    as_of: int | None = None,
    **given: Any,
) -> MotifMapOut:
    """Return motifs in the corpus's order, with their links. Words and `motifs` choose motifs, all other filters the reports
    that count.

    Raises: NotFound, InvalidArgument.
    """
    walk = Walk("motifs", slug, as_of, [family, motif], cursor, **given)
    scope = scope_of(slug, walk.as_of)
    expect_words("family", [family] if family is not None else None, scope.settings.vocabularies.families)
    expect_motifs(scope, [motif] if motif else (), "")
    filters = filters_of(scope, **given)
    frequency, pairs = _count(scope, filters)
    rows = filter_rows(scope.rows(Motif), Filters(query=filters.query))
    rows = rows.filter(key__in=filters.motifs) if filters.motifs else rows
    links = edges(scope, pairs)
    if motif:
        links = [edge for edge in links if motif in edge[:2]]
        rows = rows.filter(key__in={motif, *(one for a, b, *_ in links for one in (a, b))})
    elif family:
        rows = rows.filter(family=family)
    chosen = list(rows.in_order())
    at = {one.key: place for place, one in enumerate(chosen)}
    start = next((place for place, one in enumerate(chosen) if one.position > walk.before[0]), len(chosen)) if walk.before else 0
    shown = chosen[start : start + limit]
    end = start + len(shown)
    place = (shown[-1].position,) if end < len(chosen) else None
    is_narrowed = bool(family or motif) or not filters.are_empty()
    return MotifMapOut(
        **walk.page(scope, len(chosen), shown, place, is_narrowed=is_narrowed),
        nodes=[_to_node(one.row, frequency) for one in shown],
        edges=[
            EdgeOut(a=a, b=b, weight=weight, curated_weight=curated)
            for a, b, weight, curated in links
            if a in at and b in at and start <= max(at[a], at[b]) < end
        ],
        note=answer_phrases.MOTIFS,
    )


def edges(scope: Scope, pairs: dict[Pair, int] | None = None) -> list[tuple[str, str, int, float | None]]:
    """Return links: those that curators wrote, in their order; then those that only reports show, the strongest first."""
    counted = _read_pairs(scope) if pairs is None else dict(pairs)
    curated = [edge.row for edge in scope.rows(MotifEdge).in_order()]
    found = [(a, b, counted.pop(_pair(a, b), 0), weight) for a, b, weight in curated]
    return [*found, *((a, b, times, None) for (a, b), times in sorted(counted.items(), key=lambda one: (-one[1], one[0])))]


def _read_pairs(scope: Scope) -> dict[Pair, int]:
    """Return for a whole release how many reports carry two motifs together."""
    return {tuple(both.split("|", 1)): times for both, times in scope.counts["motif_pairs"].items()}


def _pair(a: str, b: str) -> Pair:
    return (a, b) if a < b else (b, a)


def _count(scope: Scope, filters: Filters) -> tuple[dict[str, int], dict[Pair, int]]:
    filters = replace(filters, query="", motifs=())  # these choose motifs
    return (scope.counts["motif_counts"], _read_pairs(scope)) if filters.are_empty() else count_from_index(scope, filters)


def count_from_index(scope: Scope, filters: Filters) -> tuple[dict[str, int], dict[Pair, int]]:
    names = list(scope.rows(Motif).in_order().values_list("key", flat=True))
    held = np.zeros(len(search.ranks(scope.key)), dtype=bool)
    held[search.matching(scope.key, filters)] = True
    tokens = {f"=motif:{name}"[: search.LONGEST]: name for name in names}
    carried = {}
    for token, (numbers, _) in index.weights(search.index_of(scope.corpus.pk), tokens).items():
        numbers = numbers[numbers < len(held)]
        carried[tokens[token]] = numbers[held[numbers]]
    frequency = {name: len(numbers) for name, numbers in carried.items() if len(numbers)}
    if len(frequency) > MOST_PAIRED:
        return frequency, {}
    pairs = {
        _pair(a, b): times
        for a, b in combinations(frequency, 2)
        if (times := len(np.intersect1d(carried[a], carried[b], assume_unique=True)))
    }
    return frequency, pairs


def _to_node(row: Any, frequency: dict[str, int]) -> NodeOut:
    return NodeOut(
        id=row["id"],
        label=row["label"],
        family=row["family"],
        freq=frequency.get(row["id"], 0),
        curated_freq=row.get("freq"),
        definition=row["short_definition"],
        aliases=row["aliases"],
        caution=row.get("caution"),
    )
