"""Creation of a backup while the wire is served and published."""

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from django.db import connection
from django.utils import timezone

from config.database.migration_state import list_applied
from config.errors import InvalidArgument
from wire import queries
from wire.models import Snapshot
from wire.ops.archive import dump
from wire.ops.backup import contents as layout
from wire.ops.backup.contents import Manifest, count_system_rows, describe_file, list_keys, pack_manifest, write_tables
from wire.text.provenance_manifest import to_rfc3339


def create_backup(target: Path) -> Manifest:
    """Write every table as of one moment, and every key, to the new directory `target`; return its manifest.

    Raises: InvalidArgument, Broken, OSError.
    """
    if os.path.lexists(target):
        raise InvalidArgument(f"{target} already exists.", "Name a new directory; a backup never replaces anything.")
    if not target.parent.is_dir():
        raise InvalidArgument(f"There is no directory {target.parent}.", "Create it first; is its disk mounted?")
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))  # its owner's alone
    try:
        with dump.read_consistently():
            ends = Snapshot.objects.order_by("-sequence").values_list("sequence", "wire_sha256")
            sequence, wire_sha256 = ends.first() or (None, None)
            manifest: Manifest = {
                "format": layout.FORMAT,
                "v": layout.VERSION,
                "taken_at": to_rfc3339(timezone.now()),
                "wire_version": queries.get_wire_version(),
                "sample": queries.is_sample_wire(),
                "sequence": sequence,
                "wire_sha256": wire_sha256,
                "migrations": sorted(map(list, list_applied())),
                "counts": count_system_rows(),
                **_write_files(draft),
            }
        files = sorted(file for file in draft.rglob("*") if file.is_file())
        manifest["files"] = {file.relative_to(draft).as_posix(): describe_file(file) for file in files}
        (draft / layout.MANIFEST).write_bytes(pack_manifest(manifest))
        for path in (*draft.rglob("*"), draft):
            path.chmod(0o700 if path.is_dir() else 0o600)
            sync_to_disk(path)
        os.rename(draft, target)  # fails if another backup came to be there meanwhile
        sync_to_disk(target.parent)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return manifest


def _write_files(draft: Path) -> Manifest:
    """Write keys and tables; return their part of the manifest."""
    (draft / layout.PUBLIC_KEYS).write_bytes(queries.list_wire_keys().model_dump_json(indent=2).encode())
    (draft / layout.KEYS).mkdir(mode=0o700)
    for key in list_keys():
        (draft / layout.KEYS / key.name).write_bytes(key.read_bytes())
    if connection.vendor != "sqlite":
        return {"tables": write_tables(draft / layout.TABLES)}
    # By SQLite's online backup, on the connection that reads this moment; the file alone would lack what is in its WAL.
    source: Any = connection
    with closing(sqlite3.connect(draft / layout.COPY)) as target:
        source.connection.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")  # one file, nothing beside it
    return {}


def sync_to_disk(path: Path) -> None:
    """Write a file's bytes, or a directory's names, onto the disk: a reported backup must survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
