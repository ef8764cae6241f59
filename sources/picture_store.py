"""Small copies of publishers' pictures in the data directory, by publication and story: a bounded cache that may be deleted."""

import fcntl
import shutil
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from django.conf import settings

MAX_FILES: Final = 2_000
MAX_BYTES: Final = 100 << 20
FAILURE_LIFETIME: Final = 3_600  # seconds in which a picture that could not be had is not fetched again


def read_picture(publication: str, story_id: str) -> bytes | None:
    with suppress(FileNotFoundError):
        return _picture_path(publication, story_id).read_bytes()
    return None


def has_failed(publication: str, story_id: str) -> bool:
    """Return whether this picture could not be had within the last `FAILURE_LIFETIME`."""
    try:
        found = _attempt_path(publication, story_id).stat()
    except OSError:  # most often there is none; pages do without a directory that cannot be read
        return False
    return found.st_size > 0 and abs(time.time() - found.st_mtime) < FAILURE_LIFETIME  # a clock may have been ahead


@contextmanager
def lock_picture(publication: str, story_id: str) -> Iterator[None]:
    """Wait until nobody else fetches this picture, in any process of the machine, and hold it meanwhile."""
    file = _attempt_path(publication, story_id)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as handle:  # its lock ends with the process, too
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def record_failure(publication: str, story_id: str, reason: str) -> None:
    """Store why a picture could not be had; inside `lock_picture`."""
    _write_file(_attempt_path(publication, story_id), f"{reason}\n".encode())
    _delete_oldest("*.attempt")


def store_picture(publication: str, story_id: str, webp: bytes) -> None:
    """Store a picture, and delete the oldest of all beyond the bounds; inside `lock_picture`."""
    _write_file(_picture_path(publication, story_id), webp)
    _attempt_path(publication, story_id).unlink(missing_ok=True)
    _delete_oldest("*.webp")


def delete_stories(story_ids: Iterable[str]) -> None:
    for story_id in story_ids:
        for file in _get_directory().glob(f"*/{story_id}.*"):
            file.unlink(missing_ok=True)


def delete_publication(publication: str) -> None:
    shutil.rmtree(_get_directory() / publication, ignore_errors=True)


def _write_file(file: Path, content: bytes) -> None:
    """Store a file whole or not at all; its directory may have been deleted meanwhile."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f"{file.stem}.", delete=False) as handle:
        try:
            handle.write(content)
            handle.flush()
            Path(handle.name).replace(file)
        except OSError:
            Path(handle.name).unlink(missing_ok=True)
            raise


def _delete_oldest(pattern: str) -> None:
    files = []
    for file in _get_directory().glob(f"*/{pattern}"):
        with suppress(FileNotFoundError):  # another process trims, too
            files.append((file.stat(), file))
    files.sort(key=lambda one: one[0].st_mtime, reverse=True)
    size = 0
    for number, (found, file) in enumerate(files, start=1):
        size += found.st_size
        if number > MAX_FILES or size > MAX_BYTES:
            file.unlink(missing_ok=True)


def _get_directory() -> Path:
    return Path(settings.WIRE_DATA_DIR) / "pictures"


def _picture_path(publication: str, story_id: str) -> Path:
    return _get_directory() / publication / f"{story_id}.webp"


def _attempt_path(publication: str, story_id: str) -> Path:
    """Return the file that is locked while a picture is fetched; empty, or with the reason why that failed."""
    return _get_directory() / publication / f"{story_id}.attempt"
