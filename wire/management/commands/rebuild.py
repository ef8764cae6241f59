import datetime as dt
import sys
from typing import Any, Final

from django.core.management.base import CommandParser

from config.command_base import WireCommand
from config.database import fault_explanations
from wire.ingest import rebuild
from wire.ingest.draft_comparison import Outcome

SHOWN: Final = 50


class Command(WireCommand):
    help = (
        "Parse, classify and publish again what was fetched since a day (30 days are kept), with today's rules. Shows what "
        "would change and asks first; --yes skips the question, and is required without a terminal."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--since", type=dt.date.fromisoformat, required=True, metavar="DATE", help="UTC day, YYYY-MM-DD.")
        parser.add_argument(
            "--final-days", action="store_true", help="Also change final days; each gets a new revision, which names the reason."
        )
        parser.add_argument("--dry-run", action="store_true", help="Show what would change; change nothing.")
        parser.add_argument("--yes", action="store_true", help="Do it without asking.")

    def handle(self, **options: Any) -> None:
        with fault_explanations.explain_errors():
            chosen = {"since": options["since"], "final_days": options["final_days"]}
            plan = rebuild.plan_rebuild(**chosen)
            self._print_plan(plan, "will" if options["yes"] else "would")
            if left := plan.counts[Outcome.FINAL_DAY]:
                self.stdout.write(f"Items of final days left out: {left:,}; --final-days includes them.")
            if not (plan.added or plan.changed):
                self.stdout.write("Nothing would change.")
                return
            if options["dry_run"]:
                self.stdout.write("Nothing was changed.")
                return
            may_ask = sys.stdin.isatty() and not options["yes"]
            if not (options["yes"] or (may_ask and input("Do it? [y/N] ").strip().lower() in {"y", "yes"})):
                self.stdout.write("Nothing was changed. Give --yes to do it.")
                return
            done, snapshots = rebuild.rebuild_days(**chosen)
        self.stdout.write(
            f"Done: {len(done.added)} added, {len(done.changed)} changed. Published: {', '.join(map(str, snapshots)) or 'nothing'}."
        )

    def _print_plan(self, plan: rebuild.Plan, verb: str) -> None:
        self.stdout.write(f"{plan.fetches:,} fetches read again.")
        if plan.unseen:
            why = "loaded from an archive, or the fetch is no longer stored"
            self.stdout.write(f"{plan.unseen:,} of these days' stories cannot be rebuilt and stay: {why}.")
        for line in plan.unreadable:
            self.stderr.write(f"cannot be read: {line}")
        self._print_list(f"{verb} be added", [repr(headline) for headline in plan.added])
        changed = []
        for one in plan.changed:
            values = "; ".join(f"{name} {one.was[name]!r} -> {one.becomes[name]!r}" for name in one.was)
            changed.append(f"{one.chatbotnews_id} {one.headline!r}: {values}")
        self._print_list(f"{verb} change", changed)
        refused = "would be refused today and stay; withdraw them in the admin if they must go"
        self._print_list(refused, [" ".join(row) for row in plan.refused])

    def _print_list(self, what: str, lines: list[str]) -> None:
        if lines:
            self.stdout.write(f"{len(lines):,} {what}:")
            for line in lines[:SHOWN]:
                self.stdout.write(f"  {line}")
            if len(lines) > SHOWN:
                self.stdout.write(f"  … and {len(lines) - SHOWN:,} more")
