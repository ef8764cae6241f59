"""One server for the tests of a module; each starts without routes and without a past."""

from collections.abc import Iterator

import pytest

from tests.feedserver import FeedServer


@pytest.fixture(scope="module")
def listening() -> Iterator[FeedServer]:
    with FeedServer() as server:
        yield server


@pytest.fixture
def server(listening: FeedServer) -> FeedServer:
    listening.forget()
    return listening
