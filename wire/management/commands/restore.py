from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from config.command_base import WireCommand
from config.errors import WireError
from wire.ops.archive.dump import Broken
from wire.ops.backup.contents import DUMP, count_system_rows
from wire.ops.backup.restore import restore_backup, verify_restored
from wire.publishing import story_json


class Command(WireCommand):
    help = "Restore a backup made by manage.py backup into an empty installation and verify it. A damaged backup changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("path", type=Path, help="A directory that manage.py backup wrote.")

    def handle(self, *, path: Path, **_options: Any) -> None:
        try:
            manifest = restore_backup(path)
        except WireError as error:
            raise CommandError(f"{error.message} {error.hint}".strip()) from error
        except (Broken, DatabaseError, OSError) as error:
            raise CommandError(f"The backup was not restored: {error}") from error
        try:
            result = verify_restored(manifest)
        except (Broken, WireError) as error:
            raise CommandError(f"The backup of {manifest['taken_at']} is restored, but verification FAILED: {error}") from error
        story_json.render_outdated_json()  # SECRET_KEY or WIRE_SITE_URL may differ from those of the backup
        self.stdout.write(
            f"The wire of {manifest['taken_at']} is restored. Verified: {result.counts['snapshot']:,} snapshots, "
            f"{result.counts['story']:,} stories; the chain ends in {result.last_sha256}."
        )
        self.stdout.write(f"There are {', '.join(f'{number:,} {system}' for system, number in count_system_rows().items())}.")
        if DUMP in manifest["files"]:
            self.stdout.write(
                "The backup was made by an earlier release, which on Postgres saved only the wire: fact-checks, publishers, "
                "corpora, agents and accounts are not in it. Restore these from a pg_dump of that time."
            )
