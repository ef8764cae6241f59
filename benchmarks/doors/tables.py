"""Tables of the measurements, and of the promises that the wire makes about its speed."""

from collections import Counter
from collections.abc import Callable, Iterator
from statistics import median
from typing import Final, NamedTuple

from benchmarks import report
from benchmarks.doors.contest import BARE, FAST, HIGH, LOW, MCPZ, OFF, ON, VIEW, Row
from benchmarks.doors.load import Measured
from benchmarks.doors.questions import Section
from benchmarks.doors.servers import Server

COLUMNS: Final = (ON, OFF, BARE, VIEW, LOW, HIGH, MCPZ, FAST)
OF_BARE: Final = {ON: 0.5, OFF: 0.6}  # a hit over MCP, by requests a second
PAGE_OF_BARE: Final = 0.5
OVER_FAST: Final = 20.0
P99: Final = 2.0  # ms at 70 % of the saturated rate, over a whole visit
MISS: Final = 1.8  # CPU for one request, over that of the SDK's high-level server answering the same from memory


class Promise(NamedTuple):
    """A promise about the answers to one question; of all questions the least `margin` is the worst."""

    wanted: str
    verdict: str
    margin: float
    measured: str


def speeds(rows: list[Row], servers: dict[str, Server]) -> str:
    """Return a line for each question, a column for each contender; at the end what starting and memory cost each."""
    columns = [who for who in COLUMNS if any(row.who == who for row in rows)]
    paced = [who for who in (ON, BARE) if who in columns]
    lines = []
    for section in _sections(rows):
        by_who = {row.who: row for row in rows if row.section is section}
        cells = [*(_speed(by_who.get(who)) for who in columns), *(_delay(by_who.get(who)) for who in paced)]
        lines.append([f"{section.title} ({by_who[BARE].size / 1000:,.1f} KB)", *cells])
    nothing = [""] * len(paced)
    lines.append(["start to first answer", *(f"{servers[who].cold:.2f} s" for who in columns), *nothing])
    lines.append(["memory after all load", *(f"{servers[who].resident():.0f} MB" for who in columns), *nothing])
    return report.table(("question", *columns, *(f"p99 at 70 %: {who}" for who in paced)), lines)


def _speed(row: Row | None) -> str:
    return f"{median(map(_rate, row.measured)):,.0f} · {median(map(_cpu, row.measured)):,.0f}" if row else ""


def _delay(row: Row | None) -> str:
    return f"{_all_p99(row):.2f} · {median(map(_p99, row.steady)):.2f}" if row and row.calm else ""


def describe_disturbance(rows: list[Row]) -> str:
    """Return a sentence about the part of the machine that the measurement had."""
    found = [measured for row in rows for measured in row.measured]
    served, others = median(one.served for one in found), median(one.others for one in found)
    return f"While saturated, the server had {served:.0%} of its core and other processes {others:.0%} (medians)."


def promises(rows: list[Row]) -> str:
    """Return a line for each promise: how many questions keep it, and the figures of the worst.

    `unsure` where rate and CPU disagree, or where bare ASGI would not have kept it either: the machine was too busy to tell.
    """
    by_wanted: dict[str, list[tuple[str, Promise]]] = {}
    for section in _sections(rows):
        for promise in _promises(rows, section):
            by_wanted.setdefault(promise.wanted, []).append((section.title, promise))
    lines = []
    for wanted, found in by_wanted.items():
        counts = Counter(promise.verdict for _, promise in found)
        title, worst = min(found, key=lambda one: one[1].margin)
        lines.append(
            (", ".join(f"{number} {verdict}" for verdict, number in counts.items()), wanted, f"{worst.measured} ({title})")
        )
    return report.table(("verdict", "wanted", "worst"), lines)


def _promises(rows: list[Row], section: Section) -> Iterator[Promise]:
    by_who = {row.who: row for row in rows if row.section is section}
    if section.miss:
        if section.title.startswith("get_category"):
            cost = ratio(by_who[OFF], by_who[HIGH], _cpu)
            wanted = f"a category that is not cached: at most {MISS} × the CPU of the {HIGH}"
            yield Promise(wanted, _verdict(cost <= MISS), -cost, f"{cost:.2f} ×")
        return
    on, off, bare = by_who[ON], by_who[OFF], by_who[BARE]
    if section.kind in ("call", "read"):
        yield _fast_enough("a cached MCP answer", on, bare, OF_BARE[ON])
        yield _fast_enough("a cached MCP answer", off, bare, OF_BARE[OFF])
        if (fast := _nearest(rows, section)) is not None:
            yield _fast_enough("a cached MCP answer", on, fast, OVER_FAST)
        late, floor = _all_p99(on), _all_p99(bare)
        verdict = _verdict(late < P99, late < P99 or floor >= P99)
        yield Promise(f"{ON}: p99 at 70 % below {P99:.0f} ms", verdict, -late, f"{late:.2f} ms; {BARE} {floor:.2f} ms")
    else:
        yield _fast_enough("a cached REST answer", on, bare, PAGE_OF_BARE)


def _verdict(*kept: bool) -> str:
    return "pass" if all(kept) else "unsure" if any(kept) else "**FAIL**"


def _fast_enough(answer: str, row: Row, other: Row, least: float) -> Promise:
    found, by_cpu = ratio(row, other, _rate), ratio(other, row, _cpu)
    verdict = _verdict(found >= least, by_cpu >= least)
    return Promise(
        f"{answer}, {row.who}: at least {least:g} × {other.who}", verdict, found, f"{found:.2f} ×; by CPU {by_cpu:.2f} ×"
    )


def _nearest(rows: list[Row], section: Section) -> Row | None:
    """Return FastMCP's row; where it was not asked the same, that of the same kind and era stands for it."""
    asked = [row for row in rows if row.who == FAST and (row.section.kind, row.section.era) == (section.kind, section.era)]
    return next((row for row in asked if row.section is section), next((row for row in asked if not row.section.miss), None))


def ratio(row: Row, other: Row, of: Callable[[Measured], float]) -> float:
    """Return the median of the rounds' ratios: what slows a machine for a while slows both."""
    return median(of(mine) / of(theirs) for mine, theirs in zip(row.measured, other.measured, strict=True))


def _sections(rows: list[Row]) -> list[Section]:
    return list({id(row.section): row.section for row in rows}.values())


def _all_p99(row: Row) -> float:
    return median(calm.p99 for _, calm in row.calm)


def _rate(measured: Measured) -> float:
    return measured.rate


def _p99(measured: Measured) -> float:
    return measured.p99


def _cpu(measured: Measured) -> float:
    return measured.cpu
