from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from config.database import faults
from wire.ops.archive.dump import Broken
from wire.ops.backup.create import create_backup


class Command(BaseCommand):
    help = "Write every table as of one moment, and the keys, to a new directory, while it is served and published."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="A directory that is not there yet; it holds the private key: keep it secret.")

    def handle(self, *, path: Path, **_options: Any) -> None:
        try:
            with faults.explaining():
                manifest = create_backup(path)
        except (Broken, DatabaseError, OSError) as error:
            raise CommandError(f"No backup was written: {error}") from error
        size = sum(file["bytes"] for file in manifest["files"].values())
        end = f"up to snapshot {manifest['sequence']}" if manifest["sequence"] else "without any snapshot yet"
        self.stdout.write(f"Wrote {size:,} bytes to {path}: the wire of {manifest['taken_at']}, {end}.")
        self.stdout.write(f"It holds {', '.join(f'{number:,} {system}' for system, number in manifest['counts'].items())}.")
