"""Bring a backup back: everything is checked before anything is changed, and nothing that was there is deleted."""

import datetime as dt
import os
import secrets
import shutil
import sqlite3
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from django.core.management import call_command
from django.db import DatabaseError, connection, connections
from django.db.migrations.loader import MigrationLoader
from django.utils import timezone

from config.errors import Busy, InvalidArgument, WireError
from wire import signing
from wire.archive.restore import RESTORED
from wire.archive.restore import restore as restore_dump
from wire.archive.verify import Verified, dump_records, verify_database
from wire.backup.manifest import COPY, DUMP, KEY, Damaged, Manifest, checked, described
from wire.backup.take import sync
from wire.models import WireState

NOT_EMPTY: Final = ("wire_story", "wire_snapshot", "wire_signingkey", "wire_editortake", "auth_user")


@dataclass(slots=True)
class Restored:
    manifest: Manifest
    kept: list[Path] = field(default_factory=list)
    """What was there before, under its dated name."""


def restore(source: Path, *, replace: bool, now: dt.datetime | None = None) -> Restored:
    """Bring `source` back into this installation's database and keys, and migrate. `verify` it then.

    Raises: Damaged, InvalidArgument and Busy, all before anything is changed; Broken for a dump that was no wire; OSError;
    WireError when the tables cannot be brought up to date.
    """
    manifest = checked(source)
    restored = Restored(manifest)
    stamp = f"{now or timezone.now():%Y%m%dT%H%M%SZ}"
    connections.close_all()
    _refuse_another_key(source, manifest, replace=replace)
    if COPY in manifest["files"]:
        database = _database_file()
        _refuse_unusable(source / COPY)
        _refuse_unless_free(database, replace=replace)
        draft = _draft(source / COPY, database, manifest["files"][COPY])
        try:
            _restore_key(source, manifest, stamp, restored)
            restored.kept += _put(draft, database, stamp)
        finally:
            draft.unlink(missing_ok=True)
        _bring_up_to_date(restored)
    else:
        _refuse_unless_empty()
        _restore_key(source, manifest, stamp, restored)
        call_command("migrate", verbosity=0)
        restore_dump(dump_records(source / DUMP))
    return restored


def _bring_up_to_date(restored: Restored) -> None:
    try:
        call_command("migrate", verbosity=0)
        WireState.raise_version()
    except DatabaseError as error:
        kept = f" What was there before is kept as {', '.join(map(str, restored.kept))}." if restored.kept else ""
        raise WireError(f"The backup is in its place, and its tables cannot be brought up to date: {error}.{kept}") from error


def verify(restored: Restored) -> Verified:
    """Recompute everything, and hold the end of the chain against what the manifest says. Raises: Broken, Damaged."""
    result = verify_database()
    if result.last_sha256 != restored.manifest["wire_sha256"]:
        raise Damaged(f"The chain ends in {result.last_sha256}, the manifest says {restored.manifest['wire_sha256']}.")
    return result


def _database_file() -> Path:
    if connection.vendor != "sqlite":
        raise InvalidArgument(
            "The backup is of SQLite, this installation uses Postgres. Nothing was changed.",
            "Restore it without DATABASE_URL, then move with dumpwire and loadwire.",
        )
    return Path(str(connection.settings_dict["NAME"]))


def _refuse_another_key(source: Path, manifest: Manifest, *, replace: bool) -> None:
    key = signing.key_file()
    if KEY in manifest["files"] and key.exists() and not replace and key.read_bytes() != (source / KEY).read_bytes():
        raise InvalidArgument(
            f"{key} holds another signing key than the backup. Nothing was changed.",
            "Use another WIRE_DATA_DIR, or --replace, which keeps the key beside the restored one.",
        )


def _refuse_unusable(copy: Path) -> None:
    with closing(sqlite3.connect(f"{copy.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        found = database.execute("PRAGMA quick_check(1)").fetchone()[0]
        applied = set(database.execute("SELECT app, name FROM django_migrations").fetchall())
    if found != "ok":
        raise Damaged(f"The database in the backup was damaged when it was taken: {found}.")
    loader = MigrationLoader(None, ignore_no_migrations=True)
    newer = sorted(".".join(migration) for migration in applied - set(loader.disk_migrations))
    if newer:
        raise InvalidArgument(
            f"The backup was taken by a newer program, which applied {newer[0]}. Nothing was changed.",
            "Restore it with that program.",
        )


def _refuse_unless_free(database: Path, *, replace: bool) -> None:
    """Raises: InvalidArgument when something is there, unless it may be replaced; Busy when somebody has it open."""
    if not database.exists():
        return
    try:
        with closing(sqlite3.connect(database, timeout=2)) as there:
            # Only who is alone with the file can take it out of WAL mode. It also leaves one file without a WAL beside it.
            there.execute("PRAGMA journal_mode=DELETE")
            tables = {row[0] for row in there.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
            is_empty = not any(
                there.execute(f"SELECT 1 FROM {table} LIMIT 1").fetchone()  # noqa: S608  our own table names
                for table in NOT_EMPTY
                if table in tables
            )
    except sqlite3.OperationalError as error:
        if "locked" in str(error) or "busy" in str(error):
            raise Busy(f"{database} is in use. Nothing was changed.", "Stop the server and ingest, then restore again.") from error
        is_empty = False
    except sqlite3.DatabaseError:
        is_empty = False  # damaged: the very thing that is to be replaced, but it may still hold something
    if not is_empty and not replace:
        raise InvalidArgument(
            f"{database} holds a wire already. Nothing was changed.",
            "Use another WIRE_DATA_DIR, or --replace, which keeps it under a dated name.",
        )


def _refuse_unless_empty() -> None:
    """A dump goes into an empty database, whatever was asked for: one that holds something is kept by leaving it alone."""
    tables: Any = connection.introspection.table_names()
    if any(model._meta.db_table in tables and model._default_manager.exists() for model in RESTORED):
        raise InvalidArgument(
            "The database holds a wire already, and a dump is restored into an empty one only. Nothing was changed.",
            "Make a new database, name it in DATABASE_URL and restore there; the old one stays as it is.",
        )


def _draft(file: Path, beside: Path, said: dict[str, Any]) -> Path:
    """A copy of `file` on the disk of `beside`, whole and for its owner alone; only a rename is left to do."""
    beside.parent.mkdir(parents=True, exist_ok=True)
    draft = beside.with_name(f".{beside.name}.{secrets.token_hex(4)}.part")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as out, file.open("rb") as content:
            shutil.copyfileobj(content, out, 1 << 20)
        if described(draft) != said:
            raise Damaged(f"{file.name} of the backup cannot be copied without a fault.")
        sync(draft)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return draft


def _restore_key(source: Path, manifest: Manifest, stamp: str, restored: Restored) -> None:
    """Before the database: a wire without its key would make itself a new one, a key without its wire does nothing."""
    key = signing.key_file()
    if KEY not in manifest["files"] or (key.exists() and key.read_bytes() == (source / KEY).read_bytes()):
        return
    restored.kept += _put(_draft(source / KEY, key, manifest["files"][KEY]), key, stamp)


def _put(draft: Path, target: Path, stamp: str) -> list[Path]:
    """Let `draft` take the place of `target`, in one step; what was there, if anything, as it is called now."""
    kept = target.with_name(f"{target.name}.{stamp}")
    for rest in ("-wal", "-shm"):  # of a damaged database, or of one that is gone: never to be read into the restored one
        if target.with_name(target.name + rest).exists():
            os.rename(target.with_name(target.name + rest), kept.with_name(kept.name + rest))
    was_there = target.exists()
    if was_there:
        os.link(target, kept)
    os.replace(draft, target)
    sync(target.parent)
    return [kept] if was_there else []
