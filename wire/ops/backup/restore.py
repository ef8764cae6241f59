"""Restoring a backup into an empty installation: everything is checked before any change, and nothing is replaced."""

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import DatabaseError, connection, connections

from config.database.migration_state import Migration, list_newer
from config.errors import Busy, InvalidArgument, WireError
from wire.models import WireState
from wire.ops.archive.dump import Broken
from wire.ops.archive.restore import restore_dump as restore_dump
from wire.ops.archive.verify import Verifier, read_dump, verify_database
from wire.ops.backup import contents
from wire.ops.backup.contents import Damaged, Manifest
from wire.ops.backup.create import sync_to_disk


def restore_backup(source: Path) -> Manifest:
    """Restore `source` into this installation's database and keys, and migrate; return its manifest, for `verify_restored`. Raises:
    Damaged, InvalidArgument and Busy before any change; Broken, OSError, WireError.
    """
    manifest = contents.check_backup(source)
    connections.close_all()
    _refuse_other_keys(source, manifest)
    if contents.COPY in manifest["files"]:
        _restore_database(source, manifest)
    elif contents.DUMP in manifest["files"]:
        _refuse_filled_database()
        _restore_keys(source, manifest)
        call_command("migrate", verbosity=0)
        restore_dump(read_dump(source / contents.DUMP))
    else:
        _restore_tables(source, manifest)
    return manifest


def _restore_database(source: Path, manifest: Manifest) -> None:
    if connection.vendor != "sqlite":
        raise InvalidArgument(
            "The backup is from SQLite, but this installation uses Postgres. Nothing was changed.",
            "Restore it without DATABASE_URL, then move with dumpwire and loadwire.",
        )
    database, copy = Path(str(connection.settings_dict["NAME"])), source / contents.COPY
    with closing(sqlite3.connect(f"{copy.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as taken:
        found = taken.execute("PRAGMA quick_check(1)").fetchone()[0]
        applied = set(taken.execute("SELECT app, name FROM django_migrations").fetchall())
    if found != "ok":
        raise Damaged(f"The database in the backup was damaged when it was taken: {found}.")
    _refuse_newer_release(applied)
    _refuse_used_database(database)
    draft = _copy_draft(copy, database, manifest["files"][contents.COPY])
    _restore_keys(source, manifest)
    _replace_file(draft, database)
    try:
        call_command("migrate", verbosity=0)
        WireState.raise_version()
    except DatabaseError as error:
        raise WireError(f"The backup is in place, but its tables cannot be brought up to date: {error}.") from error


def _restore_tables(source: Path, manifest: Manifest) -> None:
    if connection.vendor != "postgresql":
        raise InvalidArgument(
            "The backup is from Postgres, but this installation uses SQLite. Nothing was changed.",
            "Restore it with a DATABASE_URL, then move the wire with dumpwire and loadwire.",
        )
    migrations = {(app, name) for app, name in manifest["migrations"]}
    _refuse_newer_release(migrations)
    contents.refuse_newer_database(migrations)
    _refuse_filled_database()
    _restore_keys(source, manifest)
    contents.read_tables(source / contents.TABLES, manifest["tables"], migrations)
    WireState.raise_version()


def verify_restored(manifest: Manifest) -> Verifier:
    """Recompute everything, and compare the end of the chain and the rows of each system with the manifest. Raises: Broken."""
    result = verify_database()
    found = contents.count_system_rows()
    for system, number in manifest.get("counts", {}).items():
        if found.get(system, 0) < number:  # migrating may add some, as the first release of an own corpus
            raise Broken(f"only {found.get(system, 0):,} of the {number:,} {system} in the backup were restored.")
    if result.last_sha256 != manifest["wire_sha256"]:
        raise Broken(f"the chain ends in {result.last_sha256}, but the manifest says {manifest['wire_sha256']}.")
    return result


def _refuse_other_keys(source: Path, manifest: Manifest) -> None:
    for name, stored in contents.map_key_files(manifest).items():
        key = contents.get_keys_directory() / name
        if key.exists() and (not key.is_file() or key.read_bytes() != (source / stored).read_bytes()):
            raise InvalidArgument(
                f"{key} is a different key from the one in the backup. Nothing was changed.",
                "Use another WIRE_DATA_DIR, or move that key away first.",
            )


def _refuse_newer_release(applied: set[Migration]) -> None:
    if newer := list_newer(applied):
        raise InvalidArgument(
            f"The backup was taken by a newer release, which applied {newer[0]}. Nothing was changed.",
            "Restore it with that release.",
        )


def _refuse_used_database(database: Path) -> None:
    """Raises: InvalidArgument for a database with content; Busy for one that is in use."""
    if database.exists():
        try:
            with closing(sqlite3.connect(database, timeout=2)) as there:
                # Only who is alone with the file can take it out of WAL mode. It also leaves one file without a WAL beside it.
                there.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.OperationalError as error:
            raise Busy(f"{database} is in use. Nothing was changed.", "Stop the server and ingest, then restore again.") from error
        except sqlite3.DatabaseError:
            pass  # it is damaged, and may still hold something
        _refuse_filled_database()
        connections.close_all()
    if database.with_name(f"{database.name}-wal").exists():  # never to be read into the restored one
        raise _build_not_empty_error(f"There is a WAL file beside {database}.")


def _refuse_filled_database() -> None:
    try:
        table = contents.find_filled_table()
    except DatabaseError as error:
        raise _build_not_empty_error(f"The database cannot be read: {error}.") from error
    if table:
        raise _build_not_empty_error(f"The database already holds a wire: there are rows in {table}.")


def _build_not_empty_error(found: str) -> InvalidArgument:
    return InvalidArgument(
        f"{found} A backup can only be restored into an empty installation. Nothing was changed.",
        "Use another WIRE_DATA_DIR or DATABASE_URL, or first move away what is there.",
    )


def _copy_draft(file: Path, beside: Path, written: dict[str, Any]) -> Path:
    """Copy `file` onto the disk of `beside`, whole and for its owner alone; only a rename is left to do."""
    beside.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{beside.name}.", suffix=".part", dir=beside.parent)
    os.close(handle)
    draft = Path(name)
    try:
        shutil.copyfile(file, draft)
        if contents.describe_file(draft) != written:
            raise Damaged(f"{file.name} of the backup was damaged while it was copied.")
        sync_to_disk(draft)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    return draft


def _restore_keys(source: Path, manifest: Manifest) -> None:
    # Before the database: a wire without its key would make itself a new one, a key without its wire does nothing.
    for name, stored in contents.map_key_files(manifest).items():
        key = contents.get_keys_directory() / name
        if not key.exists():
            _replace_file(_copy_draft(source / stored, key, manifest["files"][stored]), key)


def _replace_file(draft: Path, target: Path) -> None:
    os.replace(draft, target)
    sync_to_disk(target.parent)
