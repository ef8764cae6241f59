from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from config.command_base import WireCommand
from config.database import fault_explanations
from wire.ops.archive.dump import Broken
from wire.ops.backup.create import create_backup


class Command(WireCommand):
    help = "Write every table as of one moment, and the keys, to a new directory; serving and publishing continue."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="A new directory; it will hold the private key: keep it secret.")

    def handle(self, *, path: Path, **_options: Any) -> None:
        try:
            with fault_explanations.explain_errors():
                manifest = create_backup(path)
        except (Broken, DatabaseError, OSError) as error:
            raise CommandError(f"No backup was written: {error}") from error
        size = sum(file["bytes"] for file in manifest["files"].values())
        end = f"up to snapshot {manifest['sequence']}" if manifest["sequence"] else "without any snapshot yet"
        self.stdout.write(f"Wrote {size:,} bytes to {path}: the wire as of {manifest['taken_at']}, {end}.")
        self.stdout.write(f"It holds {', '.join(f'{number:,} {system}' for system, number in manifest['counts'].items())}.")
