"""Secrets that are made once and stored in a file only its owner can read."""

import contextlib
import os
import secrets
import tempfile
from collections.abc import Callable
from pathlib import Path


def load_or_create_secret(file: Path) -> str:
    """Return the secret in `file`; made on first use (50 random bytes, mode 0600)."""
    return load_or_create_file(file, lambda: secrets.token_urlsafe(50).encode()).decode()


def load_or_create_file(file: Path, make: Callable[[], bytes]) -> bytes:
    """Return the bytes of `file`, made by `make` if it does not exist yet.

    Two processes that start at once end with the same bytes: the file is written whole under another name and linked
    into place, and the loser reads the winner's.
    """
    try:
        return file.read_bytes()
    except FileNotFoundError:
        pass
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, prefix=f".{file.name}.") as draft:  # of mode 0600
        draft.write(make())
        draft.flush()
        os.fsync(draft.fileno())
        with contextlib.suppress(FileExistsError):
            os.link(draft.name, file)
    return file.read_bytes()
