"""Make the vectors that fact-checks lack."""

from typing import Any

from django.core.management.base import CommandError, CommandParser

from config.command_base import WireCommand
from config.database import fault_explanations
from config.errors import WireError
from wire.corpora.factchecks import embedding


class Command(WireCommand):
    help = (
        "Make the vectors by which search compares meanings, for claims that have none from the model in use. After a change "
        "of model, searches use the old vectors until all are made. Resumable; every ingest runs it for a limited time."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--seconds", type=float, metavar="N", help="At most N seconds.")

    def handle(self, **options: Any) -> None:
        model = embedding.get_model()
        if model is None:
            raise CommandError("No model makes vectors here: see FACTCHECKS_EMBEDDING in docs/settings.md. Nothing was changed.")
        with fault_explanations.explain_errors():
            try:
                made = embedding.embed_missing(options["seconds"])
            except WireError as error:
                raise CommandError(f"{error.message} What was made stays; run it again to continue.") from error
            left = embedding.select_unembedded(model.name).count()
        self.stdout.write(f"Vectors of {made:,} claims made by {model.name}; {left:,} left.")
