"""What a scenario found: sentences that must hold, each with what was measured."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.faults.soak.load import Load
from tests.faults.soak.wires import Served, Wire

SHOWN: Final = 3


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

    def times(self, number: int, least: int = 1) -> int:
        """So many at full length, never more."""
        return max(least, min(number, round(number * self.scale)))


def none(must: str, found: Sequence[str], among: str = "") -> Held:
    """Holds if nothing was found; shows the first few."""
    return Held(not found, must, f"{len(found)} {among}".strip() + "".join(f"; {one}" for one in found[:SHOWN]))


async def true_to_the_chain(wire: Wire, served: Served, load: Load) -> list[Held]:
    """What must hold at the end of every scenario, once its readers have ended and nothing is published any more."""
    chain = await asyncio.to_thread(wire.chain)
    answers, again = load.told(), load.again
    await load.sweep(chain)
    verifies, words = await asyncio.to_thread(wire.verifies)
    checker = load.checker
    return [
        none("readers get no error", load.failed, f"among {answers}; {again} retried"),
        none("every body matches hash and ETag; no client goes back in time", checker.wrong, f"of {checker.looked:,}"),
        none(
            "stories and days match the chain, and nothing else was ever served",
            checker.against(chain),
            f"of {len(chain.shown):,} stories and {len({day for day, _ in chain.days})} days",
        ),
        Held(verifies and chain.is_one, "there is one chain and `verifywire` passes", words),
        none("no fault in the log", served.troubles()),
    ]
