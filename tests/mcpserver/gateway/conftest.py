"""Fixtures of the gateway's tests."""

from collections.abc import Iterator

import pytest

from tests.mcpserver.gateway.stage import Stage, close_thread


@pytest.fixture
def stage(transactional_db: None) -> Iterator[Stage]:  # noqa: ARG001
    made = Stage()
    yield made
    made.close()


@pytest.fixture(scope="session", autouse=True)
def close_connections(django_db_setup: None) -> Iterator[None]:  # noqa: ARG001
    """Lets go of the thread's connection at the end, so that the test database can be dropped."""
    yield
    close_thread()
