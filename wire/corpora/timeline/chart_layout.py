"""Layout of the pictures of a corpus: how many events each period has, and the arcs between motifs. Pure; templates draw."""

import calendar
import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from wire.corpora.timeline.schemas import EdgeOut, NodeOut

ALL: Final = "all"
FEW: Final = 60  # events that a page lists; a newest year or month with more opens at a shorter period
ROW: Final = 26  # height of a motif
LABELS: Final = 180  # width of the labels
ARCS: Final = 200  # width of the arcs
LONGEST: Final = 24  # characters of a label

Counts = Sequence[tuple[dt.date, bool, int]]  # events of a day in one lane: the day, whether the lane is official, how many


@dataclass(frozen=True)
class Zoom:
    """A period of the timeline (all, 2026, 2026-03 or a day), its longer ones, and the counts of its parts, newest first."""

    period: str
    trail: list[tuple[str, str]]  # name and period
    parts: list[dict[str, Any]]
    first: dt.date | None
    last: dt.date | None
    earlier: str | None
    later: str | None


def zoom_to_period(counts: Counts, period: str = "", today: dt.date = dt.date.max) -> Zoom:
    """Lay out a period; without one the newest with few events, by `today` if possible. Raises: ValueError for no period."""
    days = [day.isoformat() for day, _, _ in counts]
    if not period:
        newest = max((day for day in days if day <= today.isoformat()), default=max(days, default=""))
        sizes = {length: sum(n for day, _, n in counts if day.isoformat()[:length] == newest[:length]) for length in (4, 7, 10)}
        length = next((length for length, size in sizes.items() if size <= FEW), 10)
        period = newest[:length] or ALL
    first, last = _read_bounds(period)
    length = 0 if period == ALL else len(period)
    trail = [("All years", ALL), *((_name_period(period[:end]), period[:end]) for end in (4, 7, 10) if end <= length)]
    totals = defaultdict[str, dict[bool, int]](lambda: {True: 0, False: 0})
    for day, is_official, number in counts:
        if length < 10 and day.isoformat()[:length] == period[:length] * bool(length):
            totals[day.isoformat()[: {0: 4, 4: 7, 7: 10}[length]]][is_official] += number
    most = max((number for lanes in totals.values() for number in lanes.values()), default=1)
    parts = [
        {
            "name": _name_period(part),
            "period": part,
            "lanes": [
                (name, number, round(100 * number / most))
                for name, number in (("official", lanes[True]), ("community", lanes[False]))
            ],
        }
        for part, lanes in sorted(totals.items(), reverse=True)
    ]
    others = sorted({day[:length] for day in days} - {period}) if length else []
    earlier = max((other for other in others if other < period), default=None)
    return Zoom(period, trail, parts, first, last, earlier, min((other for other in others if other > period), default=None))


def _read_bounds(period: str) -> tuple[dt.date | None, dt.date | None]:
    if period == ALL:
        return None, None
    year, month, day = map(int, f"{period}-01-01"[:10].split("-"))
    first = dt.date(year, month, day)
    if first.isoformat()[: len(period)] != period or len(period) not in (4, 7, 10):
        raise ValueError(period)
    if len(period) == 4:
        return first, dt.date(year, 12, 31)
    return first, first.replace(day=calendar.monthrange(year, month)[1]) if len(period) == 7 else first


def _name_period(period: str) -> str:
    """Return the name of a period within the next longer one: 2026, March, 14 March."""
    if len(period) == 4:
        return period
    day = dt.date.fromisoformat(f"{period}-01"[:10])
    return f"{day:%B}" if len(period) == 7 else f"{day:%-d %B}"


def lay_out_arcs(nodes: Sequence[NodeOut], edges: Iterable[EdgeOut]) -> dict[str, Any]:
    """Lay out motifs below each other, in their order, each link as an arc beside them, so that no label covers another."""
    most = max((node.freq for node in nodes), default=0) or 1
    heights = {node.id: ROW * number + ROW // 2 for number, node in enumerate(nodes)}
    dots = [
        {
            "label": node.label if len(node.label) <= LONGEST else f"{node.label[: LONGEST - 1]}…",
            "title": f"{node.label}: {node.freq}",
            "y": heights[node.id],
            "radius": 3 + round(7 * (node.freq / most) ** 0.5),
        }
        for node in nodes
    ]
    drawn = [edge for edge in edges if edge.a in heights and edge.b in heights]
    heaviest = max((edge.weight for edge in drawn), default=0) or 1
    farthest = max((abs(heights[edge.a] - heights[edge.b]) for edge in drawn), default=0) or 1
    lines = []
    for edge in drawn:
        top, bottom = sorted((heights[edge.a], heights[edge.b]))
        lines.append(
            {
                "top": top,
                "bottom": bottom,
                "across": round(ARCS * (bottom - top) / farthest),
                "down": (bottom - top) // 2,
                "width": round(1 + 4 * edge.weight / heaviest, 1),
                "is_curated": edge.weight == 0,
            }
        )
    return {"dots": dots, "lines": lines, "x": LABELS + 12, "end": LABELS, "width": LABELS + ARCS + 24, "height": ROW * len(nodes)}
