"""Secrets that are made once and kept in a file only its owner can read."""

import contextlib
import os
import secrets
from collections.abc import Callable
from pathlib import Path


def stored_secret(file: Path) -> str:
    """The secret in `file`; made on first use (50 random bytes, mode 0600)."""
    return stored(file, lambda: secrets.token_urlsafe(50).encode()).decode()


def stored(file: Path, make: Callable[[], bytes]) -> bytes:
    """The bytes of `file`, made by `make` if it does not exist yet.

    Two processes that start at once end with the same bytes: the file is written whole under another name and linked
    into place, and the loser reads the winner's.
    """
    try:
        return file.read_bytes()
    except FileNotFoundError:
        pass
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.{os.getpid()}.{secrets.token_hex(4)}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(make())
            handle.flush()
            os.fsync(handle.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft, file)
    finally:
        draft.unlink()
    return file.read_bytes()
