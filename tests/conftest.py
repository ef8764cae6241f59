"""Fixtures that every test may use."""

import datetime as dt
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import pytest_django.fixtures
from django.test import TransactionTestCase
from django.urls import set_urlconf
from pytest_django import DjangoDbBlocker
from whitenoise.middleware import WhiteNoiseMiddleware

import tests.examples  # noqa: F401  its profile is loaded before any test is
from config.database import routing
from tests import emptying
from tests.factories import publish_sample

DIFFERS_BY_DATABASE = (
    "clients/test_conformance.py",
    "config/http/test_hostile_texts.py",
    "faults/test_",
    "mcpserver/gateway/test_admin.py",
    "mcpserver/gateway/test_clock_steps.py",
    "mcpserver/gateway/test_heartbeat_verification.py",
    "mcpserver/test_posing_texts.py",
    "mcpserver/test_search_documents.py",
    "mcpserver/test_streams.py",
    "mcpserver/test_two_servers.py",
    "mcpserver/test_usage.py",
    "security/test_bounded_text.py",
    "sources/test_health.py",
    "sources/test_roster.py",
    "test_library_faults.py",
    "test_two_workers.py",
    "wire/admin/test_desk_lexicon.py",
    "wire/admin/test_desk_review_queues.py",
    "wire/admin/test_desk_upload_cost.py",
    "wire/changes/",
    "wire/corpora/articles/test_live_fetch.py",
    "wire/corpora/articles/test_payment_migration.py",
    "wire/corpora/articles/test_search.py",
    "wire/corpora/factchecks/test_load_jobs.py",
    "wire/corpora/factchecks/test_search.py",
    "wire/corpora/factchecks/test_store.py",
    "wire/corpora/factchecks/test_vector_store.py",
    "wire/corpora/timeline/test_releases.py",
    "wire/corpora/timeline/test_search.py",
    "wire/ingest/test_twin_stories.py",
    "wire/ingest/test_ingest.py",
    "wire/ingest/test_rebuild.py",
    "wire/ops/archive/test_dump.py",
    "wire/ops/archive/test_dump_any_wire.py",
    "wire/ops/archive/test_loadwire.py",
    "wire/ops/archive/test_loadwire_any_input.py",
    "wire/ops/archive/test_sealed_rows.py",
    "wire/ops/backup/",
    "wire/ops/doctor/",
    "wire/publishing/test_concurrency.py",
    "wire/publishing/test_durable.py",
    "wire/publishing/test_events.py",
    "wire/publishing/test_storylines.py",
    "wire/queries/test_as_of.py",
    "wire/queries/test_list_stories.py",
    "wire/search/",
    "wire/site/test_metrics.py",
)
"""Under tests/: what they test is done by SQL of one database, by locks, or by how a column orders, compares and holds values."""


SHARE = int(os.environ.get("SHARE") or 1)
"""Of so many parts of the slow tests, each whole files, the one of this day is run: .ci/run takes halves, `make test-slow` all."""
os.environ.setdefault("SHARE_DAY", str(dt.datetime.now(dt.UTC).toordinal()))  # the same in all workers, also at midnight


# It finds by marks which databases to make. Tests that start processes have none: they copy the file and never ask it themselves.
pytest_django.fixtures._get_databases_for_setup = lambda _tests: ({"default"}, set())  # type: ignore[assignment]


@pytest.hookimpl(tryfirst=True)  # before -m chooses
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    others = set[pytest.Item]()
    for item in items:
        file = item.path.relative_to(Path(__file__).parent).as_posix()
        if file.startswith(DIFFERS_BY_DATABASE) and (item.get_closest_marker("django_db") or item.get_closest_marker("clients")):
            item.add_marker("databases")
        if item.get_closest_marker("slow") and (zlib.crc32(file.encode()) + int(os.environ["SHARE_DAY"])) % SHARE:
            others.add(item)
    if others:
        config.hook.pytest_deselected(items=list(others))
        items[:] = [item for item in items if item not in others]


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
