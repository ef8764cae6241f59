"""Fixtures that every test may use."""

import pytest
from hypothesis import settings

from tests.factories import publish_sample

settings.register_profile("wire", deadline=None)  # a busy machine is no defect
settings.load_profile("wire")


@pytest.fixture
def sample_wire(db: None) -> None:  # noqa: ARG001
    """The sample archive, loaded and published."""
    publish_sample()
