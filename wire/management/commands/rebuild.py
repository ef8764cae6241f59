"""Read what was fetched again with today's rules; show what would change, then do it."""

import datetime as dt
import sys
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandParser

from config.database import faults
from wire.intake import rebuild

SHOWN: Final = 50


class Command(BaseCommand):
    help = (
        "Parse, classify and publish again what was fetched since a day (the last 30 are kept), with today's rules. Shows what "
        "would change and asks; --yes does not ask, and without a terminal nothing is done unless it is given."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--since", type=dt.date.fromisoformat, required=True, metavar="DATE", help="UTC day, YYYY-MM-DD.")
        parser.add_argument("--yes", action="store_true", help="Do it without asking.")

    def handle(self, **options: Any) -> None:
        with faults.explaining():
            plan = rebuild.plan(options["since"])
            self._show(plan)
            if not (plan.added or plan.changed):
                self.stdout.write("Nothing would change.")
                return
            if not (options["yes"] or self._agreed()):
                self.stdout.write("Nothing was changed. Give --yes to do it.")
                return
            done, snapshots = rebuild.apply(options["since"])
        self.stdout.write(f"Done: {len(done.added)} added, {len(done.changed)} changed, {len(snapshots)} snapshots published.")

    def _agreed(self) -> bool:
        return sys.stdin.isatty() and input("Do it? [y/N] ").strip().lower() in {"y", "yes"}

    def _show(self, plan: rebuild.Plan) -> None:
        self.stdout.write(f"{plan.fetches:,} fetches read again.")
        for line in plan.unreadable:
            self.stderr.write(f"cannot be read: {line}")
        self._list("would be added", [repr(headline) for headline in plan.added])
        self._list(
            "would change",
            [
                f"{c.chatbotnews_id} {c.headline!r}: "
                + "; ".join(f"{name} {c.was[name]!r} -> {c.becomes[name]!r}" for name in c.was)
                for c in plan.changed
            ],
        )
        self._list(
            "would be refused today and stay; withdraw them in the admin if they must go", [" ".join(r) for r in plan.refused]
        )

    def _list(self, what: str, lines: list[str]) -> None:
        if lines:
            self.stdout.write(f"{len(lines):,} {what}:")
            for line in lines[:SHOWN]:
                self.stdout.write(f"  {line}")
            if len(lines) > SHOWN:
                self.stdout.write(f"  … and {len(lines) - SHOWN:,} more")
