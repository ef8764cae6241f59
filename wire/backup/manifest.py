"""What a backup says of itself, and whether it is so."""

import hashlib
from pathlib import Path
from typing import Any, Final

import orjson

from config.errors import InvalidArgument, WireError
from wire.stories.provenance import digest

FORMAT: Final = "chatbotnews-wire-backup"
VERSION: Final = 1
MANIFEST: Final = "manifest.json"
COPY: Final = "wire.sqlite3"
DUMP: Final = "wire.ndjson.gz"
KEY: Final = "ed25519.pem"
PUBLIC_KEYS: Final = "wire-keys.json"
LARGEST: Final = 1_000_000  # bytes of a manifest

Manifest = dict[str, Any]


class Damaged(WireError):
    """A backup that is not as it was written."""

    code = "damaged_backup"

    def __init__(self, message: str) -> None:
        super().__init__(f"{message} Nothing was changed.", "Take another backup.")


def packed(manifest: Manifest) -> bytes:
    """The bytes of the file, with a hash of what it says, so that it is no less checked than what it describes."""
    return orjson.dumps({"manifest": manifest, "sha256": digest(manifest)}, option=orjson.OPT_INDENT_2)


def described(file: Path) -> dict[str, Any]:
    """Size in bytes and lower-case hex SHA-256."""
    with file.open("rb") as content:
        return {"bytes": file.stat().st_size, "sha256": hashlib.file_digest(content, "sha256").hexdigest()}


def checked(source: Path) -> Manifest:
    """The manifest of a backup in which every byte is as it was written. Raises: InvalidArgument, Damaged."""
    manifest = _read(source)
    for name, said in manifest["files"].items():
        try:
            found = described(source / name)
        except OSError as error:
            raise Damaged(f"{name} of the backup cannot be read: {error}.") from error
        if found != said:
            raise Damaged(
                f"{name} of the backup is damaged: {found['bytes']:,} bytes with SHA-256 {found['sha256'][:12]}…, "
                f"written were {said['bytes']:,} with {said['sha256'][:12]}…."
            )
    return manifest


def _read(source: Path) -> Manifest:
    file = source / MANIFEST
    if not file.is_file():
        raise InvalidArgument(f"{source} is no backup: it has no {MANIFEST}.", "Name a directory that manage.py backup wrote.")
    try:
        with file.open("rb") as raw:
            read = orjson.loads(raw.read(LARGEST))
        manifest: Manifest = read["manifest"]
        is_whole = manifest["format"] == FORMAT and digest(manifest) == read["sha256"]
        version, names = manifest["v"], set(manifest["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{file} cannot be read: {error!r}.") from error
    if not is_whole:
        raise Damaged(f"{file} is not as it was written.")
    if version != VERSION or not names <= {COPY, DUMP, KEY, PUBLIC_KEYS} or len(names & {COPY, DUMP}) != 1:
        raise InvalidArgument(
            f"The backup is of version {version}, this program reads {VERSION}.", "Use the program that wrote it."
        )
    return manifest
