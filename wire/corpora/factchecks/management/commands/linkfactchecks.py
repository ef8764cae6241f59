"""Find the stories that are about claims."""

from typing import Any

from django.core.management.base import CommandParser

from config.command_base import WireCommand
from config.database import fault_explanations
from config.errors import WireError
from wire.corpora.factchecks import embedding, story_links
from wire.corpora.factchecks.models import FactcheckState


class Command(WireCommand):
    help = (
        "Find which stories of recent days are about claims that were checked; run by every ingest. Links that editors "
        "pinned or cut are left alone. With --seconds, missing vectors are made first, for at most that long."
    )

    stealth_options = ("stop",)  # of a run of ingest; this one is bounded by its seconds

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--days", type=int, default=story_links.DAYS, metavar="N", help=f"Days back ({story_links.DAYS}).")
        parser.add_argument("--seconds", type=float, metavar="N", help="At most N seconds for vectors.")

    def handle(self, **options: Any) -> None:
        with fault_explanations.explain_errors():
            if not FactcheckState.objects.get(pk=1).next_number:
                return  # no claim was ever loaded
            try:
                made = embedding.embed_missing(options["seconds"]) if options["seconds"] else 0
            except WireError as error:
                made = 0
                self.stderr.write(f"{error.message} {error.hint}")
            links = story_links.link_recent_stories(options["days"])
        if made or links is not None:
            self.stdout.write(f"Fact-checks: vectors of {made:,} claims made, {links or 0:,} links with stories.")
