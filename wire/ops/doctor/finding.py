"""The finding of one check."""

from dataclasses import dataclass
from enum import StrEnum


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


def ok(name: str, found: str) -> Finding:
    return Finding(name, Level.OK, found)


def warn(name: str, found: str, advice: str) -> Finding:
    return Finding(name, Level.WARN, found, advice)


def fail(name: str, found: str, advice: str) -> Finding:
    return Finding(name, Level.FAIL, found, advice)
