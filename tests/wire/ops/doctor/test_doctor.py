"""The doctor names what is wrong, says what to do, and goes on with the rest."""

import datetime as dt
import io
import json
import os
import re
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.test import override_settings

from config import key_files
from sources.models import Feed, FeedHealth, Publication
from tests.factories import entry, publish
from tests.wire.corpora.timeline.corpora import changed
from tests.wire.installation import install, manage
from wire.corpora.timeline import omitted_names
from wire.corpora.timeline.corpus_config import LeftOutName
from wire.corpora.timeline.load import load_directory
from wire.models import SearchDocument, Snapshot, StoryJson, StoryRevision, WireState
from wire.ops.doctor import Finding, Level, checks, run_checks
from wire.publishing import signing

pytestmark = pytest.mark.django_db

NOW = dt.datetime(2026, 1, 16, 12, 30, tzinfo=dt.UTC)  # half an hour after the tests' publishes
sqlite_only = pytest.mark.skipif(connection.vendor != "sqlite", reason="about SQLite's own index, modes and file")


@pytest.fixture(autouse=True)
def wire(settings: Any, tmp_path: Path) -> Path:
    """A wire in good health, with keys of its own."""
    settings.WIRE_DATA_DIR = tmp_path / "wire"
    settings.SECRET_KEY = "quince marmalade, orange peel and a little of everything else"
    settings.WIRE_INGEST = dt.timedelta(minutes=30)
    publish(entry(), entry())
    just_now = NOW - dt.timedelta(minutes=5)
    well = {"tried_at": just_now, "succeeded_at": just_now, "newest_item_at": just_now}
    FeedHealth.objects.bulk_create(FeedHealth(feed=feed, **well) for feed in Feed.objects.all())
    return tmp_path / "wire"


def examined(now: dt.datetime = NOW) -> dict[str, Finding]:
    """The worst finding of each check that is not ok."""
    return {finding.name: finding for finding in run_checks(now) if finding.level != Level.OK}


def test_a_wire_in_good_health_has_nothing_to_do() -> None:
    findings = list(run_checks(NOW))
    assert {finding.level for finding in findings} == {Level.OK}
    assert not any(finding.advice for finding in findings)
    names = "settings, secret key, key file, disk, migrations, database, search, vectors, roster, signing key, chain, stories, "
    names += "clock, addresses, feeds, hub, fact-checks"
    assert ", ".join(finding.name for finding in findings) == names
    FeedHealth.objects.filter(feed__publication__slug="wired").update(failures=1, failure="Gone.")  # once is nothing yet
    [said] = [finding for finding in run_checks(NOW) if finding.name == "feeds"]
    assert re.match(r"ok feeds: (\d+) of (\d+) answer; last tried", str(said))
    signing.rotate_key(NOW)
    assert examined() == {}


def test_each_check_is_a_line_or_json_and_a_failure_ends_with_exit_code_1() -> None:
    Snapshot.objects.update(generated_at=NOW)
    FeedHealth.objects.update(tried_at=dt.datetime.now(dt.UTC))
    out = io.StringIO()
    call_command("doctor", "--json", stdout=out)
    told = json.loads(out.getvalue())
    assert told["ok"] is True
    assert set(told["checks"][0]) == {"name", "level", "found", "advice"}
    signing.key_file().chmod(0o644)
    out = io.StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", stdout=out)
    assert ended.value.code == 1
    lines = out.getvalue().splitlines()
    assert [line.split(" ", 1)[0] in set(Level) for line in lines] == [True] * len(lines)
    assert f"chmod 600 {signing.key_file()}" in next(line for line in lines if line.startswith("FAIL key file"))


SETTINGS: dict[str, tuple[dict[str, Any], Level, str]] = {
    "tracebacks on a public site": ({"DEBUG": True, "WIRE_SITE_URL": "https://wire.example"}, Level.FAIL, "DEBUG=1"),
    "tracebacks for the network": ({"DEBUG": True, "HOST": "0.0.0.0"}, Level.FAIL, "DEBUG=1"),  # noqa: S104
    "passwords in clear": ({"HOST": "0.0.0.0"}, Level.WARN, "passwords travel unencrypted"),  # noqa: S104
    "a default secret": ({"SECRET_KEY": "django-insecure-" + "quince marmalade" * 4}, Level.FAIL, "SECRET_KEY"),
    "a short secret": ({"SECRET_KEY": "quince"}, Level.FAIL, "SECRET_KEY"),
    "a door in clear": (
        {"WIRE_SITE_URL": "https://wire.example", "WIRE_MCP_URL": "http://wire.example/mcp"},
        Level.WARN,
        "WIRE_MCP_URL=https",
    ),
    "a short token": ({"WIRE_METRICS_TOKEN": "quince"}, Level.WARN, "WIRE_METRICS_TOKEN"),
    "no limit": ({"WIRE_SITE_URL": "https://a.b", "WIRE_MCP_URL": "https://a.b/mcp", "WIRE_RATE_LIMIT": "off"}, Level.WARN, "RATE"),
}


@pytest.mark.slow
def test_settings_that_contradict_each_other_are_named(tmp_path: Path) -> None:
    for name, (values, level, said) in SETTINGS.items():
        with override_settings(**values):
            found = [finding for finding in run_checks(NOW) if finding.name == "settings"]
        assert any(finding.level == level and said in str(finding) for finding in found), name
    with override_settings(WIRE_DATA_DIR=tmp_path / "nowhere"):
        assert "cannot be read" in str(examined()["disk"])


def test_a_misspelt_setting_and_a_redis_that_is_away_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WIRE_SITE_ULR", "https://wire.example")
    monkeypatch.setenv("WIRE_URL", "https://wire.example")  # which the examples read
    with socket.socket() as nobody, override_settings(REDIS_URL=f"redis://127.0.0.1:{find_free_port(nobody)}/0"):
        found = examined()
    assert set(found) == {"settings", "Redis"}
    assert "WIRE_SITE_ULR is not a setting and has no effect. Did you mean WIRE_SITE_URL?" in str(found["settings"])
    assert found["Redis"].found.startswith("It does not answer: ")


def find_free_port(bound: socket.socket) -> int:
    """Return a port at which nobody listens while the socket is open."""
    bound.bind(("127.0.0.1", 0))
    port: int = bound.getsockname()[1]
    return port


def _drop_a_trigger() -> None:
    with connection.cursor() as cursor:
        cursor.execute("DROP TRIGGER wire_searchindex_insert")


def _publish_unseen_by_the_index() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT sql FROM sqlite_master WHERE name = 'wire_searchindex_insert'")
        trigger = cursor.fetchone()[0]
        cursor.execute("DROP TRIGGER wire_searchindex_insert")
        publish(entry())
        cursor.execute(trigger)
    Snapshot.objects.update(generated_at=NOW)


def _damage_an_older_day() -> None:
    publish(entry())
    Snapshot.objects.filter(revision=1).update(packed=b"garbage")


def _put_another_key() -> None:
    signing.key_file().unlink()
    key_files.load_or_create_key(signing.key_file())


def _put_an_rsa_key() -> None:
    pem, pkcs8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
    made = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    signing.key_file().write_bytes(made.private_bytes(pem, pkcs8, serialization.NoEncryption()))


def _put_a_retired_key_back() -> None:
    old = signing.key_file().read_bytes()
    signing.rotate_key(NOW)
    signing.key_file().write_bytes(old)


def _share_the_secret() -> None:
    file = signing.key_file().with_name("secret_key")
    file.write_text("quince")
    file.chmod(0o640)


def _share_another_key() -> None:
    file = signing.key_file().with_name("timeline_names")
    file.write_text("quince")
    file.chmod(0o644)


def _leave_a_name_out_and_lose_its_key() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        name = omitted_names.hash_name("Ada Quill").model_dump()
        load_directory(changed(Path(scratch), corpus=lambda content: content.update(left_out_names=[name])))
    omitted_names.key_file().unlink()
    assert not list(omitted_names.find_names(["by", "ada", "quill"], [LeftOutName(**name)]))  # which makes no other key


def feeds(**changes: Any) -> Callable[[], object]:
    return lambda: FeedHealth.objects.update(**changes)


def snapshot(**changes: Any) -> Callable[[], object]:
    return lambda: Snapshot.objects.update(**changes)


HOUR = dt.timedelta(hours=1)
LONG_AGO = NOW - dt.timedelta(days=3)
BROKEN: dict[str, tuple[Callable[[], object], str]] = {
    "a trigger dropped": (_drop_a_trigger, "FAIL search: .*one of its triggers is missing"),
    "a story unseen by the index": (_publish_unseen_by_the_index, "FAIL search: The index holds 2 of 3 documents"),
    "documents lost": (lambda: SearchDocument.objects.all().delete(), "FAIL search: 2 stories are live, but 0 can be found"),
    "a migration undone": (
        lambda: MigrationRecorder(connection).record_unapplied(*MigrationLoader(connection).graph.leaf_nodes("wire")[0]),
        "FAIL migrations: 1 are not applied",
    ),
    "a newer program": (
        lambda: MigrationRecorder(connection).record_applied("wire", "0999_future"),
        "FAIL migrations: A newer release has used this database: it applied wire.0999_future",
    ),
    "a seat lost": (lambda: Publication.objects.filter(slug="wired").update(seat=None, retired_on=NOW), "FAIL roster: .*23"),
    "a publication renamed": (lambda: Publication.objects.filter(slug="wired").update(name="Weird"), "FAIL roster: .*fingerprint"),
    "a key that others read": (lambda: signing.key_file().chmod(0o644), "FAIL key file: .*0644"),
    "a secret that others read": (_share_the_secret, "FAIL secret key: .*0640"),
    "another key that others read": (_share_another_key, "FAIL key file: .*timeline_names has mode 0644"),
    "the key of left-out names gone": (
        _leave_a_name_out_and_lose_its_key,
        "FAIL left-out names: The key file .*timeline_names is missing, so no name is recognised that harbour-clock leaves out",
    ),
    "no key file": (lambda: signing.key_file().unlink(), "FAIL signing key: The file of [0-9a-f]{16} is gone"),
    "another key": (_put_another_key, "FAIL signing key: .*is not published"),
    "a retired key": (_put_a_retired_key_back, "FAIL signing key: .*was retired"),
    "a key of another kind": (_put_an_rsa_key, "FAIL key file: .*cannot be read as an Ed25519 key"),
    "a key cut off": (lambda: signing.key_file().write_bytes(b"-----BEGIN"), "FAIL key file: .*cannot be read"),
    "a link": (snapshot(previous_sha256="0" * 64), "FAIL chain: .*link"),
    "a signature": (snapshot(signature="bm8="), "FAIL chain: .*signature"),
    "packed bytes": (snapshot(packed=b"garbage"), "FAIL chain: .*its bytes cannot be read, so its hash is unverified"),
    "packed bytes of an older day": (_damage_an_older_day, "FAIL chain: Snapshot 2026-01-15 r1: .*cannot be read"),
    "a story's JSON": (lambda: StoryJson.objects.update(packed=b"garbage"), "FAIL stories: The stored JSON of 2 of the newest 2"),
    "JSON of another edition": (lambda: StoryJson.objects.update(made_of="2-0 1"), "warn stories: 2 are rendered on each request"),
    "a revision that nobody can tell": (
        lambda: StoryRevision.objects.update(category="gossip"),
        "FAIL stories: The stored JSON of 2 of the newest 2",
    ),
    "a clock behind": (snapshot(generated_at=NOW + dt.timedelta(hours=1)), "FAIL clock: It says 2026-01-16 12:30 UTC, before"),
    "no ingest": (
        feeds(tried_at=LONG_AGO, succeeded_at=LONG_AGO, newest_item_at=LONG_AGO),
        "warn feeds: No feed was tried for 3 days",
    ),
    "never any ingest": (lambda: FeedHealth.objects.all().delete(), "warn feeds: No feed was tried yet"),
    "every feed": (
        feeds(failures=3, failure="The name cannot be resolved.", next_try_at=NOW + dt.timedelta(hours=1)),
        "FAIL feeds: All .* fail; the first says: The name cannot be resolved",
    ),
    "one feed": (
        lambda: FeedHealth.objects.filter(feed__publication__slug="wired").update(failures=3, failure="Gone."),
        "warn feeds: Those of Wired keep failing",
    ),
    "a silent feed": (
        lambda: FeedHealth.objects.filter(feed__publication__slug="wired").update(usual_gap=HOUR, newest_item_at=LONG_AGO),
        "warn feeds: Those of Wired .*are silent",
    ),
    "an empty feed": (
        lambda: FeedHealth.objects.filter(feed__publication__slug="wired").update(empty_since=NOW),
        "warn feeds: Those of Wired answer without items, though they had some before. /freshness says since when",
    ),
}
SQLITE_ONLY = {"a trigger dropped", "a story unseen by the index"}


@contextmanager
def undone(keys: Path) -> Iterator[None]:
    """What is done to the database and the keys within is as if it had not been."""
    before = {file: (file.read_bytes(), file.stat().st_mode) for file in keys.iterdir()}
    with transaction.atomic():
        yield
        transaction.set_rollback(True)
    for file in keys.iterdir():
        file.unlink()
    for file, (content, mode) in before.items():
        file.write_bytes(content)
        file.chmod(mode)


@pytest.mark.slow
def test_what_is_broken_is_named_with_what_to_do(wire: Path) -> None:
    for case, (damage, said) in BROKEN.items():
        if case not in SQLITE_ONLY or connection.vendor == "sqlite":
            with undone(wire / "keys"):
                damage()
                found = examined()
            name = said.split(" ", 1)[1].partition(":")[0]
            assert list(found) == [name], case
            assert re.match(said, str(found[name])), case
            assert found[name].advice, case


@sqlite_only
def test_a_database_file_that_others_can_read_is_named() -> None:
    file = Path(str(connection.settings_dict["NAME"]))
    assert file.stat().st_mode & 0o777 == 0o600
    file.chmod(0o644)
    try:
        assert re.match(r"FAIL database file: .* has mode 0644", str(examined()["database file"]))
    finally:
        file.chmod(0o600)


def test_the_sample_wire_asks_no_feeds() -> None:
    WireState.objects.update(is_sample=True)
    FeedHealth.objects.all().delete()
    assert examined() == {}


@pytest.mark.parametrize(("free", "level"), [(10**12, Level.OK), (3 * 10**8, Level.WARN), (10**8, Level.FAIL)])
def test_room_on_the_disk_is_compared_with_the_database(
    free: int, level: Level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "database").touch()
    os.truncate(tmp_path / "database", 10**9)  # sparse
    monkeypatch.setattr("wire.ops.doctor.checks.list_database_files", lambda: [tmp_path / "database"])
    monkeypatch.setattr("shutil.disk_usage", lambda _path: SimpleNamespace(free=free))
    assert checks.check_disk().level == level


def test_a_data_directory_and_a_database_file_that_cannot_be_written_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (database := tmp_path / "database").touch()
    monkeypatch.setattr("wire.ops.doctor.checks.list_database_files", lambda: [database])
    for refused, named in ((Path(settings.WIRE_DATA_DIR), Path(settings.WIRE_DATA_DIR)), (database, database)):
        monkeypatch.setattr("os.access", lambda path, _mode, refused=refused: Path(path) != refused)
        assert str(checks.check_disk()).startswith(
            f"FAIL disk: {named} cannot be written by this user: nothing is stored or published."
        )


def test_a_key_file_of_another_user_is_named_with_its_owner_as_the_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(signing, "get_key_in_force", refuse)
    assert str(examined()["key file"]) == (
        f"FAIL key file: {signing.key_file()} cannot be read: Permission denied. chown it to the user that the wire runs as."
    )


@sqlite_only
@pytest.mark.django_db(transaction=True)
def test_sqlite_out_of_its_modes_is_named() -> None:
    def delete(execute: Callable[..., Any], sql: str, *others: Any) -> Any:
        return execute("SELECT 'delete'" if "journal_mode" in sql else sql, *others)

    with connection.execute_wrapper(delete):  # a change of the true mode would wait for every other connection
        found = str(examined()["database"])
    assert "journal is delete" in found


@pytest.mark.slow
@sqlite_only
def test_a_damaged_file_is_named_and_the_rest_is_looked_at(tmp_path: Path) -> None:
    file = install(tmp_path / "damaged")
    content = bytearray(file.read_bytes())
    content[20 * 4096 : 60 * 4096] = b"\xff" * 40 * 4096
    file.write_bytes(content)
    ran = manage(file.parent, "doctor")
    assert (ran.returncode, ran.stderr) == (1, "")
    assert "FAIL database: " in ran.stdout
    assert "ok disk: " in ran.stdout


@pytest.mark.slow
def test_without_a_database_it_says_so_and_goes_on_with_what_it_can(tmp_path: Path) -> None:
    missing = manage(tmp_path, "doctor")
    assert missing.returncode == 1
    assert "ok disk: " in missing.stdout
    assert f"FAIL database: There is none at {tmp_path / 'wire.sqlite3'}. For an empty one, run manage.py migrate" in missing.stdout
    assert not (tmp_path / "wire.sqlite3").exists()
    (tmp_path / "wire.sqlite3").write_text("no database at all, " * 100)
    assert "FAIL database: It does not answer: file is not a database. Restore a backup." in manage(tmp_path, "doctor").stdout


@pytest.mark.slow
def test_a_postgres_that_is_away_is_named_at_once(tmp_path: Path) -> None:
    ran = manage(tmp_path, "doctor", "--json", DATABASE_URL="postgres://ada:quince@127.0.0.1:1/wire")
    last = json.loads(ran.stdout)["checks"][-1]
    assert (ran.returncode, last["name"], last["level"]) == (1, "database", "FAIL")
    assert "refused" in last["found"]
    assert "quince" not in ran.stdout + ran.stderr
