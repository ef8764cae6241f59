"""Write the whole wire as NDJSON that `loadwire` restores with byte-identical hashes."""

import gzip
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import IO, Any, cast

import orjson
from django.core.management.base import BaseCommand, CommandError, CommandParser

from wire.archive.dump import Broken, one_moment, records


class Command(BaseCommand):
    help = "Write every story, revision, snapshot, signature and public key as NDJSON. The same wire gives the same bytes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, help="Where to write; .gz is compressed. Standard output if left out.")

    def handle(self, *, file: Path | None, **_options: Any) -> None:
        written = 0
        draft = file.with_name(f".{file.name}.part") if file else None
        try:
            with one_moment(), closing(records()) as stored, _open(draft, packed=bool(file and file.suffix == ".gz")) as out:
                for record in stored:
                    out.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))
                    written += 1
        except (Broken, OSError) as error:
            if draft:
                draft.unlink(missing_ok=True)
            raise CommandError(f"The dump was not written: {error}") from error
        if file and draft:
            draft.replace(file)  # whole or not at all
            self.stderr.write(f"{written:,} records written to {file}.")


@contextmanager
def _open(file: Path | None, *, packed: bool) -> Iterator[IO[bytes]]:
    with file.open("wb") if file else open(sys.stdout.fileno(), "wb", closefd=False) as raw:
        if not packed:
            yield raw
            return
        # No name and no time inside, so that the same wire gives the same bytes.
        with gzip.GzipFile(filename="", fileobj=raw, mode="wb", mtime=0) as out:
            yield cast(IO[bytes], out)
