"""Tables of docs/: each benchmark writes its own section and leaves the others."""

import datetime as dt
import os
import platform
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parent.parent
PAGES_VARIABLE: Final = "BENCH_PAGES"
"""The environment variable in which `python -m benchmarks` names the directory whose pages are to be written."""


def page(name: str) -> Path:
    return Path(os.environ.get(PAGES_VARIABLE, ROOT / "docs")) / name


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def publish(name: str, command: str, body: str) -> None:
    """Print `body`; as a part of `python -m benchmarks`, also put it into section `name` of docs/benchmarks.md."""
    # The page says once on which commit and machine it was measured, so a benchmark that runs alone does not write it.
    print(body)
    if PAGES_VARIABLE in os.environ:
        replace_section(page("benchmarks.md"), name, f"`{command}`\n\n{body}")


def write(name: str, command: str, body: str, file: Path, *, show: bool = True) -> None:
    """Put `body` into section `name` of `file`, with the command, date and machine it was measured by."""
    replace_section(file, name, f"`{command}` ({describe_machine()})\n\n{body}")
    if show:
        print(body)


def replace_section(file: Path, name: str, content: str) -> None:
    """Replace what is between the marks of section `name`. Raises: SystemExit if `file` has no such section."""
    text = file.read_text(encoding="utf-8")
    pattern = re.compile(rf"<!-- {name} -->.*?<!-- /{name} -->", re.S)
    if not pattern.search(text):
        raise SystemExit(f"{file} has no section {name}; add <!-- {name} --><!-- /{name} --> where its table is to be.")
    file.write_text(pattern.sub(lambda _match: f"<!-- {name} -->\n{content}\n<!-- /{name} -->", text), encoding="utf-8")


def describe_machine() -> str:
    return f"Python {platform.python_version()}, {os.cpu_count()} cores, {dt.datetime.now(dt.UTC).date()}"
