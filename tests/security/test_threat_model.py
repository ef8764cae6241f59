"""docs/threat-model.md names a test for every attack that exists and runs on Linux and macOS; SECURITY.md is short."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

ROOT: Final = Path(__file__).parents[2]
DOCUMENT: Final = ROOT / "docs" / "threat-model.md"
POLICY: Final = ROOT / "SECURITY.md"
NAMED: Final = re.compile(r"`(?:([\w/]+\.py)::)?(test_\w+)`")
"""A test by its name alone, or by the end of its file's path too where several files have one of that name."""
LEAST: Final = 40
LIMIT: Final = 16_384  # bytes
POLICY_LINES: Final = 60
SKIPPED: Final = re.compile(r"skip|xfail|\b(services|clients|browser|readme|soak|evaluation)\b")
"""Marks, and calls inside a test, that keep a test from being run by `make test` and `make test-slow`."""


def rows() -> list[list[str]]:
    """Return the cells of each row of the table of attacks."""
    cells, inside = [], False
    for line in DOCUMENT.read_text(encoding="utf-8").splitlines():
        if line.startswith("| attack |"):
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and not line.startswith("| ---"):
            cells.append([cell.strip() for cell in line.strip("|").split("|")])
    return cells


@cache
def list_files() -> dict[str, list[str]]:
    """Return by the name of each test the files that define it."""
    files: dict[str, list[str]] = {}
    ours = (file for file in sorted((ROOT / "tests").rglob("*.py")) if not {"node_modules", "site-packages"} & {*file.parts})
    for file in ours:
        for name in re.findall(r"^(?:async )?def (test_\w+)", file.read_text(encoding="utf-8"), re.M):
            files.setdefault(name, []).append(file.relative_to(ROOT).as_posix())
    return files


def find_tests(text: str) -> list[tuple[str, str]]:
    """Return file and name of each test that `text` names; each name must lead to exactly one file."""
    found = []
    for end, name in NAMED.findall(text):
        files = [file for file in list_files().get(name, []) if file.endswith(f"/{end}" if end else ".py")]
        assert len(files) == 1, (name, files)
        found.append((files[0], name))
    return found


@cache
def parse_file(file: str) -> ast.Module:
    return ast.parse((ROOT / file).read_text(encoding="utf-8"))


def list_functions(file: str) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    return {node.name: node for node in parse_file(file).body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def list_marks(file: str, test: str) -> list[str]:
    """Return the marks of a test and of its module, and the calls by which the test skips itself."""
    function = list_functions(file)[test]
    assigned = [
        node.value
        for node in parse_file(file).body
        if isinstance(node, ast.Assign) and any(ast.unparse(target) == "pytestmark" for target in node.targets)
    ]
    module = [mark for value in assigned for mark in (value.elts if isinstance(value, ast.List) else [value])]
    calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
    skips = [call for call in calls if re.fullmatch(r"pytest\.(skip|xfail|importorskip)", ast.unparse(call))]
    marks = [ast.unparse(mark) for mark in [*function.decorator_list, *module, *skips]]
    # Windows lacks processes, sockets and file modes; a test about SQLite's files is skipped on Postgres.
    return [mark for mark in marks if not re.search(r"win32|TEST_DATABASE_URL|connection\.vendor", mark)]


def test_the_documents_fit_into_their_limits() -> None:
    assert len(DOCUMENT.read_bytes()) <= LIMIT
    assert len(POLICY.read_text(encoding="utf-8").splitlines()) <= POLICY_LINES


def test_there_is_one_table_of_at_least_forty_attacks_and_none_comes_twice() -> None:
    assert DOCUMENT.read_text(encoding="utf-8").count("| attack | what happens | test |") == 1
    attacks = [row[0] for row in rows()]
    assert len(attacks) >= LEAST
    assert len(set(attacks)) == len(attacks)


@pytest.mark.slow
def test_every_row_says_in_words_what_happens_and_names_tests_that_exist() -> None:
    for row in rows():
        assert len(row) == 3, row
        attack, outcome, proof = row
        assert attack.endswith("."), attack
        assert outcome.endswith("."), attack
        assert not re.search(r"`[\w/]+\.py`", outcome), f"{attack} names a file instead of saying what happens"
        assert find_tests(proof), attack
        assert re.sub(r"[,\s]", "", NAMED.sub("", proof)) == "", attack


def test_no_test_is_named_for_two_attacks() -> None:
    named = [proof for row in rows() for proof in find_tests(row[2])]
    assert sorted(named) == sorted(set(named))


def test_no_proof_is_skipped_or_left_out_of_the_usual_run() -> None:
    for row in rows():
        for file, test in find_tests(row[2]):
            skipping = [mark for mark in list_marks(file, test) if SKIPPED.search(mark)]
            assert not skipping, f"{file}::{test}: {skipping}"
