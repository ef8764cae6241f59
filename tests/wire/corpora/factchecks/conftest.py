from pathlib import Path

import pytest
from pytest_django import Settings

from tests import claims
from tests.wire.desk import run_at_once
from wire.admin import commands


@pytest.fixture(autouse=True)
def forgotten() -> None:
    """What searches hold of an index is of the test before: numbers and versions come again."""
    claims.forget()


@pytest.fixture(autouse=True)
def loads_at_once(monkeypatch: pytest.MonkeyPatch, settings: Settings, tmp_path: Path) -> None:
    """Uploads at the desk are loaded in the test's own process, from a folder of its own."""
    settings.WIRE_DATA_DIR = tmp_path / "wire"
    monkeypatch.setattr(commands, "run_process", run_at_once)
