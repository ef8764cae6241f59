from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser

from config.command_base import WireCommand
from config.database import fault_explanations
from wire.ops.archive import reader
from wire.ops.archive.dump import Broken
from wire.ops.archive.verify import read_dump, verify_database, verify_dump


class Command(WireCommand):
    help = "Recompute the whole chain. Exit 0: everything is as it was published. Exit 1: the first break is named."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--from-files", type=Path, metavar="DIR", help="A dump, or a directory of dumps, instead of the database."
        )

    def handle(self, *, from_files: Path | None, **_options: Any) -> None:
        try:
            if from_files is None:
                with fault_explanations.explain_errors():
                    self._print_result("database", verify_database())
                return
            files = [file for file in reader.expand_paths([from_files])[0] if reader.is_dump(file)]
            if not files:
                raise CommandError(f"There is no dump in {from_files}; `manage.py dumpwire FILE.ndjson.gz` writes one.")
            for file in files:
                self._print_result(file.name, verify_dump(read_dump(file)))
        except FileNotFoundError as error:
            raise CommandError(f"There is no {error}.") from error
        except Broken as error:
            raise CommandError(f"First break: {error}") from error

    def _print_result(self, what: str, result: Any) -> None:
        counts = result.counts
        self.stdout.write(
            f"{what}: {counts['snapshot']:,} snapshots, {counts['story']:,} stories, {counts['revision']:,} revisions "
            f"verify; the chain ends in {result.last_sha256}."
        )
        if others := counts["other_key"]:
            self.stdout.write(
                f"{others:,} rows bear the seal of another SECRET_KEY. If you changed the key, manage.py sealrows seals them "
                "with this one; if not, somebody else sealed them."
            )
