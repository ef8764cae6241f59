"""Contents of a backup: each table of the database and each file in `keys/`, but for a few that are left out by name; and the
manifest by which each is checked.
"""

import gzip
import hashlib
import re
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import orjson
from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction
from django.db.migrations.executor import MigrationExecutor
from django.db.migrations.loader import MigrationLoader

from config.database.migration_state import Migration, list_applied, list_newer
from config.errors import InvalidArgument, WireError
from wire.text.provenance_manifest import hash_json

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
TABLES_LEFT_OUT: Final[Mapping[str, str]] = {
    "django_migrations": "The manifest lists its rows, and restoring applies the same migrations."
}
KEYS_LEFT_OUT: Final[Mapping[str, str]] = {
    "secret_key": "Every command, also `restore`, makes one if there is none. A new one ends the sessions of editors and of MCP "
    "clients, has stories' stored JSON rendered again, and leaves rows sealed with the previous key, which `verifywire` counts."
}
_ANY: Final = sys.maxsize
# tables with rows before anybody put something in, and their number at most
FOUNDED: Final[Mapping[str, int]] = {
    **{"sources.Publication": 24, "sources.Feed": _ANY, "sources.RosterRevision": 1},
    **{"wire.WireState": 1, "wire.LexiconTerm": _ANY, "wire.Entity": _ANY, "articles.Publisher": 1, "timeline.Corpus": 1},
    **{"factchecks.RatingName": _ANY, "factchecks.FactcheckState": 1},
    **{"auth.Permission": _ANY, "auth.Group": _ANY, "auth.Group_permissions": _ANY, "contenttypes.ContentType": _ANY},
    # What asking feeds, upstreams and this installation leaves behind, before anything came of it.
    **{"sources.FeedHealth": _ANY, "sources.FetchHost": _ANY, "sources.RawFetch": _ANY, "sources.IngestLease": _ANY},
    **{"articles.IndexLease": _ANY, "wire.UsageCount": _ANY, "sessions.Session": _ANY},
    **{"gateway.Bucket": _ANY, "gateway.UpstreamState": _ANY, "gateway.CallCount": _ANY},
}
# tables that are counted after a restore, by the name of each system
COUNTED: Final[Mapping[str, str]] = {
    **{"snapshots": "wire.Snapshot", "stories": "wire.Story"},
    **{"publishers": "articles.Publisher", "articles": "articles.Article"},
    **{"claims": "factchecks.Claim"},
    **{"corpora": "timeline.Corpus", "reports": "timeline.Report"},
    **{"gateway agents": "gateway.Agent", "accounts": "auth.User"},
}

BLOCK: Final = 1_000_000  # bytes
# Of the manifest: `columns`, `rows`, and `sequences`, the last number given by each column that numbers its rows.
Table = dict[str, Any]


class Damaged(WireError):
    code = "damaged_backup"

    def __init__(self, message: str) -> None:
        super().__init__(f"{message} Nothing was changed.", "Restore another backup.")


def pack_manifest(manifest: Manifest) -> bytes:
    """Return the bytes of the manifest's file, with its own hash."""
    return orjson.dumps({"manifest": manifest, "sha256": hash_json(manifest)}, option=orjson.OPT_INDENT_2)


def describe_file(file: Path) -> dict[str, Any]:
    """Return size in bytes and lower-case hex SHA-256."""
    with file.open("rb") as content:
        return {"bytes": file.stat().st_size, "sha256": hashlib.file_digest(content, "sha256").hexdigest()}


def check_backup(source: Path) -> Manifest:
    """Return the manifest of a backup whose every byte is as it was written. Raises: InvalidArgument, Damaged."""
    manifest = _read_manifest(source)
    for name, written in manifest["files"].items():
        try:
            found = describe_file(source / name)
        except OSError as error:
            raise Damaged(f"{name} of the backup cannot be read: {error}.") from error
        if found != written:
            raise Damaged(
                f"{name} of the backup is damaged: {found['bytes']:,} bytes with SHA-256 {found['sha256'][:12]}…, "
                f"not the {written['bytes']:,} with {written['sha256'][:12]}… that were written."
            )
    return manifest


def map_key_files(manifest: Manifest) -> dict[str, str]:
    """Return the keys in a backup: for each name in `keys/`, the name in the backup."""
    if manifest["v"] == FIRST_VERSION:
        return {KEY: KEY} if KEY in manifest["files"] else {}
    return {name.removeprefix(f"{KEYS}/"): name for name in manifest["files"] if name.startswith(f"{KEYS}/")}


def _has_known_files(version: int, names: set[str]) -> bool:
    if version == FIRST_VERSION:
        return names <= {COPY, DUMP, KEY, PUBLIC_KEYS} and len(names & {COPY, DUMP}) == 1
    has_tables = any(name.startswith(f"{TABLES}/") for name in names)
    return version == VERSION and all(map(_NAME.fullmatch, names)) and (COPY in names) != has_tables


def _read_manifest(source: Path) -> Manifest:
    file = source / MANIFEST
    if not file.is_file():
        raise InvalidArgument(f"{source} is not a backup: it has no {MANIFEST}.", "Name a directory that manage.py backup wrote.")
    try:
        with file.open("rb") as raw:
            read = orjson.loads(raw.read(LARGEST))
        manifest: Manifest = read["manifest"]
        is_whole = manifest["format"] == FORMAT and hash_json(manifest) == read["sha256"]
        version, names = manifest["v"], set(manifest["files"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{file} cannot be read: {error!r}.") from error
    if not is_whole:
        raise Damaged(f"{file} was changed after it was written.")
    if not _has_known_files(version, names):
        raise InvalidArgument(
            f"The backup has format version {version}; this program reads {FIRST_VERSION} and {VERSION}.",
            "Use the release that wrote it.",
        )
    return manifest


def get_keys_directory() -> Path:
    return Path(settings.WIRE_DATA_DIR) / "keys"


def list_keys() -> list[Path]:
    """Return the files in `keys/`, by name, without those left out and hidden drafts of new keys."""
    if not get_keys_directory().is_dir():
        return []
    files = (file for file in get_keys_directory().iterdir() if file.is_file() and not file.name.startswith("."))
    return sorted(file for file in files if file.name not in KEYS_LEFT_OUT)


def list_tables() -> list[str]:
    """Return the tables of every installed app by the applied migrations. Raises: InvalidArgument if a newer program made some."""
    applied = list_applied()
    if newer := list_newer(applied):
        raise InvalidArgument(
            f"A newer release has used this database: it applied {newer[0]} and may have added tables unknown here.",
            "Take the backup with that release.",
        )
    models = MigrationLoader(connection).project_state(sorted(applied)).apps.get_models(include_auto_created=True)
    return sorted({model._meta.db_table for model in models if model._meta.managed} - set(TABLES_LEFT_OUT))


def count_system_rows() -> dict[str, int]:
    """Count the rows of each of `COUNTED` that this installation has a table for."""
    present = set(connection.introspection.table_names())
    labels = {name: label for name, label in COUNTED.items() if label.split(".")[0] in apps.app_configs}
    models = {name: apps.get_model(label) for name, label in labels.items()}
    return {name: model._base_manager.count() for name, model in models.items() if model._meta.db_table in present}


def find_filled_table() -> str:
    """Return the first table with rows that a new installation does not have, or "". Raises: DatabaseError."""
    present = set(connection.introspection.table_names())
    database: Any = connection
    for model in apps.get_models(include_auto_created=True):
        table, most = model._meta.db_table, FOUNDED.get(model._meta.label, 0)
        if table in present and most < _ANY:
            with database.cursor() as cursor:
                cursor.execute(f'SELECT count(*) FROM (SELECT 1 FROM "{table}" LIMIT {most + 1}) AS first_rows')  # noqa: S608  ours
                if cursor.fetchone()[0] > most:
                    return table
    return ""


def write_tables(folder: Path) -> dict[str, Table]:
    """Write every table to `folder`, as of the moment of the caller's transaction; return their contents by name."""
    folder.mkdir()
    return {table: _write_table(table, folder / f"{table}{TABLE_ENDING}") for table in list_tables()}


def _write_table(table: str, file: Path) -> Table:
    database: Any = connection
    with database.cursor() as cursor:
        cursor.execute(
            "SELECT attname, pg_get_serial_sequence(quote_ident(%s), attname) FROM pg_attribute "
            "WHERE attrelid = quote_ident(%s)::regclass AND attnum > 0 AND NOT attisdropped AND attgenerated = '' ORDER BY attnum",
            [table, table],
        )
        columns = dict(cursor.fetchall())
        with file.open("wb") as raw, gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as out:
            with cursor.copy(f"COPY {_write_columns(table, columns)} TO STDOUT") as blocks:
                for block in blocks:
                    out.write(block)
            rows = cursor.rowcount
        sequences = {}
        for column, sequence in columns.items():
            if sequence:
                # After the rows: a sequence is of no moment, so that this number is never below one of theirs.
                cursor.execute(f"SELECT last_value FROM {sequence} WHERE is_called")  # noqa: S608  as the database quotes it
                if last := cursor.fetchone():
                    sequences[column] = last[0]
    return {"columns": list(columns), "rows": rows, "sequences": sequences}


def refuse_newer_database(wanted: set[Migration]) -> None:
    """Raises: InvalidArgument when this database is ahead of the backup."""
    if ahead := sorted(list_applied() - wanted):
        raise InvalidArgument(
            f"The database was migrated further than the backup: {'.'.join(ahead[0])} is not in it. Nothing was changed.",
            "Restore into a new database (createdb), which this command migrates itself.",
        )


def read_tables(folder: Path, tables: Mapping[str, Table], migrations: set[Migration]) -> None:
    """Make the tables as they were, fill them in one transaction, then migrate them. Raises: Damaged, DatabaseError."""
    executor = MigrationExecutor(connection)
    # The last of each app: the executor takes a target that is applied already for a wish to go back to it.
    children = executor.loader.graph.node_map
    followed = {node for node in migrations if any(c.key[0] == node[0] and c.key in migrations for c in children[node].children)}
    executor.migrate(sorted(migrations - followed))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"TRUNCATE {', '.join(map(_quote_name, tables))}")
        for table, saved in tables.items():
            _read_table(folder / f"{table}{TABLE_ENDING}", table, saved, cursor)
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")  # what refers to a row that is missing is named here
    call_command("migrate", verbosity=0)


def _read_table(file: Path, table: str, saved: Table, cursor: Any) -> None:
    with gzip.open(file) as stored, cursor.copy(f"COPY {_write_columns(table, saved['columns'])} FROM STDIN") as blocks:
        shutil.copyfileobj(stored, blocks, BLOCK)
    if cursor.rowcount != saved["rows"]:
        raise Damaged(f"{table} was restored with {cursor.rowcount:,} rows, but the manifest says {saved['rows']:,}.")
    for column, last in saved["sequences"].items():
        cursor.execute("SELECT setval(pg_get_serial_sequence(quote_ident(%s), %s), %s)", [table, column, last])


def _write_columns(table: str, columns: Iterable[str]) -> str:
    return f"{_quote_name(table)} ({', '.join(map(_quote_name, columns))})"


def _quote_name(name: str) -> str:
    return connection.ops.quote_name(name)
