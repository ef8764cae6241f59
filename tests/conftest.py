"""Fixtures that every test may use."""

from pathlib import Path

import pytest

from tests.factories import NOW
from wire.archive.load import load_items
from wire.publish import publish_pending

SAMPLE = Path(__file__).parent.parent / "fixtures" / "sample"


@pytest.fixture
def sample_wire(db: None) -> None:  # noqa: ARG001
    """The sample archive, loaded and published."""
    for file in sorted(SAMPLE.glob("*.ndjson")):
        load_items(file, {})
    publish_pending(now=NOW.replace(year=2026, month=10, day=16))
