from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import DatabaseError

from config.command_base import WireCommand
from wire import sample_switch
from wire.models import WireState


class Command(WireCommand):
    help = (
        "Show or choose which wire `serve` serves: `on` serves the invented stories even if there is real content, `off` "
        "the live wire even if it is empty. A running server follows within seconds. Nothing is deleted or mixed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("choice", nargs="?", choices=("on", "off"), help="Without it, only show which wire is served.")

    def handle(self, **options: Any) -> None:
        if _is_sample_itself():
            raise CommandError("This is the sample wire itself: set WIRE_DATA_DIR to the live wire's, or leave it unset.")
        if options["choice"]:
            sample_switch.choose_wire(sample=options["choice"] == "on")
        self.stdout.write(describe_served_wire())


def describe_served_wire() -> str:
    if sample_switch.read_choice() == "on":
        return "The SAMPLE wire is served (invented stories). To return to the live wire: manage.py sample off"
    if not sample_switch.is_sample_wanted():
        return "The live wire is served. To see the sample again: manage.py sample on"
    return (
        "The SAMPLE wire is served (invented stories), because the live wire is still empty. The first news ends this, "
        "or at once: manage.py sample off"
    )


def _is_sample_itself() -> bool:
    try:
        return WireState.objects.filter(is_sample=True).exists()
    except DatabaseError:  # not migrated yet, so nothing is in it
        return False
