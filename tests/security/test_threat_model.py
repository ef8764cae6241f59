"""SECURITY.md names a test for every attack: each exists and is part of the usual run, though Windows may lack what it asks for."""

import ast
import re
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
NAMED: Final = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
LEAST: Final = 40


def rows() -> list[list[str]]:
    """The cells of each row of the tables of attacks."""
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    found, inside = [], False
    for line in text.splitlines():
        if line.startswith("| attack |"):
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and not line.startswith("| ---"):
            found.append([cell.strip() for cell in line.strip("|").split("|")])
    return found


@cache
def functions_of(file: str) -> dict[str, ast.AST]:
    tree = ast.parse((ROOT / file).read_text(encoding="utf-8"))
    return {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}


def test_there_are_forty_attacks_and_none_twice() -> None:
    attacks = [row[0] for row in rows()]
    assert len(attacks) >= LEAST
    assert len(set(attacks)) == len(attacks)


def test_every_attack_has_what_stops_it_and_a_test_that_exists() -> None:
    for row in rows():
        assert len(row) == 3, row
        attack, stops, proof = row
        assert attack
        modules = re.findall(r"`([\w/]+\.py)`", stops)
        assert modules, attack
        assert [module for module in modules if not (ROOT / module).is_file()] == [], attack
        named = NAMED.findall(proof)
        assert named, attack
        assert re.sub(r"[,\s]", "", NAMED.sub("", proof)) == "", attack
        for file, test in named:
            assert test in functions_of(file), f"{attack}: {file}::{test}"


def test_no_proof_is_skipped_or_left_out_of_the_usual_run() -> None:
    for row in rows():
        for file, test in NAMED.findall(row[2]):
            node = functions_of(file)[test]
            assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
            marks = " ".join(ast.unparse(mark) for mark in node.decorator_list if "'win32'" not in ast.unparse(mark))
            assert not re.search(r"skip|xfail|mark\.(services|clients|browser)", marks), f"{file}::{test}"
