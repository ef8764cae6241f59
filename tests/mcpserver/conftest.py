"""Fixtures of the MCP door's tests."""

from collections.abc import Iterator

import pytest
from pytest_django import Settings

from tests.threads import close_query_threads


@pytest.fixture(autouse=True)
def no_rate_limit(settings: Settings) -> None:
    """Tests ask more than sixty times a minute; those about the limit set it themselves."""
    settings.WIRE_RATE_LIMIT = "off"


@pytest.fixture(scope="module", autouse=True)
def fresh_connections(close_connections: None) -> None:  # noqa: ARG001
    """None that a test of another room broke: the first question after that would be refused."""
    close_query_threads()


@pytest.fixture(scope="module")
def sample(close_connections: None, sample: None) -> None:
    """The sample wire for all tests of a module; it goes before the query threads' connections are closed."""


@pytest.fixture(scope="session", autouse=True)
def close_connections(django_db_setup: None) -> Iterator[None]:  # noqa: ARG001
    """Lets go of the query threads' connections at the end, so that the test database can be dropped."""
    yield
    close_query_threads()
