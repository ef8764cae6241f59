"""What one check of the doctor found."""

import datetime as dt
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "FAIL"


@dataclass(frozen=True, slots=True)
class Finding:
    """`advice` says what to do; empty where there is nothing to do."""

    name: str
    level: Level
    found: str
    advice: str = ""

    def __str__(self) -> str:
        return f"{self.level} {self.name}: {self.found} {self.advice}".strip()


OTHERS: Final[dict[str, Callable[[dt.datetime], Iterable[Finding]]]] = {}
"""Checks of apps above the wire, by name; each registers its own when it is ready."""


def ok(name: str, found: str) -> Finding:
    return Finding(name, Level.OK, found)


def warn(name: str, found: str, advice: str) -> Finding:
    return Finding(name, Level.WARN, found, advice)


def fail(name: str, found: str, advice: str) -> Finding:
    return Finding(name, Level.FAIL, found, advice)
