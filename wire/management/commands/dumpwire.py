import sys
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from config.command_base import WireCommand
from config.database import fault_explanations
from wire.ops.archive.dump import Broken, write_dump


class Command(WireCommand):
    help = "Write every story, revision, snapshot, signature and public key as NDJSON. The same wire gives the same bytes."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", nargs="?", type=Path, help="Where to write; .gz is compressed. Standard output if left out.")

    def handle(self, *, file: Path | None, **_options: Any) -> None:
        draft = file.with_name(f".{file.name}.part") if file else None
        try:
            with (
                draft.open("wb") if draft else open(sys.stdout.fileno(), "wb", closefd=False) as out,
                fault_explanations.explain_errors(),
            ):
                written = write_dump(out, packed=file is not None and file.suffix == ".gz")
            if draft and file:
                draft.replace(file)  # whole or not at all
                self.stderr.write(f"{written:,} records written to {file}.")
        except (Broken, OSError) as error:
            raise CommandError(f"The dump was not written: {error}") from error
        finally:
            if draft:
                draft.unlink(missing_ok=True)
