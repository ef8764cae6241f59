"""The packages for directories of MCP servers: what a directory would refuse is found by `manage.py checkcards`."""

import json
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.management import CommandError, call_command
from pytest_django import Settings

from mcpserver.management.commands import checkcards

ROOT: Final = Path(__file__).parents[2]
PACKAGE: Final = json.loads((ROOT / checkcards.SUBMISSIONS[0]).read_text(encoding="utf-8"))
CASES: Final = PACKAGE["positive_cases"] + PACKAGE["negative_cases"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("sample")]


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A directory with the packages, which a test may damage."""
    for file in (checkcards.REGISTRY, *checkcards.SUBMISSIONS):
        (tmp_path / file).parent.mkdir(exist_ok=True)
        (tmp_path / file).write_text((ROOT / file).read_text(encoding="utf-8"), encoding="utf-8")
    return tmp_path


def damage(file: Path, **changes: Any) -> None:
    file.write_text(json.dumps(json.loads(file.read_text(encoding="utf-8")) | changes), encoding="utf-8")


@pytest.mark.slow
def test_the_packages_are_as_directories_want_them(copied: Path, capsys: pytest.CaptureFixture[str], settings: Settings) -> None:
    call_command("checkcards")
    assert capsys.readouterr().out.splitlines() == [f"{part}: no problems" for part in ("cards", "tools", "submissions")]
    damage(copied / "server.json", description="x" * 101)
    settings.BASE_DIR = copied
    with pytest.raises(CommandError):
        call_command("checkcards")
    assert capsys.readouterr().err == "server.json: description: String should have at most 100 characters\n"


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"name": "no slash"}, "name"),
        ({"description": ""}, "description"),
        ({"version": "^1.0.0"}, "one version"),
        ({"remotes": []}, "remotes"),
        ({"remotes": [{"type": "stdio", "url": "http://x.example"}]}, "remotes.0.type"),
        ({"websiteUrl": "chatbotnews.ai"}, "websiteUrl"),
        ({"$schema": None}, "$schema"),
    ],
)
def test_a_field_that_the_registry_refuses_is_named(copied: Path, changes: dict[str, Any], named: str) -> None:
    damage(copied / "server.json", **changes)
    (problem,) = checkcards.check_cards(copied)
    assert problem.startswith("server.json: ")
    assert named in problem


def test_an_address_that_is_not_the_public_one_is_named(settings: Settings) -> None:
    settings.SITE_IS_HTTPS, settings.WIRE_MCP_URL = True, "https://news.example/mcp"
    (problem,) = checkcards.check_cards(ROOT)
    assert "https://news.example/mcp" in problem


def test_pages_and_cases_that_are_missing_are_named(copied: Path) -> None:
    for file in checkcards.SUBMISSIONS:
        damage(copied / file, privacy_page="/no-such-page", terms_page=None, positive_cases=[], negative_cases=[])
    problems = list(checkcards.check_submissions(copied))
    assert len(problems) == 4 * len(checkcards.SUBMISSIONS)
    for words in ("privacy_page: '/no-such-page'", "terms_page: None", "at least 5", "at least 3"):
        assert len([problem for problem in problems if words in problem]) == len(checkcards.SUBMISSIONS)


@pytest.mark.slow
def test_each_case_that_answers_otherwise_is_named(copied: Path) -> None:
    wrong = {
        kind: [case | {"expect": dict.fromkeys(case["expect"], "something else")} for case in PACKAGE[kind]]
        for kind in checkcards.LEAST_CASES
    }
    damage(copied / checkcards.SUBMISSIONS[0], **wrong)
    problems = list(checkcards.check_submissions(copied))
    assert len(problems) == len(CASES)
    for case, problem in zip(CASES, problems, strict=True):
        assert f"{case['prompt']!r} is answered differently in {', '.join(case['expect'])}" in problem
