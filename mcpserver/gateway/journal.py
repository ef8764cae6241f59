"""Lines of the log that are not yet in the database, in files: a process that is killed loses none.

Each batch of lines has a file of its own, which goes when the batch is written. Its process holds a lock on it, so a file that can
be locked is of a process that is gone.
"""

import fcntl
import logging
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import orjson

log = logging.getLogger(__name__)

SUFFIX: Final = ".ndjson"
File = tuple[Path, int]  # and its open descriptor


class Journal:
    """The journal of one process in a folder; without a folder nothing is written down."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._file: File | None = None
        self._owner = os.getpid()

    def append(self, line: Any) -> None:
        """Add a line to the batch. It outlives this process, not a power cut."""
        if self._folder is None:
            return
        if self._owner != os.getpid():  # a fork; the file is its parent's
            self._file, self._owner = None, os.getpid()
        try:
            if self._file is None:
                self._file = _create_file(self._folder)
            os.write(self._file[1], orjson.dumps(line) + b"\n")
        except OSError as error:
            self._folder = None
            log.error(
                "No journal can be written (%s): what this process counts in its last half second is lost if it is killed.", error
            )

    def end_batch(self) -> list[File]:
        """Return the files of the batch, which are to be removed when it is written, and begin another."""
        files, self._file = [self._file] if self._file else [], None
        return files


def remove_files(files: Iterable[File]) -> None:
    for path, descriptor in files:
        with suppress(OSError):
            path.unlink()
        os.close(descriptor)


def read_orphaned_files(folder: Path | None) -> Iterator[tuple[File, list[Any]]]:
    """Yield each file that a killed process left, locked, with its lines. An incomplete last line is left out."""
    for path in sorted(folder.glob(f"*{SUFFIX}")) if folder is not None else ():
        try:
            descriptor = os.open(path, os.O_RDWR)
        except OSError:
            continue  # its process, or another one, just removed it
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            raw_lines = path.read_bytes().split(b"\n")[:-1]
        except OSError:
            os.close(descriptor)
            continue
        lines = []
        for line in raw_lines:
            try:
                lines.append(orjson.loads(line))
            except orjson.JSONDecodeError:
                log.error("A line of %s cannot be read, so one request is not counted: %r", path, line[:200])
        yield (path, descriptor), lines


def _create_file(folder: Path) -> File:
    """Create a file, locked before it has its name: nobody takes it for one of a dead process."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    name = f"{os.getpid()}-{secrets.token_hex(8)}"
    begun, path = folder / f"{name}.begun", folder / f"{name}{SUFFIX}"
    descriptor = os.open(begun, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        begun.rename(path)
    except OSError:
        os.close(descriptor)
        raise
    return path, descriptor
