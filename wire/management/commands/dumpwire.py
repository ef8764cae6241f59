"""Write the whole wire as NDJSON that `loadwire` restores with byte-identical hashes."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config import trouble
from wire.archive.dump import Broken, write


class Command(BaseCommand):
    help = "Write every story, revision, snapshot, signature and public key as NDJSON. The same wire gives the same bytes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, help="Where to write; .gz is compressed. Standard output if left out.")

    def handle(self, *, file: Path | None, **_options: Any) -> None:
        draft = file.with_name(f".{file.name}.part") if file else None
        try:
            with trouble.told():
                written = self._write(draft, packed=bool(file and file.suffix == ".gz"))
            if file and draft:
                draft.replace(file)  # whole or not at all
                self.stderr.write(f"{written:,} records written to {file}.")
        finally:
            if draft:
                draft.unlink(missing_ok=True)

    def _write(self, file: Path | None, *, packed: bool) -> int:
        try:
            with _open(file) as out:
                return write(out, packed=packed)
        except (Broken, OSError) as error:
            raise CommandError(f"The dump was not written: {error}") from error


@contextmanager
def _open(file: Path | None) -> Iterator[IO[bytes]]:
    with file.open("wb") if file else open(sys.stdout.fileno(), "wb", closefd=False) as raw:
        yield raw
