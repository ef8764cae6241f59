"""The manifest of a backup, and the check of a backup against it."""

import hashlib
import re
from pathlib import Path
from typing import Any, Final

import orjson

from config.errors import InvalidArgument, WireError
from wire.text.provenance import digest

FORMAT: Final = "chatbotnews-wire-backup"
VERSION: Final = 2
# On Postgres it holds the wire alone, as `dumpwire` writes it, and on both databases no key but the signing key.
FIRST_VERSION: Final = 1
MANIFEST: Final = "manifest.json"
COPY: Final = "wire.sqlite3"
DUMP: Final = "wire.ndjson.gz"
KEY: Final = "ed25519.pem"
KEYS: Final = "keys"
TABLES: Final = "tables"
TABLE_ENDING: Final = ".copy.gz"
PUBLIC_KEYS: Final = "wire-keys.json"
LARGEST: Final = 10_000_000  # bytes of a manifest
_NAME: Final = re.compile(rf"{COPY}|{PUBLIC_KEYS}|{KEYS}/[^./][^/]*|{TABLES}/\w+{TABLE_ENDING}", re.DOTALL)

Manifest = dict[str, Any]


class Damaged(WireError):
    code = "damaged_backup"

    def __init__(self, message: str) -> None:
        super().__init__(f"{message} Nothing was changed.", "Take another backup.")


def pack_manifest(manifest: Manifest) -> bytes:
    """Return the bytes of the manifest's file, with its own hash."""
    return orjson.dumps({"manifest": manifest, "sha256": digest(manifest)}, option=orjson.OPT_INDENT_2)


def describe_file(file: Path) -> dict[str, Any]:
    """Return size in bytes and lower-case hex SHA-256."""
    with file.open("rb") as content:
        return {"bytes": file.stat().st_size, "sha256": hashlib.file_digest(content, "sha256").hexdigest()}


def check_backup(source: Path) -> Manifest:
    """Return the manifest of a backup whose every byte is as it was written. Raises: InvalidArgument, Damaged."""
    manifest = _read(source)
    for name, written in manifest["files"].items():
        try:
            found = describe_file(source / name)
        except OSError as error:
            raise Damaged(f"{name} of the backup cannot be read: {error}.") from error
        if found != written:
            raise Damaged(
                f"{name} of the backup is damaged: {found['bytes']:,} bytes with SHA-256 {found['sha256'][:12]}…, "
                f"written were {written['bytes']:,} with {written['sha256'][:12]}…."
            )
    return manifest


def key_files(manifest: Manifest) -> dict[str, str]:
    """Return the keys in a backup: for each name in `keys/`, the name in the backup."""
    if manifest["v"] == FIRST_VERSION:
        return {KEY: KEY} if KEY in manifest["files"] else {}
    return {name.removeprefix(f"{KEYS}/"): name for name in manifest["files"] if name.startswith(f"{KEYS}/")}


def _is_known(version: int, names: set[str]) -> bool:
    if version == FIRST_VERSION:
        return names <= {COPY, DUMP, KEY, PUBLIC_KEYS} and len(names & {COPY, DUMP}) == 1
    has_tables = any(name.startswith(f"{TABLES}/") for name in names)
    return version == VERSION and all(map(_NAME.fullmatch, names)) and (COPY in names) != has_tables


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
    if not _is_known(version, names):
        raise InvalidArgument(
            f"The backup is of version {version}, this program reads {FIRST_VERSION} and {VERSION}.",
            "Use the program that wrote it.",
        )
    return manifest
