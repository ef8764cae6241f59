"""Writers at once take turns; readers of a whole wire hold nobody up and see one moment of it."""

import datetime as dt
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, connections, transaction

from tests.factories import DAY, NOW, entry, publish, story_of, take
from tests.wire.archives import dump, line, loadwire, ndjson, verifywire
from tests.wire.desk import at_desk, story_form, words
from wire.ingest import corrections
from wire.models import Load, Snapshot, Story, StoryRevision, WireState
from wire.ops.archive.dump import read_consistently, read_wire_records
from wire.ops.archive.verify import verify_dump
from wire.publishing.grouping import event_store
from wire.publishing.publish import publish_day as publish_day
from wire.publishing.publish import publish_pending

pytestmark = pytest.mark.django_db(transaction=True)


@contextmanager
def workers(number: int) -> Iterator[Callable[..., Any]]:
    """Runs a call in a thread with database connections of its own."""

    def alone(call: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return call(*arguments)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(number) as pool:
        yield lambda call, *arguments: pool.submit(alone, call, *arguments)


def at_once(calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Return the results of calls that begin in the same moment."""
    start = threading.Barrier(len(calls))

    def begin(call: Callable[[], Any]) -> Any:
        start.wait(timeout=20)
        return call()

    connection.close()  # a pool has eight, and each of eight calls needs one of its own
    with workers(len(calls)) as submit:
        return [future.result(timeout=60) for future in [submit(begin, call) for call in calls]]


def unbroken() -> int:
    """Snapshots in one chain that verifies."""
    chain = list(Snapshot.objects.order_by("sequence"))
    assert [snapshot.sequence for snapshot in chain] == list(range(1, len(chain) + 1))
    assert all(new.previous_sha256 == old.wire_sha256 for old, new in pairwise(chain))
    verifywire()
    return len(chain)


@pytest.mark.slow
def test_eight_publishers_of_the_same_ten_days_make_ten_snapshots() -> None:
    days = [DAY - dt.timedelta(days=n) for n in range(10)]
    news = "Quince Robotics buys Lantern Labs for $90 million"
    take(*(entry(published_at=f"{day}T10:00:00Z") for day in days for _ in range(3)))
    take(
        *(entry(published_at=f"{day}T11:00:00Z", title=news, publisher="Wired", url=f"https://wired.com/{day}") for day in days[:3])
    )
    for day in reversed(days):
        event_store.group_day(day)  # an event that grew while its days come out would publish some of them twice

    def publisher(seed: int) -> list[dt.date]:
        mine = random.Random(seed).sample(days, len(days))
        return [day for day in mine if publish_day(day, now=NOW + dt.timedelta(days=30))]

    made = at_once([lambda seed=seed: publisher(seed) for seed in range(8)])  # type: ignore[misc]
    assert sorted(day for days_of_one in made for day in days_of_one) == sorted(days)
    assert unbroken() == 10
    assert not Story.objects.pending().exists()
    assert len({story.event_id for story in Story.objects.filter(current__headline=news)}) == 1


@pytest.mark.slow
def test_publishers_of_all_that_waits_publish_it_once() -> None:
    take(*(entry(published_at=f"2026-01-{day}T10:00:00Z") for day in range(10, 16) for _ in range(2)))
    made = at_once([lambda: publish_pending(now=NOW)] * 4)
    assert sum(map(len, made)) == unbroken() == 6


@pytest.mark.slow
def test_grouping_waits_for_whoever_writes() -> None:
    take(entry())
    with workers(1) as submit:
        with transaction.atomic():
            WireState.lock()
            waiting = submit(lambda: publish_pending(now=NOW))
            time.sleep(0.3)
            assert not waiting.done()
            assert Story.objects.filter(event=None).count() == 1
        assert len(waiting.result(timeout=30)) == 1


@pytest.mark.slow
def test_a_form_that_waits_for_whoever_corrects_the_story_is_refused() -> None:
    publish(made := entry(title="Quince ships"))
    story = story_of(made)
    desk, form = at_desk("editor"), story_form(story, headline="Quince shipped", reason="Tense.")
    with workers(1) as submit:
        with transaction.atomic():
            WireState.lock()
            waiting = submit(desk.post, f"/admin/wire/story/{story.pk}/change/", form)
            time.sleep(0.5)  # long enough for Postgres to have read the revision that the form is of
            assert not waiting.done()
            corrections.correct_texts(story.chatbotnews_id, headline="Quince sails", reason="It is a ship.")
        waiting.result(timeout=30)
    assert [row.headline for row in story.revisions.all()] == ["Quince ships", "Quince sails"]


@pytest.mark.slow
def test_of_two_editors_who_save_one_story_at_once_one_is_refused() -> None:
    publish(made := entry(title="Quince ships"))
    story = story_of(made)
    forms = [story_form(story, headline=f"Quince ships {word}", reason=f"It said {word}.") for word in ("early", "late")]
    desks = [at_desk("editor"), at_desk("editor", "publisher")]
    calls = [
        partial(desk.post, f"/admin/wire/story/{story.pk}/change/", form, follow=True)
        for desk, form in zip(desks, forms, strict=True)
    ]
    told = [words(answer) for answer in at_once(calls)]
    assert sum("Somebody else saved this meanwhile" in shown for shown in told) == 1
    assert story.revisions.count() == 2


@pytest.mark.slow
def test_two_loads_of_one_file_at_once_double_nothing(tmp_path: Path) -> None:
    lines = [line(n, published_at=f"2026-01-{10 + n % 5}T10:00:00Z") for n in range(700)]
    lines += [line(3, title="Another headline", published_at="2026-01-13T10:00:00Z"), b"{"]
    file = ndjson(tmp_path / "a.ndjson", lines)
    reports = at_once([lambda: loadwire(file)] * 2)
    total: Counter[str] = sum((Counter(report) for report in reports), Counter())
    if total["accepted"] == 1200:  # the second began behind the first batch of the other, and goes on with its counts
        total.update({"accepted": -500, "duplicate": 500})
    assert total == {"accepted": 700, "revised": 1, "duplicate": 701, "rejected:invalid_json": 2, "snapshots published": 5}
    assert (Story.objects.count(), StoryRevision.objects.count(), Load.objects.count()) == (700, 701, 0)
    assert unbroken() == 5


def test_two_restores_of_one_dump_at_once_restore_it_once(rich_dump: bytes, tmp_path: Path) -> None:
    (tmp_path / "dump.ndjson").write_bytes(rich_dump)
    reports = at_once([lambda: loadwire(tmp_path / "dump.ndjson")] * 2)
    assert sorted("duplicate" in report for report in reports) == [False, True]
    assert dump(tmp_path / "again.ndjson") == rich_dump


@pytest.mark.slow
def test_a_dump_is_of_one_moment_and_holds_no_writer_up() -> None:
    publish(*(entry() for _ in range(5)))
    with workers(1) as submit:
        with read_consistently():
            reading = read_wire_records()
            found = [next(reading)]
            published = submit(lambda: publish(entry(), entry(published_at="2026-01-14T10:00:00Z"))).result(timeout=10)
            found += reading
        assert len(published) == 2
    assert verify_dump(found).counts["story"] == 5
    assert unbroken() == 3


@pytest.mark.slow
def test_a_wire_that_goes_on_while_it_is_verified_verifies() -> None:
    publish(entry())
    published: list[Snapshot] = []
    with workers(1) as submit:

        def publish_between(execute: Callable[..., Any], sql: str, *rest: Any) -> Any:
            """Behind the reading of the stories, before that of the snapshots."""
            if 'FROM "wire_snapshot"' in sql and not published:
                published.extend(submit(lambda: publish(entry())).result(timeout=10))
            return execute(sql, *rest)

        with connection.execute_wrapper(publish_between):
            assert "1 snapshots, 1 stories" in verifywire()
    assert published
    assert unbroken() == 2
