"""SQLite: whatever publishes a snapshot commits it so that a power cut cannot take it back, in a command as at the desk."""

import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper

from sources.models import Publication
from tests.factories import entry, publish
from tests.feedserver import FeedServer
from tests.wire.admin.test_desk_replacement import PAGE, answers, proposal
from tests.wire.archives import dump, empty_wire, line, loadwire, ndjson
from tests.wire.desk import at_desk, story_form
from tests.wire.ingesting import feed_at, item, rss, run
from wire.ingest import corrections
from wire.models import Snapshot, Story

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(connection.vendor != "sqlite", reason="Postgres waits for its disk by itself"),
]

FULL = 2  # of PRAGMA synchronous: each commit waits until the disk has it


@pytest.fixture
def commits(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """`PRAGMA synchronous` of each commit from now on that adds to the chain."""
    levels: list[int] = []
    commit = BaseDatabaseWrapper._commit  # type: ignore[attr-defined]
    last = Snapshot.objects.count()

    def watch_commit(self: Any) -> None:
        nonlocal last
        (number,) = self.connection.execute("SELECT count(*) FROM wire_snapshot").fetchone()
        if number > last:
            levels.extend(self.connection.execute("PRAGMA synchronous").fetchone())
        last = number
        commit(self)

    monkeypatch.setattr(BaseDatabaseWrapper, "_commit", watch_commit)
    return levels


def newest_story() -> Story:
    return Story.objects.live().newest_first().select_related("current")[0]


def desk_replaces() -> None:
    desk = at_desk("publisher")
    assert desk.post(PAGE, answers(confirmed=proposal(desk))).status_code == 302
    assert not Publication.objects.get(slug="fortune").active


def desk_corrects() -> None:
    form = story_form(newest_story(), headline="Right", reason="It was wrong.")
    assert at_desk("editor").post(f"/admin/wire/story/{newest_story().pk}/change/", form).status_code == 302


@pytest.mark.slow
@pytest.mark.parametrize(
    "change",
    [
        lambda: corrections.correct_texts(newest_story().chatbotnews_id, headline="Right", reason="Wrong."),
        desk_corrects,
        desk_replaces,
        lambda: publish(entry()),
    ],
)
def test_a_change_of_what_is_published_survives_a_power_cut(change: Callable[[], object], commits: list[int]) -> None:
    """The level is set for each connection, so one path each of a command, the desk, ingest and a load stands for all."""
    today = dt.datetime.now(dt.UTC)
    publish(entry(published_at=today), entry(title="Mistral raises a round", publisher="Reuters", published_at=today), now=today)
    commits.clear()
    change()
    assert commits
    assert set(commits) == {FULL}


def test_what_ingest_publishes_survives_a_power_cut(commits: list[int], server: FeedServer) -> None:
    server.route("/feed.xml", body=rss(item(1), item(2)))
    run(feed_at(server.url("/feed.xml")))
    assert set(commits) == {FULL}


def test_what_loadwire_publishes_survives_a_power_cut(commits: list[int], tmp_path: Path) -> None:
    loadwire(ndjson(tmp_path / "items.ndjson", [line(1), line(2)]))
    assert set(commits) == {FULL}


def test_a_dump_that_was_restored_survives_a_power_cut(commits: list[int], tmp_path: Path) -> None:
    publish(entry())
    dump(tmp_path / "wire.ndjson")
    empty_wire()
    commits.clear()
    loadwire(tmp_path / "wire.ndjson")
    assert commits == [FULL]
