"""Write the whole wire as NDJSON that `loadwire` restores with byte-identical hashes."""

import gzip
import sys
from contextlib import closing
from pathlib import Path
from typing import IO, Any, cast

import orjson
from django.core.management.base import BaseCommand, CommandParser
from django.db import connection, transaction

from wire.archive.dump import records


class Command(BaseCommand):
    help = "Write every story, revision, snapshot, signature and public key as NDJSON. The same wire gives the same bytes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, help="Where to write; .gz is compressed. Standard output if left out.")

    def handle(self, *, file: Path | None, **_options: Any) -> None:
        written = 0
        draft = file.with_name(f".{file.name}.part") if file else None
        with transaction.atomic(), closing(_open(draft, packed=bool(file and file.suffix == ".gz"))) as out:
            if connection.vendor == "postgresql":
                connection.cursor().execute("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            for record in records():
                out.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
                written += 1
        if file and draft:
            draft.replace(file)  # whole or not at all
            self.stderr.write(f"{written:,} records written to {file}.")


def _open(file: Path | None, *, packed: bool) -> IO[bytes]:
    if file is None:
        return cast(IO[bytes], open(sys.stdout.fileno(), "wb", closefd=False))
    raw = file.open("wb")
    # No name and no time inside, so that the same wire gives the same bytes.
    return cast(IO[bytes], gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0)) if packed else raw
