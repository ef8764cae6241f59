"""Bring a backup back."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from config.errors import WireError
from wire.archive.dump import Broken
from wire.backup.restore import restore, verify


class Command(BaseCommand):
    help = "Bring a backup of manage.py backup back into an empty installation, and verify it. A damaged one changes nothing."

    requires_system_checks: list[str] = []  # the database they would look at may be the one that is broken

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="A directory that manage.py backup wrote.")
        parser.add_argument(
            "--replace", action="store_true", help="SQLite: take the place of what is there, which stays beside it."
        )

    def handle(self, *, path: Path, replace: bool, **_options: Any) -> None:
        try:
            restored = restore(path, replace=replace)
        except WireError as error:
            raise CommandError(f"{error.message} {error.hint}".strip()) from error
        except (Broken, DatabaseError, OSError) as error:
            raise CommandError(f"The backup was not restored: {error}") from error
        for kept in restored.kept:
            self.stdout.write(f"What was there before is kept as {kept}.")
        try:
            result = verify(restored)
        except (Broken, WireError) as error:
            raise CommandError(f"The backup of {restored.manifest['taken_at']} is restored and does NOT verify: {error}") from error
        self.stdout.write(
            f"The wire of {restored.manifest['taken_at']} is back: {result.counts['snapshot']:,} snapshots, "
            f"{result.counts['story']:,} stories verify; the chain ends in {result.last_sha256}."
        )
