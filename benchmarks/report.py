"""Keeps the tables of docs/: each benchmark rewrites its own section and leaves the others."""

import datetime as dt
import os
import platform
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

FILE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks.md"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def write(name: str, command: str, body: str, file: Path = FILE, *, show: bool = True) -> None:
    """Put `body` between the marks of section `name`, with the command, date and machine it was measured by."""
    where = f"Python {platform.python_version()}, {os.cpu_count()} cores, {dt.datetime.now(dt.UTC).date()}"
    section = f"<!-- {name} -->\n`{command}` ({where})\n\n{body}\n<!-- /{name} -->"
    text = file.read_text(encoding="utf-8")
    pattern = re.compile(rf"<!-- {name} -->.*?<!-- /{name} -->", re.S)
    file.write_text(pattern.sub(lambda _match: section, text), encoding="utf-8")
    if show:
        print(body)
