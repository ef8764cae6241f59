"""The run behind docs/benchmarks.md: it knows every benchmark, and nothing on the page comes from elsewhere."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from benchmarks import __main__ as run
from benchmarks import report

ROOT: Final = report.ROOT
PAGE: Final = ROOT / "docs" / "benchmarks.md"
NO_BENCHMARK: Final = {"benchmarks", "benchmarks.doors.client"}
"""The run itself, and the load generator of the doors."""
LINES: Final = 230


def list_programs() -> set[str]:
    """Return the modules below benchmarks/ that do something when they are run."""
    files = [
        file for file in (ROOT / "benchmarks").rglob("*.py") if 'if __name__ == "__main__":' in file.read_text(encoding="utf-8")
    ]
    return {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__main__") for file in files}


def test_every_benchmark_of_the_folder_is_run_by_the_smoke_form() -> None:
    assert {part.module for part in run.BENCHMARKS} == list_programs() - NO_BENCHMARK


def test_the_page_has_a_section_for_every_part_of_the_run_and_no_other() -> None:
    sections = [part.section for part in run.BENCHMARKS if part.run is not None]
    assert sorted(run.list_sections(PAGE.read_text(encoding="utf-8"))) == sorted([*sections, "machine"])


def test_no_figure_of_the_page_is_typed_by_hand() -> None:
    text = PAGE.read_text(encoding="utf-8")
    outside = re.sub(r"<!-- (\w+) -->.*?<!-- /\1 -->", "", text, flags=re.S)
    assert "| --- |" not in outside
    assert not re.search(r"\d (ms|µs|s|MB)\b|\d/s", outside)


def test_the_page_stays_short() -> None:
    assert len(PAGE.read_text(encoding="utf-8").splitlines()) <= LINES


def test_the_makefile_and_the_checks_of_a_checkout_run_it() -> None:
    assert " bench-smoke" in (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert "python -m benchmarks\n" in (ROOT / "Makefile").read_text(encoding="utf-8")


def test_a_section_that_is_not_on_the_page_is_refused_by_name(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("<!-- one -->\n<!-- /one -->\n", encoding="utf-8")
    with pytest.raises(SystemExit, match="no section two"):
        report.replace_section(page, "two", "A table.")
    report.replace_section(page, "one", r"A \1 table.")
    assert run.read_section(page, "one") == "\nA \\1 table.\n"


def test_a_benchmark_alone_leaves_the_page_as_it_is(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.delenv(report.PAGES_VARIABLE, raising=False)
    before = PAGE.read_bytes()
    report.publish("ingest", "python -m benchmarks.ingest", "| a |")
    assert PAGE.read_bytes() == before
    assert capsys.readouterr().out == "| a |\n"


def test_a_part_that_fails_says_so_in_its_section(tmp_path: Path) -> None:
    page = tmp_path / "benchmarks.md"
    page.write_text("<!-- broken -->\nOld figures.\n<!-- /broken -->\n", encoding="utf-8")
    part = run.Benchmark("benchmarks.words", run="", section="broken")  # it writes no table
    assert not run.Run(tmp_path, tmp_path, smoke=True).measure(part)
    assert "**failed** in this run" in page.read_text(encoding="utf-8")
    assert "Old figures" not in page.read_text(encoding="utf-8")


def test_parts_are_measured_again_for_the_same_commit_only() -> None:
    # The page of this test names no commit, as it is before the first run.
    command = "from benchmarks import report, __main__ as run; run.describe_commit = lambda: 'other'; run.main()"
    done = subprocess.run([sys.executable, "-c", command, "--only", "ingest"], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "docs/benchmarks.md is not of commit other" in done.stderr
