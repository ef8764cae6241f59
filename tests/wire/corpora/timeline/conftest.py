"""The small corpus, loaded once for a module's tests, each of which is rolled back."""

from collections.abc import Iterator

import pytest
from pytest_django import DjangoDbBlocker

from tests import emptying
from tests.wire.corpora.timeline.corpora import harbour


@pytest.fixture(scope="module")
def harbour_clock(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:  # noqa: ARG001
    with django_db_blocker.unblock():
        harbour()
        yield
        emptying.empty()
