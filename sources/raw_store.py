"""Fetched bytes, kept compressed under their own SHA-256 in the data directory, so that newer rules can read them again."""

import datetime as dt
import gzip
import hashlib
import os
import tempfile
import time
import zlib
from pathlib import Path
from typing import Final

from django.conf import settings

from sources.models import FeedHealth, RawFetch

RETENTION: Final = dt.timedelta(days=30)
_HOUR: Final = 3_600  # seconds; a younger file may belong to a run at work


def save(body: bytes) -> str:
    """Store `body` unless it is there; return its lower-case hex SHA-256. Whole or not at all, also when killed half-way."""
    digest = sha256(body)
    file = _file_path(digest)
    if not file.exists():
        file.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as handle:
            handle.write(gzip.compress(body, compresslevel=6, mtime=0))
        os.replace(handle.name, file)
    return digest


def read(digest: str) -> bytes:
    """Return the bytes. Raises: OSError when they are gone or damaged."""
    try:
        body = gzip.decompress(_file_path(digest).read_bytes())
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise OSError(f"The bytes stored as {digest} are damaged: {error}.") from error
    if sha256(body) != digest:
        raise OSError(f"The bytes stored as {digest} are not those that were fetched.")
    return body


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def delete_expired(now: dt.datetime) -> None:
    """Delete what was fetched longer ago than RETENTION and no feed still answers with; once a day also files without a row."""
    current = FeedHealth.objects.exclude(body_sha256="").values("body_sha256")
    RawFetch.objects.filter(fetched_at__lt=now - RETENTION).exclude(sha256__in=current).delete()
    swept = _directory() / "swept"
    if swept.exists() and time.time() - swept.stat().st_mtime < 24 * _HOUR:
        return
    known = set(RawFetch.objects.values_list("sha256", flat=True).distinct())
    for file in _directory().glob("??/*"):
        if file.name.removesuffix(".gz") not in known and time.time() - file.stat().st_mtime > _HOUR:
            file.unlink(missing_ok=True)
    swept.parent.mkdir(parents=True, exist_ok=True)
    swept.touch()


def _directory() -> Path:
    return Path(settings.WIRE_DATA_DIR) / "raw"


def _file_path(digest: str) -> Path:
    return _directory() / digest[:2] / f"{digest}.gz"
