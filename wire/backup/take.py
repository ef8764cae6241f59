"""Take a backup while the wire is served and published."""

import os
import shutil
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Any

from django.db import connection
from django.utils import timezone

from config.errors import InvalidArgument
from wire import queries
from wire.archive import dump
from wire.backup.manifest import COPY, DUMP, FORMAT, KEY, MANIFEST, PUBLIC_KEYS, VERSION, Manifest, described, packed
from wire.models import Snapshot
from wire.snapshots import signing
from wire.stories.provenance import timestamp


def take(target: Path) -> Manifest:
    """Write the wire as of one moment to the new directory `target`; what its manifest says.

    Whole or not at all: until it is whole it bears a hidden name that ends in `.part`. Raises: InvalidArgument when `target` is
    there already or cannot be; Broken, OSError.
    """
    if os.path.lexists(target):
        raise InvalidArgument(f"{target} is there already.", "Name a new directory; a backup never replaces anything.")
    if not target.parent.is_dir():
        raise InvalidArgument(f"There is no directory {target.parent}.", "Make it first; is its disk mounted?")
    draft = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=".part", dir=target.parent))  # its owner's alone
    try:
        with dump.one_moment():
            manifest = _moment()
            _write_files(draft)
        manifest["files"] = {file.name: described(file) for file in sorted(draft.iterdir())}
        (draft / MANIFEST).write_bytes(packed(manifest))
        for file in draft.iterdir():
            file.chmod(0o600)
            sync(file)
        sync(draft)
        os.rename(draft, target)  # fails if another backup came to be there meanwhile
        sync(target.parent)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return manifest


def _moment() -> Manifest:
    last = Snapshot.objects.order_by("-sequence").first()
    return {
        "format": FORMAT,
        "v": VERSION,
        "taken_at": timestamp(timezone.now()),
        "wire_version": queries.wire_version(),
        "sample": queries.is_sample(),
        "sequence": last.sequence if last else None,
        "wire_sha256": last.wire_sha256 if last else None,
    }


def _write_files(draft: Path) -> None:
    if connection.vendor == "sqlite":
        _copy_database(draft / COPY)
    else:
        with (draft / DUMP).open("wb") as out:
            dump.write(out, packed=True)
    (draft / PUBLIC_KEYS).write_bytes(queries.wire_keys().model_dump_json(indent=2).encode())
    if signing.key_file().exists():
        (draft / KEY).write_bytes(signing.key_file().read_bytes())


def _copy_database(file: Path) -> None:
    """By SQLite's online backup, on the connection that reads this moment; the file alone would lack what is in its WAL."""
    source: Any = connection
    with closing(sqlite3.connect(file)) as target:
        source.connection.backup(target)
        target.execute("PRAGMA journal_mode=DELETE")  # one file, nothing beside it


def sync(path: Path) -> None:
    """A file's bytes, or a directory's names, onto the disk: what is reported as done must survive a power cut."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
