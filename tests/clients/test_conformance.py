"""The official conformance suite finds what docs/conformance.md says, and not one check less."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.clients import node
from tests.clients.server import ROOT

REVISIONS: Final = ("2026-07-28", "2025-11-25")
SERVED: Final = {
    "wire": "the wire alone",
    "wire_with_fixtures": "with the suite's fixtures",
    "publisher": "a publisher's server",
    "factchecks": "the server of fact-checks",
}
EXPECTED: Final = Path(__file__).parent / "expected-failures"
DOCUMENT: Final = ROOT / "docs" / "conformance.md"


@dataclass(frozen=True, slots=True)
class Tally:
    """How many scenarios passed: none of their checks failed."""

    passed: int
    of: int

    def __str__(self) -> str:
        return f"{self.passed} of {self.of}"


@pytest.mark.clients
@pytest.mark.parametrize("served", SERVED)
@pytest.mark.parametrize("revision", REVISIONS)
def test_it_finds_what_is_documented(revision: str, served: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    url, expected, results = request.getfixturevalue(served), EXPECTED / f"{served}-{revision}.yml", tmp_path / "results"
    asked = ("server", "--url", url, "--requirements", revision, "--expected-failures", str(expected), "-o", str(results))

    done = node.run(node.CONFORMANCE, *asked, home=tmp_path)

    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    scored, others = tallies(results, required(revision))
    assert f"| {revision} | {SERVED[served]} | {scored} | {others} |" in DOCUMENT.read_text(encoding="utf-8")


@pytest.mark.parametrize("file", sorted(EXPECTED.iterdir()), ids=lambda file: file.stem)
def test_each_expected_failure_has_its_reason_in_the_document(file: Path) -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    lines = [line.removeprefix("  - ") for line in file.read_text(encoding="utf-8").splitlines() if line.startswith("  - ")]
    assert lines
    assert [entry for entry in lines if f"`{entry.partition(':')[0]}`" not in document] == []


def required(revision: str) -> set[str]:
    """The scenarios by which the suite scores a server of that revision."""
    text = (node.REQUIREMENTS / f"{revision}.yaml").read_text(encoding="utf-8")
    section = text.split("\nserver:\n")[1].split("\n\n")[0]
    return {line.strip().removeprefix("- ") for line in section.splitlines()}


def tallies(results: Path, scored: set[str]) -> tuple[Tally, Tally]:
    """Of the scored scenarios, and of those that run for information only."""
    passed = {
        folder.name.removeprefix("server-").rsplit("-", 6)[0]: _passed(folder / "checks.json") for folder in results.iterdir()
    }
    inside, outside = ([ok for name, ok in passed.items() if (name in scored) is wanted] for wanted in (True, False))
    return Tally(sum(inside), len(inside)), Tally(sum(outside), len(outside))


def _passed(checks: Path) -> bool:
    return not any(check["status"] == "FAILURE" for check in json.loads(checks.read_bytes()))
