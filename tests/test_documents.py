"""What documents tell a reader to type or to read exists: commands, their options, targets of make, modules, files."""

import re
from argparse import ArgumentParser
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from django.core.management import get_commands, load_command_class

from tests import shell_blocks
from tests.clients.server import ROOT

DOCUMENTS: Final = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
TARGETS: Final = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
CODE: Final = re.compile(r"^ *```[a-z]*[^\n`]*\n(.*?)^ *```|`([^`]+)`", re.M | re.S)
COMMAND: Final = re.compile(r"\bmanage\.py ([a-z]+)([^#;|]*)")
TARGET: Final = re.compile(r"(?:^|[;&|] )(?:[A-Z_]+=\S+ )*make ([a-z-]+)")
MODULE: Final = re.compile(r"python -m ((?:benchmarks|tests)[\w.]*)")


def code(document: Path) -> Iterator[str]:
    """Each line of code: of blocks, with what a backslash continues, and between backticks."""
    for block, span in CODE.findall(document.read_text(encoding="utf-8")):
        yield from re.sub(r"\\\n\s*", "", block or span.replace("\n", " ")).splitlines()


def options(parser: ArgumentParser, words: list[str]) -> set[str]:
    """Those of a command, and of its part that the words name, if it has parts."""
    parts = {name: part for action in parser._actions if isinstance(action.choices, dict) for name, part in action.choices.items()}
    return set(parser._option_string_actions).union(*(parts[word]._option_string_actions for word in words[:1] if word in parts))


every_document = pytest.mark.parametrize("document", DOCUMENTS, ids=lambda document: document.relative_to(ROOT).as_posix())


@every_document
def test_commands_and_their_options_exist(document: Path) -> None:
    for line in code(document):
        for name, rest in COMMAND.findall(line):
            assert name in get_commands(), line
            parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
            assert set(re.findall(r"(?<!\S)\[?(--?[a-z][a-z-]*)", rest)) <= options(parser, rest.split()), line


@every_document
def test_targets_of_make_exist(document: Path) -> None:
    assert {target for line in code(document) for target in TARGET.findall(line)} <= TARGETS


@every_document
def test_modules_that_are_run_exist(document: Path) -> None:
    for line in code(document):
        for module in MODULE.findall(line):
            place = ROOT / module.replace(".", "/")
            assert place.with_suffix(".py").exists() or (place / "__main__.py").exists(), line


@every_document
def test_links_lead_to_files_that_are_there(document: Path) -> None:
    linked = re.findall(r"\]\((?!https?:|mailto:|#|/)([^)#\s]+)", document.read_text(encoding="utf-8"))
    assert [target for target in linked if not (document.parent / target).exists()] == []


@every_document
def test_a_block_of_shell_is_run_by_tests_or_says_why_not(document: Path) -> None:
    blocks = shell_blocks.read_blocks(document)
    assert [block.info for block in blocks if not (block.is_run or block.reason)] == []


def test_quality_is_short_and_begins_with_an_answer() -> None:
    assert len((ROOT / "docs" / "quality.md").read_text(encoding="utf-8").splitlines()) <= 200
    for name in ("quality", "benchmarks", "reliability", "clients", "conformance"):
        title, *answer = (ROOT / "docs" / f"{name}.md").read_text(encoding="utf-8").partition("\n\n")[0].splitlines()
        assert title.startswith("# "), name
        assert sum(line.startswith("- ") for line in answer) == 5, name


def test_the_readme_is_short_and_its_picture_small() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 90
    (picture,) = re.findall(r"!\[[^]]+\]\(([^)]+)\)", text)
    assert (ROOT / picture).stat().st_size <= 150_000


def test_scaling_assumes_no_more_than_was_measured() -> None:
    text = (ROOT / "docs" / "scaling.md").read_text(encoding="utf-8")
    costs = re.findall(
        r"^\| ([^|]+) \| [\d,]+ \| ([\d,]+) \|$", text.partition("<!-- rates -->")[2].partition("<!-- /rates -->")[0], re.M
    )
    measured = read_measured_rates() | {name: int(rate.replace(",", "")) for name, rate in costs}
    assumed = re.findall(r"^\| [^|]+ \| ([\d,]+) \| \*([^*]+)\*", text, re.M)
    assert len(assumed) >= 8
    for figure, row in assumed:
        assert int(figure.replace(",", "")) <= 0.65 * measured[row], row


def read_measured_rates() -> dict[str, int]:
    """Return requests a second of one worker by the row of docs/benchmarks.md: with the limiter on, else off."""
    rates = {}
    for line in (ROOT / "docs" / "benchmarks.md").read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) > 8 and re.match(r"[\d,]+ · ", cells[1] or cells[2]):
            rates[re.sub(r" \([\d.]+ KB\)$", "", cells[0])] = int((cells[1] or cells[2]).partition(" ")[0].replace(",", ""))
    return rates


def test_no_document_names_a_path_outside_of_the_repository() -> None:
    named = {
        document.name: re.findall(r"(?:\.\./)+shared/\S*|/(?:work|root)/\S*", document.read_text("utf-8")) for document in DOCUMENTS
    }
    assert {name: paths for name, paths in named.items() if paths} == {}


def test_the_rules_above_find_what_there_is_to_find() -> None:
    lines = [line for document in DOCUMENTS for line in code(document)]
    assert len({name for line in lines for name, _ in COMMAND.findall(line)}) > 12
    assert len({target for line in lines for target in TARGET.findall(line)}) > 6
