"""The one run behind docs/benchmarks.md: `python -m benchmarks [--only PART …]`; `--smoke` runs every benchmark in a tiny form.

The page names the commit and machine it was measured on, so it is written as a whole: `--only` measures parts again, such as one
that failed, and refuses if the page is of another commit. Postgres is measured where TEST_DATABASE_URL names one that answers.
The smoke form writes copies of the pages, and fails if a benchmark fails or writes no table.
"""

import argparse
import csv
import gzip
import json
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks import archive, postgres, report
from benchmarks.report import ROOT

UNMEASURED: Final = "Not measured: `make bench` writes this table."
SAMPLES: Final = 200  # of the fixed loop before each part, about a second


@dataclass(frozen=True, slots=True)
class Benchmark:
    """A benchmark with its arguments, in the run and in the smoke form, and the section and page that it writes."""

    module: str
    smoke: str = ""
    run: str | None = None  # None: the benchmark is no part of docs/benchmarks.md
    section: str = ""
    page: str = "benchmarks.md"

    @property
    def name(self) -> str:
        return self.module.removeprefix("benchmarks.")

    def command(self, folder: Path, *, smoke: bool) -> list[str]:
        arguments = shlex.split((self.smoke if smoke else self.run or "").replace("{inputs}", str(folder)))
        if self.name in ("doors", "gateway") and not smoke and os.geteuid() == 0:
            arguments.append("--realtime")
        return [sys.executable, "-m", self.module, *arguments]


def _on_page(name: str, smoke: str, run: str) -> Benchmark:
    return Benchmark(f"benchmarks.{name}", smoke, run, name)


BENCHMARKS: Final = (
    _on_page("ingest", "3 1", "100 5"),
    _on_page("loadwire", "4 10", "100 200"),
    _on_page("publish", "10 5 1", "400 100 15"),
    _on_page("doors", "--rounds 1 --seconds 1 --calm 1 --only 'three stories, 2026' --only get_category --only 304", "--rounds 3"),
    _on_page("growth", "300 600 --times 2 --rounds 1 --searches 20", "10000 100000 --times 50 --rounds 2"),
    _on_page("memory", "600 2", "100000 30"),
    _on_page("verification", "600", "10000 100000"),
    _on_page("proofs", "20", "3650"),
    _on_page("articles", "200 5 1", "50000 1000 25"),
    _on_page("factchecks", "200 3", "50000 200"),
    _on_page("timeline", "--reports 1100 --calls 3", "--reports 100000 --calls 500"),
    _on_page("gateway", "--seconds 1 --rounds 1 --questions 1", "--seconds 2 --rounds 3"),
    Benchmark("benchmarks.factchecks", "quality {inputs}", section="factchecks", page="quality.md"),
    Benchmark("benchmarks.quality", "--rounds 1 --others {inputs}/none", section="quality", page="quality.md"),
    Benchmark("benchmarks.quality.asked", section="asked", page="quality.md"),
    Benchmark("benchmarks.search", "600 --times 10 --rounds 1", section="search", page="quality.md"),
    Benchmark("benchmarks.quality.fit", "--only-try --archive {inputs}/archive.ndjson.gz"),
    Benchmark(
        "benchmarks.quality.fit_storylines",
        "{inputs}/pairs.tsv {inputs}/stories.csv --storylines {inputs}/storylines.json --headlines {inputs}/stories.csv --only-try",
    ),
    Benchmark("benchmarks.files_entered"),
    Benchmark("benchmarks.passages"),
    Benchmark("benchmarks.claims", "{inputs}/archive.ndjson.gz"),
    Benchmark("benchmarks.frequencies", "{inputs}/headlines.csv {inputs}/archive.ndjson.gz --to {inputs}/frequencies.json"),
)
"""Growth fills the wires that memory and verification ask."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description="Measure, and write docs/benchmarks.md.")
    parser.add_argument("--smoke", action="store_true", help="run every benchmark in a tiny form, on copies of the pages")
    parser.add_argument("--only", nargs="+", default=[], metavar="PART", choices=sorted({part.name for part in BENCHMARKS}))
    options = parser.parse_args()
    parts = [
        part for part in BENCHMARKS if (options.smoke or part.run is not None) and (not options.only or part.name in options.only)
    ]
    with tempfile.TemporaryDirectory(prefix="wire-benchmarks-") as scratch:
        pages = copy_pages(Path(scratch)) if options.smoke else ROOT / "docs"
        page, commit = pages / "benchmarks.md", describe_commit()
        if not options.only:
            clear_sections(page)
        elif not options.smoke and f"commit {commit}" not in page.read_text(encoding="utf-8"):
            raise SystemExit(f"docs/benchmarks.md is not of commit {commit}: measure it as a whole, with `make bench`.")
        run = Run(Path(scratch), pages, smoke=options.smoke)
        if options.smoke:
            write_inputs(Path(scratch))
        failed = [part.name for part in parts if not run.measure(part)]
        if not options.only:
            report.replace_section(page, "machine", run.describe(commit))
    if failed:
        print(f"Failed: {', '.join(failed)}. Repair them, then `python -m benchmarks --only {' '.join(failed)}`.", file=sys.stderr)
    return 1 if failed else 0


class Run:
    """Parts measured one after the other, and what the machine was like meanwhile."""

    def __init__(self, scratch: Path, pages: Path, *, smoke: bool) -> None:
        self._scratch, self._pages, self._smoke = scratch, pages, smoke
        self._started, self._loops = time.monotonic(), list[float]()
        self._postgres = postgres.find_server()

    def measure(self, part: Benchmark) -> bool:
        """Run a part and say so; a part that failed says it in its section. Return whether it succeeded."""
        self._loops += time_loop(10 if self._smoke else SAMPLES)
        command, started = part.command(self._scratch, smoke=self._smoke), time.monotonic()
        shown = shlex.join(["python", *command[1:]])
        print(f"— {shown}", file=sys.stderr, flush=True)
        env = os.environ | {report.PAGES_VARIABLE: str(self._pages), "BENCH_DATA": str(self._scratch / "wires")}
        if self._postgres is None:
            env.pop(postgres.VARIABLE, None)
        if self._smoke and part.name != "publish":  # those that measure vectors turn them on; the others would wait for them
            env["WIRE_VECTORS"] = "0"
        if part.module in ("benchmarks.quality.asked", "benchmarks.passages"):
            env |= {"WIRE_DATA_DIR": str(self._scratch / "sample"), "DATABASE_URL": ""}
        before = read_section(self._pages / part.page, part.section)
        status = subprocess.run(command, cwd=ROOT, env=env).returncode
        after = read_section(self._pages / part.page, part.section)
        is_written = not part.section or ("| --- |" in after and after != before)
        fault = f"ended with status {status}" if status else "" if is_written else "wrote no new table"
        if fault and part.page == "benchmarks.md" and part.section:
            report.replace_section(self._pages / part.page, part.section, f"`{shown}` **failed** in this run: it {fault}.")
        print(f"— {part.name}: {fault or 'done'} after {time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        return not fault

    def describe(self, commit: str) -> str:
        minutes = (time.monotonic() - self._started) / 60
        noise = statistics.median(self._loops) / min(self._loops)
        lacking = "" if self._postgres else " Postgres was not measured, since TEST_DATABASE_URL named no server that answers."
        return (
            f"Measured at commit {commit}: {report.describe_machine()}, in one run of {minutes:.0f} minutes. "
            f"The median of a fixed loop was {noise:.2f} times its minimum. If that is well above "
            f"1.1, the machine was shared: trust ratios rather than times.{lacking}"
        )


def describe_commit() -> str:
    """Return the commit, and whether anything but the pages differs from it."""

    def git(*arguments: str) -> str:
        return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.strip()

    commit = git("rev-parse", "--short=12", "HEAD") or "unknown"
    return f"{commit} with changes" if git("status", "--porcelain", "--", ".", ":!docs/benchmarks.md") else commit


def time_loop(samples: int) -> list[float]:
    seconds = []
    for _ in range(samples):
        started = time.perf_counter()
        sum(number * number for number in range(60_000))
        seconds.append(time.perf_counter() - started)
    return seconds


def list_sections(text: str) -> list[str]:
    return re.findall(r"<!-- (\w+) -->", text)


def read_section(file: Path, name: str) -> str:
    """Return what is between the marks of a section, or "" if there is none."""
    found = re.search(rf"<!-- {name} -->(.*?)<!-- /{name} -->", file.read_text(encoding="utf-8"), re.S)
    return found[1] if found else ""


def clear_sections(page: Path) -> None:
    # A figure of an earlier run must not stay on a page that names the commit of this one.
    for name in list_sections(page.read_text(encoding="utf-8")):
        report.replace_section(page, name, UNMEASURED)


def copy_pages(scratch: Path) -> Path:
    pages = scratch / "pages"
    pages.mkdir()
    for name in {part.page for part in BENCHMARKS}:
        shutil.copy(ROOT / "docs" / name, pages)
    return pages


def write_inputs(folder: Path) -> None:
    """Write small inputs of the same kind as those that the benchmarks of quality take, and load the sample wire."""
    archive.write(folder / "archive.ndjson", days=2, a_day=10)
    items = (folder / "archive.ndjson").read_bytes()
    (folder / "archive.ndjson.gz").write_bytes(gzip.compress(items))
    titles = [json.loads(line)["title"] for line in items.splitlines()]
    with (folder / "headlines.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([["title"], *([title] for title in titles)])
    write_collection(folder, titles)
    write_labels(folder)
    (folder / "sample").mkdir()
    env = os.environ | {"WIRE_DATA_DIR": str(folder / "sample"), "DATABASE_URL": ""}
    for command in (["migrate", "-v0"], ["loadsample", "-v0"]):
        subprocess.run([sys.executable, "manage.py", *command], cwd=ROOT, env=env, check=True, stdout=subprocess.DEVNULL)


def write_collection(folder: Path, titles: list[str]) -> None:
    """Write claims, questions and labels as the files of the CheckThat! collection have them."""
    documents = ["\t".join(("", "vclaim", "title")), *(f"{at}\t{title}\t{title}" for at, title in enumerate(titles))]
    questions = ["\ttweet_content", *(f"q{at}\t{title}" for at, title in enumerate(titles[:3]))]
    labels = [f"q{at} 0 {at} 1" for at in range(3)]
    for name, lines in (("docs.tsv.gz", documents), ("queries.tsv.gz", questions), ("qrels.gz", labels)):
        (folder / f"small-{name}").write_bytes(gzip.compress("\n".join([*lines, ""]).encode()))


def write_labels(folder: Path) -> None:
    """Write twelve stories of six events and two storylines, and labels of pairs, as `exportlabels` does."""
    header = ("id", "title", "summary", "publisher", "published_at", "event")
    rows = [
        (f"s{at}", f"OpenAI ships model {at % 3} for coders", "", "Wired", f"2026-01-{at + 1:02}", f"e{at // 2}")
        for at in range(12)
    ]
    with (folder / "stories.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([header, *rows])
    (folder / "pairs.tsv").write_text("s0\ts1\tS\ns2\ts9\tN\n", encoding="utf-8")
    ids = [row[0] for row in rows]
    halves = {"tune": ids[:6], "report": ids[6:]}
    sagas = [{"name": half, "half": half, "stories": some, "undecided": []} for half, some in halves.items()]
    (folder / "storylines.json").write_text(json.dumps(sagas), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
