"""What a scenario found: sentences that must hold, each with what was measured."""

from collections.abc import Awaitable, Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from benchmarks import report

SHOWN = 3


@dataclass(frozen=True, slots=True)
class Held:
    """Whether it holds, what must, and what was measured."""

    ok: bool
    must: str
    measured: str


@dataclass(frozen=True, slots=True)
class Run:
    """`scale` shortens or prolongs what has a length; `scratch` is the scenario's own empty directory."""

    scale: float
    scratch: Path

    def seconds(self, minutes: float, least: float = 0.0) -> float:
        """So many minutes at full length."""
        return max(minutes * 60 * self.scale, least)

    def times(self, number: int, least: int = 1) -> int:
        """So many at full length, never more."""
        return max(least, min(number, round(number * self.scale)))


Scenario = Callable[[Run], Awaitable[list[Held]]]
"""Raises: Missing when the machine lacks what it needs."""


class Missing(Exception):
    """A program that is needed is not on this machine."""


def none(must: str, found: Collection[str], among: str = "") -> Held:
    """Holds if nothing was found; shows the first few."""
    shown = "; ".join([*found][:SHOWN]) + (" …" if len(found) > SHOWN else "")
    counted = f"{len(found)}{f' {among}' if among else ''}"
    return Held(not found, must, f"{counted}: {shown}" if found else counted)


def most(must: str, found: float, bound: float, unit: str = "", more: str = "") -> Held:
    """Holds if what was found is within the bound."""
    told = f"{found:,.0f}" if found == int(found) else f"{found:,.2f}"
    return Held(found <= bound, must, f"{told}{unit and ' ' + unit}{more and ', ' + more}")


def table(held: list[Held]) -> str:
    return report.table(
        ("", "must hold", "measured"), [("holds" if one.ok else "**FAILS**", one.must, _cell(one.measured)) for one in held]
    )


def _cell(text: str) -> str:
    return text.strip().replace("|", "\\|").replace("\n", " ")
