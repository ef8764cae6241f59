from typing import Any

from django.core.management.base import CommandParser

from config.command_base import WireCommand
from config.database import faults, row_seal


class Command(WireCommand):
    help = (
        "Seal every row whose seal does not fit, as it is stored now: after an operator changed rows by SQL on purpose, or after "
        "another SECRET_KEY. Run verifywire first and look at what it names; what is sealed counts as correct from then on."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        names = [model._meta.db_table for model in row_seal.sealed_models()]
        parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"only these: {', '.join(names)}")

    def handle(self, *, tables: list[str], **_options: Any) -> None:
        models = row_seal.sealed_models()
        if unknown := sorted(set(tables) - {model._meta.db_table for model in models}):
            self.stderr.write(f"No such table with seals: {', '.join(unknown)}.")
            raise SystemExit(2)
        for model in models:
            if not tables or model._meta.db_table in tables:
                with faults.explaining():
                    number = row_seal.seal_all(model)
                self.stdout.write(f"{model._meta.db_table}: {number:,} rows sealed, all others already were.")
