"""Fixtures that every test may use."""

from collections.abc import Iterator

import pytest
from django.test import TransactionTestCase
from pytest_django import DjangoDbBlocker

import tests.examples  # noqa: F401  its profile is loaded before any test is
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


@pytest.fixture
def sample_wire(db: None) -> None:  # noqa: ARG001
    """The sample archive, loaded and published."""
    emptying.add(emptying.SAMPLE, publish_sample)
