"""What the measurements come to: tables, and whether the wire keeps what it promises."""

from collections.abc import Callable, Iterator
from statistics import median
from typing import Final

from benchmarks import report
from benchmarks.doors.contest import BARE, FAST, HIGH, OFF, ON, Row
from benchmarks.doors.load import Measured
from benchmarks.doors.questions import Section
from benchmarks.doors.servers import Server

OF_BARE: Final = {ON: 0.5, OFF: 0.6}  # a hit at the MCP door, by requests a second
PAGE_OF_BARE: Final = 0.5
OVER_FAST: Final = 20.0
P99: Final = 2.0  # ms at 70 % of the saturated rate, over a whole visit
MISS: Final = 1.8  # CPU for one request, over that of the SDK's high-level server answering the same from memory

Line = tuple[str, str, str]
"""Verdict, what is wanted, what was measured."""


def speeds(rows: list[Row]) -> str:
    """One table for each section."""
    return "\n\n".join(_table([row for row in rows if row.section is section]) for section in _sections(rows))


def disturbance(rows: list[Row]) -> str:
    """How much of the machine the measurement had."""
    found = [measured for row in rows for measured in row.measured]
    served, others = median(one.served for one in found), median(one.others for one in found)
    return (
        f"While saturated, the server had {served:.0%} of its core and other processes {others:.0%} (medians). Where that is far "
        "from 100 % and 0 %, the machine was shared: read the ratios by CPU, not those by requests a second."
    )


def costs(servers: dict[str, Server]) -> str:
    lines = [(who, f"{server.cold:.2f} s", f"{server.resident():.0f} MB") for who, server in servers.items()]
    return report.table(("server", "start to first answer", "resident memory of the worker after all load"), lines)


def promises(rows: list[Row]) -> str:
    """A line for each: whether it is kept, what is wanted, what was measured. `unsure` where rate and CPU disagree, or where bare
    ASGI would not have kept it either: then the machine was too busy to tell.
    """
    return report.table(("", "wanted", "measured"), _promises(rows))


def _promises(rows: list[Row]) -> Iterator[Line]:
    for section in _sections(rows):
        by_who = {row.who: row for row in rows if row.section is section}
        if section.miss:
            if not section.title.startswith("get_category"):
                continue
            cost = ratio(by_who[OFF], by_who[HIGH], _cpu)
            yield _verdict(cost <= MISS), f"{section.title}: at most {MISS} × the CPU of the {HIGH}", f"{cost:.2f} ×"
            continue
        on, off, bare = by_who[ON], by_who[OFF], by_who[BARE]
        if section.kind in ("call", "read"):
            yield _fast_enough(on, bare, OF_BARE[ON])
            yield _fast_enough(off, bare, OF_BARE[OFF])
            if (fast := _nearest(rows, section)) is not None:
                yield _fast_enough(on, fast, OVER_FAST)
            late, floor = _all_p99(on), _all_p99(bare)
            wanted = f"{section.title}: {ON}, p99 at 70 % below {P99:.0f} ms"
            yield _verdict(late < P99, late < P99 or floor >= P99), wanted, f"{late:.2f} ms; {BARE} {floor:.2f} ms"
        elif section.title.startswith("today.json"):
            yield _fast_enough(on, bare, PAGE_OF_BARE)


def _verdict(*kept: bool) -> str:
    return "pass" if all(kept) else "unsure" if any(kept) else "**FAIL**"


def _fast_enough(row: Row, other: Row, least: float) -> Line:
    found, by_cpu = ratio(row, other, _rate), _by_cpu(row, other)
    wanted = f"{row.section.title}: {row.who}, at least {least:g} × {other.who}"
    return _verdict(found >= least, by_cpu >= least), wanted, f"{found:.2f} ×; by CPU {by_cpu:.2f} ×"


def _nearest(rows: list[Row], section: Section) -> Row | None:
    """FastMCP asked the same; where it was not, its answer of the same kind and era stands for it."""
    asked = [row for row in rows if row.who == FAST and (row.section.kind, row.section.era) == (section.kind, section.era)]
    return next((row for row in asked if row.section is section), next((row for row in asked if not row.section.miss), None))


def ratio(row: Row, other: Row, of: Callable[[Measured], float]) -> float:
    """The median of the rounds' ratios: what slows a machine for a while slows both."""
    return median(of(mine) / of(theirs) for mine, theirs in zip(row.measured, other.measured, strict=True))


def _by_cpu(row: Row, other: Row) -> float:
    """What the ratio of their speeds would be if the server alone used its core."""
    return ratio(other, row, _cpu)


def _table(rows: list[Row]) -> str:
    section = rows[0].section
    bare = next(row for row in rows if row.who == BARE)
    fast = next((row for row in rows if row.who == FAST), None)
    header = [
        "who",
        "requests/s (min–max)",
        "p99 ms",
        "CPU µs",
        "p99 ms at 70 %",
        "steady half",
        "tenths",
        "of bare ASGI",
        "by CPU",
        *(["× FastMCP"] if fast else []),
    ]
    lines = []
    for row in rows:
        rates = [found.rate for found in row.measured]
        lines.append(
            [
                row.who,
                f"{median(rates):,.0f} ({min(rates):,.0f}–{max(rates):,.0f})",
                f"{median(map(_p99, row.measured)):,.1f}",
                f"{median(map(_cpu, row.measured)):,.0f}",
                f"{_all_p99(row):.2f}" if row.calm else "",
                f"{median(map(_p99, row.steady)):.2f}" if row.calm else "",
                f"{_calm_p99(row):.2f}" if row.calm else "",
                f"{ratio(row, bare, _rate):.1%}",
                f"{_by_cpu(row, bare):.1%}",
                *([f"{ratio(row, fast, _rate):.1f}"] if fast else []),
            ]
        )
    return f"**{section.title}** ({bare.size / 1000:,.1f} KB)\n\n" + report.table(header, lines)


def _sections(rows: list[Row]) -> list[Section]:
    return list({id(row.section): row.section for row in rows}.values())


def _all_p99(row: Row) -> float:
    """Of a whole visit at a constant rate, whatever the machine did meanwhile."""
    return median(calm.p99 for _, calm in row.calm)


def _calm_p99(row: Row) -> float:
    """Of all tenths of a second, the one in the middle: what stops the machine for some milliseconds spoils one of them, where it
    would spoil a whole round.
    """
    return median(tenth for calm in row.steady for tenth in calm.tenths)


def _rate(measured: Measured) -> float:
    return measured.rate


def _p99(measured: Measured) -> float:
    return measured.p99


def _cpu(measured: Measured) -> float:
    return measured.cpu
