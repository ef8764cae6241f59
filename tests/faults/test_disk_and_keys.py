"""A full disk, a damaged row, a key that is gone, a clock set back: a clear error, nothing lost or half done; the doors go on."""

import datetime as dt
import resource
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.test import Client

from config.errors import Busy, WireError
from sources import feed_health, job_lock
from sources.models import FeedHealth, IngestLease
from tests.clients.server import environment
from tests.factories import DAY, NOW, entry, publish, story_of, take
from tests.faults.machines import MANAGE, until
from tests.wire.archives import line, ndjson
from tests.wire.installation import install
from wire.models import Snapshot, Story, StoryJson, StoryRevision, WireState
from wire.publishing import signing
from wire.publishing.publish import publish_pending

pytestmark = [pytest.mark.slow, pytest.mark.django_db]

on_sqlite = pytest.mark.skipif(connection.vendor != "sqlite", reason="about SQLite's file")


@pytest.fixture(autouse=True)
def own_keys(settings: Any, tmp_path: Path) -> None:
    settings.WIRE_DATA_DIR = tmp_path / "wire"


@pytest.fixture
def full() -> Iterator[Callable[[], None]]:
    """Lets the database grow no further."""

    def fill() -> None:
        with connection.cursor() as cursor:
            cursor.execute("VACUUM")  # or what other tests freed would do for a while
            cursor.execute("PRAGMA page_count")
            cursor.execute(f"PRAGMA max_page_count = {cursor.fetchone()[0] + 2}")

    yield fill
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA max_page_count = 1073741823")


def many(first: int = 0) -> list[bytes]:
    return [line(number, summary="Much is said. " * 30) for number in range(first, first + 300)]


@on_sqlite
@pytest.mark.django_db(transaction=True)
class TestFullDisk:
    def test_loading_says_so_keeps_what_was_there_and_goes_on_from_there(
        self, full: Callable[[], None], tmp_path: Path, client: Client
    ) -> None:
        publish(entry())
        before = client.get("/api/today.json").content
        archive = ndjson(tmp_path / "much.ndjson", many())
        full()
        with pytest.raises(
            CommandError, match=r"The disk is full: .*Committed data is safe and still served; .*Make room, then run"
        ):
            call_command("loadwire", archive)
        assert client.get("/api/today.json").content == before
        assert Snapshot.objects.count() == 1
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA max_page_count = 1073741823")
        call_command("loadwire", archive, verbosity=0)
        assert Story.objects.live().count() == 301
        assert not Story.objects.pending().exists()
        call_command("verifywire", verbosity=0)

    def test_a_publish_that_does_not_fit_is_none(self, full: Callable[[], None], client: Client) -> None:
        publish(entry())
        take(*(entry(summary="Much is said. " * 30) for _ in range(100)))
        before = client.get("/api/today.json").content, WireState.objects.get().version
        full()
        with pytest.raises(Exception, match="database or disk is full"):
            publish_pending(now=NOW)
        assert (client.get("/api/today.json").content, WireState.objects.get().version) == before
        assert Story.objects.pending().count() == 100
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA max_page_count = 1073741823")
        assert publish_pending(now=NOW)
        assert Story.objects.live().count() == 101

    def test_stories_whose_json_has_no_room_are_served_without_it(self, full: Callable[[], None], client: Client) -> None:
        publish(*(entry(summary="Much is said. " * 30) for _ in range(100)))
        before = client.get("/api/today.json").content
        StoryJson.objects.all().delete()
        full()
        with pytest.raises(CommandError, match=r"The disk is full: .*Make room, then run this again"):
            call_command("renderwire")
        assert client.get("/api/today.json").content == before

    def test_a_dump_that_does_not_fit_leaves_nothing_and_what_was_there_before(self, tmp_path: Path) -> None:
        publish(*(entry(summary="Much is said. " * 30) for _ in range(100)))
        install(tmp_path / "small")
        dump = tmp_path / "dump.ndjson"
        dump.write_text("of yesterday")
        done = limited(tmp_path / "small", 40_000, "dumpwire", dump)
        assert (done.returncode, done.stdout) == (1, "")
        assert done.stderr == "CommandError: The dump was not written: [Errno 27] File too large\n"
        assert dump.read_text() == "of yesterday"
        assert not list(tmp_path.glob(".dump*"))

    def test_a_command_whose_files_may_not_grow_ends_with_one_clear_line(self, tmp_path: Path) -> None:
        install(tmp_path / "small")
        archive = ndjson(tmp_path / "much.ndjson", many())
        done = limited(tmp_path / "small", 500_000, "loadwire", archive)  # the journal reaches it first
        assert done.returncode == 1
        assert "CommandError: The disk " in done.stderr
        assert "run this again: it continues where it stopped." in done.stderr
        assert "Traceback" not in done.stderr


def limited(directory: Path, most: int, *command: object) -> subprocess.CompletedProcess[str]:
    """A command in a process of its own, no file of which grows beyond `most` bytes."""
    return subprocess.run(
        [sys.executable, str(MANAGE), *map(str, command)],
        env=environment(directory, 8000),
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (most, most)),
    )


class TestDamage:
    def test_a_story_whose_kept_json_is_damaged_is_made_anew_and_said_so(
        self, client: Client, caplog: pytest.LogCaptureFixture
    ) -> None:
        made = entry()
        publish(made, entry())
        story = story_of(made)
        addresses = (f"/api/stories/{story.chatbotnews_id}.json", "/api/today.json", f"/api/categories/{story.category}.json")
        before = [client.get(address).content for address in addresses]
        row = StoryJson.objects.get(story=story)
        for place in range(0, len(row.packed), max(1, len(row.packed) // 40)):
            damaged = bytearray(row.packed)
            damaged[place] ^= 0x10
            StoryJson.objects.filter(story=story).update(packed=bytes(damaged))
            assert [client.get(address).content for address in addresses] == before, place
        assert f"Stored JSON of {story.chatbotnews_id} is damaged" in caplog.text
        assert "verifywire" in caplog.text

    def test_a_damaged_snapshot_is_named_and_costs_its_own_day_alone(
        self, client: Client, caplog: pytest.LogCaptureFixture
    ) -> None:
        publish(entry(published_at="2026-01-14T10:00:00Z"))
        publish(entry())
        last = Snapshot.objects.order_by("-sequence")[0]
        damaged = bytearray(last.packed)
        damaged[len(damaged) // 2] ^= 0x10
        Snapshot.objects.filter(pk=last.pk).update(packed=bytes(damaged))
        client.raise_request_exception = False
        answer = client.get("/api/today.json")
        assert (answer.status_code, answer.json()["error"]) == (500, "damaged")
        assert "Other days are not affected" in answer.json()["hint"]
        assert client.get("/").status_code == 500
        assert f"Snapshot {last.sequence} ({last}) is damaged" in caplog.text
        assert "Run manage.py verifywire, then restore a backup." in caplog.text
        for address in ("/api/archive/2026-01-14.json", "/api/search.json?query=robot", "/day/2026-01-14", "/topic/openai"):
            assert client.get(address).status_code == 200
        take(entry())
        with pytest.raises(WireError, match="is damaged"):
            publish_pending(now=NOW)
        assert Snapshot.objects.count() == 2
        assert Story.objects.pending().count() == 1
        with pytest.raises(CommandError, match=r"snapshot 2 \(2026-01-15 r1\): its bytes cannot be read"):
            call_command("verifywire")

    def test_a_damaged_revision_is_named_and_does_not_stop_the_doors(
        self, client: Client, capsys: pytest.CaptureFixture[str]
    ) -> None:
        made = entry()
        publish(made)
        before = client.get("/api/today.json").content
        revision = StoryRevision.objects.get()
        damaged = chr(ord(revision.headline[0]) ^ 1) + revision.headline[1:]
        StoryRevision.objects.update(headline=damaged)
        with pytest.raises(CommandError) as told:
            call_command("verifywire")
        assert story_of(made).chatbotnews_id in str(told.value) + "".join(capsys.readouterr())
        assert client.get("/api/today.json").content == before


def spoil(how: str) -> bytes:
    file = signing.key_file()
    was = file.read_bytes()
    match how:
        case "gone":
            file.unlink()
        case "empty":
            file.write_bytes(b"")
        case "garbage":
            file.write_bytes(was[:40] + b"garbage" + was[47:])
        case "directory":
            file.unlink()
            file.mkdir()
    return was


@pytest.mark.parametrize("how", ["gone", "empty", "garbage", "directory"])
def test_nothing_is_published_until_it_is_back_and_then_all_of_it(how: str, client: Client) -> None:
    publish(entry())
    key, before = signing.get_key_in_force(), client.get("/api/today.json").content
    take(entry())
    was = spoil(how)
    with pytest.raises(WireError, match=r"The signing key .*Nothing was signed or published") as told:
        publish_pending(now=NOW)
    assert "from a backup" in told.value.hint
    assert (client.get("/api/today.json").content, Snapshot.objects.count(), Story.objects.pending().count()) == (before, 1, 1)
    if how == "directory":
        signing.key_file().rmdir()
    signing.key_file().write_bytes(was)
    (snapshot,) = publish_pending(now=NOW)
    assert snapshot.key_id == key


def test_without_a_backup_another_one_is_put_in_force() -> None:
    publish(entry())
    take(entry())
    spoil("gone")
    rotated = signing.rotate_key()
    (snapshot,) = publish_pending(now=NOW)
    assert snapshot.key_id == rotated.key_id


class TestClock:
    def test_what_is_published_with_a_clock_set_back_is_in_order_and_said_so(
        self, client: Client, caplog: pytest.LogCaptureFixture
    ) -> None:
        publish(entry())
        publish(entry(), now=NOW - dt.timedelta(hours=1))
        assert (
            "The clock says 2026-01-16 11:00:00+00:00, earlier than the newest snapshot (2026-01-16 12:00:00+00:00)" in caplog.text
        )
        assert len(client.get(f"/api/archive/{DAY}.json").json()["stories"]) == 2
        call_command("verifywire", verbosity=0)

    def test_who_waited_for_a_turn_publishes_no_earlier_than_whoever_went_before(self, caplog: pytest.LogCaptureFixture) -> None:
        (first,) = publish(entry())
        (second,) = publish(entry(), now=NOW - dt.timedelta(seconds=30))
        assert second.generated_at == first.generated_at
        assert "The clock says" not in caplog.text

    def test_a_lease_of_the_future_holds_nobody_up(self) -> None:
        now = dt.datetime.now(dt.UTC)
        IngestLease.objects.update_or_create(pk=1, defaults={"holder": "elsewhere x y/1/ab", "expires_at": now + job_lock.TERM / 2})
        with pytest.raises(Busy), job_lock.acquire():
            pass
        IngestLease.objects.update(expires_at=now + dt.timedelta(days=1))
        with job_lock.acquire() as held:
            held.renew()

    def test_a_feed_that_was_asked_in_the_future_is_due(self) -> None:
        waiting = FeedHealth(tried_at=NOW, next_try_at=NOW + dt.timedelta(hours=5))
        assert not feed_health.is_due(waiting, NOW)
        assert feed_health.is_due(waiting, NOW - dt.timedelta(days=1))


@on_sqlite
def test_ingest_waits_for_a_database_that_is_gone_and_makes_none(tmp_path: Path) -> None:
    file = install(tmp_path)
    with closing(sqlite3.connect(file)) as database:
        database.execute("UPDATE sources_feed SET active = 0")
        database.commit()
    away = file.rename(file.with_name("away"))
    command = [sys.executable, str(MANAGE), "ingest", "--every", "1h"]
    with (tmp_path / "said").open("w") as said:
        ingest = subprocess.Popen(command, env=environment(tmp_path, 8000), stdout=said, stderr=subprocess.STDOUT)
        try:
            until(lambda: "Nothing is fetched until it is back." in (tmp_path / "said").read_text())
            assert not file.exists()
            away.rename(file)
            until(lambda: "Feeds: " in (tmp_path / "said").read_text())
        finally:
            ingest.terminate()
            ingest.wait(15)


@on_sqlite
@pytest.mark.parametrize("command", ["ingest", "dumpwire", "renderwire", "verifywire"])
def test_a_command_without_its_database_says_so_and_makes_none(command: str, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=r"The database is gone: there is no file .*Restore a backup"):
        with_database_moved(tmp_path, lambda: call_command(command))


def with_database_moved(to: Path, do: Callable[[], object]) -> None:
    """Do it as if the database stood there, where there is none."""
    there = connection.settings_dict["NAME"]
    connection.settings_dict["NAME"] = to / "wire.sqlite3"
    try:
        do()
    finally:
        connection.settings_dict["NAME"] = there
        assert not (to / "wire.sqlite3").exists()
