"""Write the whole wire as NDJSON that `loadwire` restores with byte-identical hashes."""

import sys
from pathlib import Path
from typing import IO, Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from config.database import faults
from wire.ops.archive.dump import Broken, write


class Command(BaseCommand):
    help = "Write every story, revision, snapshot, signature and public key as NDJSON. The same wire gives the same bytes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, help="Where to write; .gz is compressed. Standard output if left out.")

    def handle(self, *, file: Path | None, **_options: Any) -> None:
        if file is None:
            with open(sys.stdout.fileno(), "wb", closefd=False) as out:
                self._write(out, packed=False)
            return
        draft = file.with_name(f".{file.name}.part")
        try:
            with draft.open("wb") as out:
                written = self._write(out, packed=file.suffix == ".gz")
            draft.replace(file)  # whole or not at all
        except OSError as error:
            raise CommandError(f"The dump was not written: {error}") from error
        finally:
            draft.unlink(missing_ok=True)
        self.stderr.write(f"{written:,} records written to {file}.")

    def _write(self, out: IO[bytes], *, packed: bool) -> int:
        try:
            with faults.explaining():
                return write(out, packed=packed)
        except (Broken, OSError) as error:
            raise CommandError(f"The dump was not written: {error}") from error
