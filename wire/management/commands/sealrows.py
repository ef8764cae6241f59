from typing import Any

from django.core.management.base import CommandParser

from config.command_base import WireCommand
from config.database import fault_explanations, row_seal


class Command(WireCommand):
    help = (
        "Seal every row whose seal does not match, as it is stored now. Use it after rows were changed by SQL on purpose, or after "
        "a change of SECRET_KEY. Run verifywire first and check the rows it names: once sealed, they count as correct."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        names = [model._meta.db_table for model in row_seal.list_sealed_models()]
        parser.add_argument("tables", nargs="*", metavar="TABLE", help=f"only these: {', '.join(names)}")

    def handle(self, *, tables: list[str], **_options: Any) -> None:
        models = row_seal.list_sealed_models()
        if unknown := sorted(set(tables) - {model._meta.db_table for model in models}):
            self.stderr.write(f"No such table with seals: {', '.join(unknown)}.")
            raise SystemExit(2)
        for model in models:
            if not tables or model._meta.db_table in tables:
                with fault_explanations.explain_errors():
                    number = row_seal.renew_all_seals(model)
                self.stdout.write(f"{model._meta.db_table}: {number:,} rows sealed, all others already were.")
