"""Bring a backup back into an empty installation: everything is checked before anything is changed, and nothing is replaced."""

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.db import DatabaseError, connection, connections
from django.db.migrations.loader import MigrationLoader

from config.errors import Busy, InvalidArgument, WireError
from wire.archive.restore import RESTORED
from wire.archive.restore import restore as restore_dump
from wire.archive.verify import Verified, dump_records, verify_database
from wire.backup.manifest import COPY, DUMP, KEY, Damaged, Manifest, checked, described
from wire.backup.take import sync
from wire.models import WireState
from wire.snapshots import signing


def restore(source: Path) -> Manifest:
    """Bring `source` back into this installation's database and keys, and migrate; what it says of itself. `verify` it then.

    Raises: Damaged, InvalidArgument and Busy, all before anything is changed; Broken for a dump that was no wire; OSError;
    WireError when the tables cannot be brought up to date.
    """
    manifest = checked(source)
    connections.close_all()
    _refuse_another_key(source, manifest)
    if COPY not in manifest["files"]:
        _refuse_unless_empty(*RESTORED)
        _restore_key(source, manifest)
        call_command("migrate", verbosity=0)
        restore_dump(dump_records(source / DUMP))
        return manifest
    database = _database_file()
    _refuse_unusable(source / COPY)
    _refuse_unless_free(database)
    draft = _draft(source / COPY, database, manifest["files"][COPY])
    _restore_key(source, manifest)
    _put(draft, database)
    try:
        call_command("migrate", verbosity=0)
        WireState.raise_version()
    except DatabaseError as error:
        raise WireError(f"The backup is in its place, and its tables cannot be brought up to date: {error}.") from error
    return manifest


def verify(manifest: Manifest) -> Verified:
    """Recompute everything, and compare the end of the chain with what the manifest says. Raises: Broken, Damaged."""
    result = verify_database()
    if result.last_sha256 != manifest["wire_sha256"]:
        raise Damaged(f"The chain ends in {result.last_sha256}, the manifest says {manifest['wire_sha256']}.")
    return result


def _database_file() -> Path:
    if connection.vendor != "sqlite":
        raise InvalidArgument(
            "The backup is of SQLite, this installation uses Postgres. Nothing was changed.",
            "Restore it without DATABASE_URL, then move with dumpwire and loadwire.",
        )
    return Path(str(connection.settings_dict["NAME"]))


def _refuse_another_key(source: Path, manifest: Manifest) -> None:
    key = signing.key_file()
    if KEY in manifest["files"] and key.exists() and key.read_bytes() != (source / KEY).read_bytes():
        raise InvalidArgument(
            f"{key} holds another signing key than the backup. Nothing was changed.",
            "Use another WIRE_DATA_DIR, or move that key away first.",
        )


def _refuse_unusable(copy: Path) -> None:
    with closing(sqlite3.connect(f"{copy.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as database:
        found = database.execute("PRAGMA quick_check(1)").fetchone()[0]
        applied = set(database.execute("SELECT app, name FROM django_migrations").fetchall())
    if found != "ok":
        raise Damaged(f"The database in the backup was damaged when it was taken: {found}.")
    newer = sorted(
        ".".join(migration) for migration in applied - set(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)
    )
    if newer:
        raise InvalidArgument(
            f"The backup was taken by a newer program, which applied {newer[0]}. Nothing was changed.",
            "Restore it with that program.",
        )


def _refuse_unless_free(database: Path) -> None:
    """Raises: InvalidArgument when something is there; Busy when somebody has it open."""
    if database.exists():
        try:
            with closing(sqlite3.connect(database, timeout=2)) as there:
                # Only who is alone with the file can take it out of WAL mode. It also leaves one file without a WAL beside it.
                there.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.OperationalError as error:
            raise Busy(f"{database} is in use. Nothing was changed.", "Stop the server and ingest, then restore again.") from error
        except sqlite3.DatabaseError:
            pass  # it is damaged, and may still hold something
        _refuse_unless_empty(*RESTORED, get_user_model())
        connections.close_all()
    if database.with_name(f"{database.name}-wal").exists():  # never to be read into the restored one
        raise _not_empty(f"There is a WAL beside {database}.")


def _refuse_unless_empty(*models: Any) -> None:
    try:
        tables = connection.introspection.table_names()
        is_empty = not any(model._meta.db_table in tables and model._default_manager.exists() for model in models)
    except DatabaseError as error:
        raise _not_empty(f"The database cannot be read: {error}.") from error
    if not is_empty:
        raise _not_empty("The database holds a wire already.")


def _not_empty(found: str) -> InvalidArgument:
    return InvalidArgument(
        f"{found} A backup is restored into an empty installation only. Nothing was changed.",
        "Use another WIRE_DATA_DIR or DATABASE_URL, or move what is there away first.",
    )


def _draft(file: Path, beside: Path, said: dict[str, Any]) -> Path:
    """A copy of `file` on the disk of `beside`, whole and for its owner alone; only a rename is left to do."""
    beside.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{beside.name}.", suffix=".part", dir=beside.parent)
    os.close(handle)
    draft = Path(name)
    try:
        shutil.copyfile(file, draft)
        if described(draft) != said:
            raise Damaged(f"{file.name} of the backup cannot be copied without a fault.")
        sync(draft)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return draft


def _restore_key(source: Path, manifest: Manifest) -> None:
    """Before the database: a wire without its key would make itself a new one, a key without its wire does nothing."""
    key = signing.key_file()
    if KEY in manifest["files"] and not key.exists():
        _put(_draft(source / KEY, key, manifest["files"][KEY]), key)


def _put(draft: Path, target: Path) -> None:
    """Let `draft` take the place of `target`, in one step."""
    os.replace(draft, target)
    sync(target.parent)
