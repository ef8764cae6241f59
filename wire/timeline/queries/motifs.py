"""The map of motifs: how often each is carried, and which are carried together. Counted; what curators wrote stands beside it."""

from itertools import combinations
from typing import Any, Final

import numpy as np

from wire import postings
from wire.timeline import searching, wording
from wire.timeline.models import Motif, MotifEdge
from wire.timeline.queries.scope import LISTED, Scope, Walk, expect_motifs, expect_one, filters_of, hint_for, scope_of, searched
from wire.timeline.schemas import EdgeOut, MotifMapOut, NodeOut
from wire.timeline.searching import Filters

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
    """Motifs in the corpus's order, with their links. Words and `motifs` choose motifs, all other filters the reports that count.

    Raises: NotFound, InvalidArgument.
    """
    asked = [
        [name, sorted(set(value)) if isinstance(value, list | tuple) else value] for name, value in sorted(given.items()) if value
    ]
    walk = Walk("motifs", slug, as_of, [family, motif, *asked], cursor, 1)
    scope = scope_of(slug, walk.as_of)
    expect_one("family", family, scope.settings.vocabularies.families)
    expect_motifs(scope, [motif] if motif else (), "")
    filters = filters_of(scope, **given)
    frequency, pairs = _counted(scope, filters)
    rows = searched(scope.rows(Motif), Filters(query=filters.query))
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
    return MotifMapOut(
        **scope.answered,
        total=len(chosen),
        returned=len(shown),
        next_cursor=walk.cursor(scope, shown[-1].position) if end < len(chosen) else None,
        nodes=[_node(one.row, frequency) for one in shown],
        edges=[
            EdgeOut(a=a, b=b, weight=weight, curated_weight=curated)
            for a, b, weight, curated in links
            if a in at and b in at and start <= max(at[a], at[b]) < end
        ],
        note=wording.MOTIFS,
        **hint_for(len(chosen), bool(family or motif) or not filters.are_empty()),
    )


def edges(scope: Scope, pairs: dict[Pair, int] | None = None) -> list[tuple[str, str, int, float | None]]:
    """Links: those that curators wrote, in their order; then those that only reports show, the strongest first."""
    counted = pairs_of(scope) if pairs is None else dict(pairs)
    found = []
    for edge in scope.rows(MotifEdge).in_order():
        a, b, weight = edge.row
        found.append((a, b, counted.pop(_pair(a, b), 0), weight))
    return [*found, *((a, b, times, None) for (a, b), times in sorted(counted.items(), key=lambda one: (-one[1], one[0])))]


def pairs_of(scope: Scope) -> dict[Pair, int]:
    """Of a whole release, how many reports carry two motifs together."""
    found = {}
    for both, times in scope.counts["motif_pairs"].items():
        a, _, b = both.partition("|")
        found[a, b] = times
    return found


def _pair(a: str, b: str) -> Pair:
    return (a, b) if a < b else (b, a)


def _counted(scope: Scope, filters: Filters) -> tuple[dict[str, int], dict[Pair, int]]:
    """Frequencies and pairs over the reports that the filters leave."""
    chosen = Filters(
        phenomenon_types=filters.phenomenon_types,
        source_types=filters.source_types,
        stance=filters.stance,
        evidence_grade=filters.evidence_grade,
        date_start=filters.date_start,
        date_end=filters.date_end,
    )
    if chosen.are_empty():
        return scope.counts["motif_counts"], pairs_of(scope)
    return recounted(scope, chosen)


def recounted(scope: Scope, filters: Filters) -> tuple[dict[str, int], dict[Pair, int]]:
    """Counted anew, from the index."""
    names = list(scope.rows(Motif).in_order().values_list("key", flat=True))
    held = np.zeros(len(searching.ranks(scope.key)), dtype=bool)
    held[searching.matching(scope.key, filters)] = True
    tokens = {f"=motif:{name}"[: searching.LONGEST]: name for name in names}
    carried = {}
    for token, (numbers, _) in postings.weights(searching.index_of(scope.corpus.pk), tokens).items():
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


def _node(row: Any, frequency: dict[str, int]) -> NodeOut:
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
