"""Fixtures that every test may use."""

import pytest

from tests.factories import publish_sample


@pytest.fixture
def sample_wire(db: None) -> None:  # noqa: ARG001
    """The sample archive, loaded and published."""
    publish_sample()
