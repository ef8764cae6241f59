"""Fixtures that every test may use."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import TransactionTestCase
from django.urls import set_urlconf
from pytest_django import DjangoDbBlocker
from whitenoise.middleware import WhiteNoiseMiddleware

import tests.examples  # noqa: F401  its profile is loaded before any test is
from config.database import routing
from tests import emptying
from tests.factories import publish_sample


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:  # noqa: ARG001
    """Tests that commit are followed by `empty`."""
    with django_db_blocker.unblock():
        emptying.remember(emptying.EMPTY)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TransactionTestCase, "_fixture_teardown", lambda _self: emptying.empty())
        yield


@pytest.fixture(scope="session", autouse=True)
def static_files() -> Iterator[None]:
    """Looked for once: every client of a test is an application of its own, and would look again."""
    found: dict[str, Any] = {}
    look = WhiteNoiseMiddleware.add_files_from_finders

    def once(self: WhiteNoiseMiddleware) -> None:
        if not found:
            look(self)
            found.update(self.files)
        self.files.update(found)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WhiteNoiseMiddleware, "add_files_from_finders", once)
        yield


@pytest.fixture(autouse=True)
def as_at_a_start() -> None:
    """What a test may leave behind in its process: the public door's addresses, which stay until an answer is closed, and that the
    database was away, which stays until somebody looks again.
    """
    set_urlconf(None)
    routing.source.away = ""


@pytest.fixture
def sample_wire(db: None) -> None:  # noqa: ARG001
    """The sample archive, loaded and published."""
    emptying.add(emptying.SAMPLE, publish_sample)


@pytest.fixture(scope="module")
def sample(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:  # noqa: ARG001
    """The sample archive for all tests of a module, which only read it."""
    with django_db_blocker.unblock():
        if not emptying.put_back(emptying.SAMPLE):
            publish_sample()
            emptying.remember(emptying.SAMPLE)
        yield
        emptying.empty()
