"""Layout of the pictures of a corpus: two lanes of dated events, and the graph of motifs. Pure; templates draw."""

import datetime as dt
import math
from collections.abc import Sequence
from typing import Any, Final

from wire.corpora.timeline.schemas import EdgeOut, NodeOut, TimelineEventOut

WIDTH: Final = 960
MARGIN: Final = 40
AXIS: Final = 150  # height of the line between the lanes
STEP: Final = 30  # between marks above each other
STACKED: Final = 4  # marks above each other before the stack begins anew
NEAR: Final = 26  # marks that are closer than this would cover each other
MOST_TICKS: Final = 12
SIZE: Final = 720  # of the graph


def lanes(events: Sequence[tuple[TimelineEventOut, bool]]) -> dict[str, Any]:
    """Lay out events, oldest first, each with whether it is official: these above the axis, all others below."""
    days = [dt.date.fromisoformat(event.date).toordinal() for event, _ in events]
    first, last = (days[0], days[-1]) if days else (0, 0)
    marks, levels = [], {True: (-NEAR, 0), False: (-NEAR, 0)}
    for number, ((event, is_official), day) in enumerate(zip(events, days, strict=True), 1):
        x = _across(day, first, last)
        before, level = levels[is_official]
        level = (level + 1) % STACKED if x - before < NEAR else 0
        levels[is_official] = (x, level)
        away = STEP * (level + 1)
        y = AXIS - away if is_official else AXIS + away
        title = f"{event.title} ({event.date})"
        marks.append({"number": number, "x": x, "y": y, "title": title, "is_official": is_official})
    return {"marks": marks, "ticks": _ticks(first, last), "width": WIDTH, "height": 2 * AXIS, "axis": AXIS}


def _across(day: int, first: int, last: int) -> int:
    span = last - first
    return WIDTH // 2 if not span else MARGIN + round((day - first) / span * (WIDTH - 2 * MARGIN))


def _ticks(first: int, last: int) -> list[tuple[int, str]]:
    """Return years, or months where there is less than two years; never more than fit."""
    if not first:
        return []
    start, end = dt.date.fromordinal(first), dt.date.fromordinal(last)
    by_year = last - first > 730
    months = range(start.year * 12 + start.month - 1, end.year * 12 + end.month)
    dates = [dt.date(number // 12, number % 12 + 1, 1) for number in months if not by_year or number % 12 == 0]
    shown = [day for day in dates if first <= day.toordinal() <= last] or [start]
    step = math.ceil(len(shown) / MOST_TICKS)
    return [(_across(day.toordinal(), first, last), f"{day:%Y}" if by_year else f"{day:%b %Y}") for day in shown[::step]]


def graph(nodes: Sequence[NodeOut], edges: Sequence[EdgeOut]) -> dict[str, Any]:
    """Lay out motifs on a circle, in their order, so that the same corpus always has the same picture."""
    dots, places = [], {}
    most = max((node.freq for node in nodes), default=0) or 1
    for number, node in enumerate(nodes):
        angle = 2 * math.pi * number / len(nodes) - math.pi / 2
        x, y = places[node.id] = tuple(round(SIZE / 2 + (SIZE / 2 - 90) * turn(angle)) for turn in (math.cos, math.sin))
        radius = 6 + round(14 * math.sqrt(node.freq / most))
        label_y = y + radius + 18 if math.sin(angle) >= 0 else y - radius - 8
        dots.append({"label": node.label, "freq": node.freq, "x": x, "y": y, "radius": radius, "label_y": label_y})
    heaviest = max((edge.weight for edge in edges), default=0) or 1
    lines = []
    for edge in edges:
        if edge.a in places and edge.b in places:
            ends = dict(zip(("x1", "y1", "x2", "y2"), (*places[edge.a], *places[edge.b]), strict=True))
            lines.append(ends | {"width": round(1 + 5 * edge.weight / heaviest, 1), "is_curated": edge.weight == 0})
    return {"dots": dots, "lines": lines, "size": SIZE}
