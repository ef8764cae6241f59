"""manage.py timeline: what it says, and with which status it ends."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from tests.wire.corpora.timeline.corpora import FIXTURE, SLUG, changed, harbour, row
from wire.corpora.timeline import store
from wire.corpora.timeline.corpus_config import KINDS
from wire.corpora.timeline.models import Corpus, Report

pytestmark = pytest.mark.django_db


def said(*arguments: object) -> str:
    out = io.StringIO()
    call_command("timeline", *map(str, arguments), stdout=out)
    return out.getvalue()


def refused(*arguments: object) -> tuple[str, CommandError]:
    err = io.StringIO()
    with pytest.raises(CommandError) as error:
        call_command("timeline", *map(str, arguments), stdout=io.StringIO(), stderr=err)
    return err.getvalue(), error.value


def retitled(content: Any) -> None:
    row(content, "reports", "hc-3")["title"] = "Of the file"


def test_checking_says_how_many_rows_there_are() -> None:
    assert said("check", FIXTURE).startswith("harbour-clock keeps every rule: 3 sources, 3 motifs")
    assert not Corpus.objects.exists()


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_new_corpus_of_any_kind_keeps_every_rule_and_is_written_once(tmp_path: Path, kind: str) -> None:
    directory = tmp_path / "first-try"
    assert said("new", directory, "--kind", kind).startswith("first-try is in ")
    assert said("check", directory).startswith("first-try keeps every rule: 2 sources, 1 motifs")
    assert "has files already" in str(refused("new", directory)[1])


@pytest.mark.parametrize(
    ("name", "slug"), [("tide_marks", "tide-marks"), ("corpora", "corpus"), ("_", "corpus"), ("a" * 50, "a" * 40)]
)
def test_a_new_corpus_keeps_every_rule_in_a_directory_of_any_name(tmp_path: Path, name: str, slug: str) -> None:
    assert said("new", tmp_path / name).startswith(f"{slug} is in ")
    assert said("check", tmp_path / name).startswith(f"{slug} keeps every rule")


def test_what_is_wrong_is_told_line_by_line(tmp_path: Path) -> None:
    directory = changed(tmp_path, reports=lambda content: row(content, "reports", "hc-3").update(stance="loud"))
    problems, error = refused("load", directory)
    assert problems.startswith("reports.json:")
    assert "report hc-3: stance" in problems
    assert str(error) == "1 problem. Nothing was changed."


def test_loading_dumping_and_verifying(tmp_path: Path) -> None:
    assert said("load", FIXTURE, "--note", "The first.").startswith("harbour-clock release 1: ")
    assert said("load", FIXTURE) == "Timeline corpus harbour-clock: nothing new; its newest release is 1.\n"
    assert said("dump", SLUG, tmp_path / "dump") == f"harbour-clock release 1: 8 files in {tmp_path / 'dump'}.\n"
    assert said("verify", "--from-files", tmp_path / "dump").endswith("is as it was released.\n")
    assert said("verify") == "harbour-clock: releases checked: 1, each as it was signed.\n"
    assert said("list") == "harbour-clock\trelease 1\tThe harbour clock\n"
    Report.objects.filter(key="hc-1").delete()
    faults, error = refused("verify", SLUG)
    assert "harbour-clock: Release 1: its rows do not match its hash." in faults
    assert str(error) == "1 fault."


def test_comparing_releases_files_and_the_draft(tmp_path: Path) -> None:
    corpus = harbour()
    directory = changed(tmp_path, reports=retitled)
    assert said("compare", SLUG, 1, directory) == "reports hc-3 changed: title\nharbour-clock: 1 changed.\n"
    said("load", directory)
    assert "reports hc-3 changed: title" in said("compare", SLUG, 1, 2)
    assert said("compare", SLUG, 2, "draft") == "harbour-clock: no difference.\n"
    store.update_draft_rows(
        corpus, "reports", [(None, Report.objects.draft(corpus.pk).get(key="hc-3").row | {"title": "Of the desk"})], set()
    )
    _, error = refused("load", FIXTURE)
    assert error.returncode == 75


def test_what_there_is_not_is_told() -> None:
    assert "There is no corpus 'x'" in str(refused("dump", "x", "/tmp/x")[1])  # noqa: S108
    harbour()
    assert "has no release 7" in str(refused("dump", SLUG, "/tmp/x", "--as-of", 7)[1])  # noqa: S108
    assert "reports.json: is missing" in refused("check", "/nonexistent")[0]


def test_a_name_is_read_from_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("Mira Quellmann\n"))
    told = said("name")
    assert told.startswith('{"words":2,"hmac":"')
    assert "mira" not in told.lower()
