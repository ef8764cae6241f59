import sys
from typing import Any, Final

from django.core.management.base import CommandParser

from config.command_base import WireCommand
from config.database import fault_explanations
from wire.ingest import twin_stories

SHOWN: Final = 200


class Command(WireCommand):
    help = (
        "Find articles that were stored twice, because their publication gave them under two addresses, and merge the newer story "
        "into the older one. The older one keeps its page and citations; the newer one's id and addresses lead to it. Shows them "
        "and asks first; --yes skips the question, and is required without a terminal."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="Show what would be merged; change nothing.")
        parser.add_argument("--yes", action="store_true", help="Do it without asking.")

    def handle(self, **options: Any) -> None:
        with fault_explanations.explain_errors():
            plan = twin_stories.plan_merges()
            self._print_twins("would be merged", plan.twins)
            self._print_twins(
                "stay because an editor changed them; make the same changes to the other story, then withdraw these", plan.edited
            )
            if plan.waiting:
                self.stdout.write(f"{plan.waiting:,} were already merged and wait to be published.")
            if not (plan.twins or plan.waiting):
                self.stdout.write("Nothing would be merged.")
                return
            may_ask = sys.stdin.isatty() and not options["dry_run"] and not options["yes"]
            is_agreed = options["yes"] or (may_ask and input("Merge them? [y/N] ").strip().lower() in {"y", "yes"})
            if options["dry_run"] or not is_agreed:
                self.stdout.write("Nothing was changed. Give --yes to merge them.")
                return
            done, snapshots = twin_stories.merge_twins()
        self.stdout.write(f"Done: {len(done.twins):,} merged. Published: {', '.join(map(str, snapshots)) or 'nothing'}.")

    def _print_twins(self, what: str, found: list[twin_stories.Twin]) -> None:
        if found:
            self.stdout.write(f"{len(found):,} {what}:")
        for twin in found[:SHOWN]:
            story, standing = twin.story.story, twin.standing.story
            self.stdout.write(f"  {story.publication.name}: {twin.story.latest.headline!r}")
            self.stdout.write(f"    {story.chatbotnews_id} {story.original_url}")
            self.stdout.write(f"    into {standing.chatbotnews_id} {standing.original_url}")
        if len(found) > SHOWN:
            self.stdout.write(f"  … and {len(found) - SHOWN:,} more")
