import csv
import datetime as dt
from pathlib import Path
from typing import Any

from django.core.management.base import CommandParser

from config.command_base import WireCommand
from config.database import fault_explanations
from wire.models import Story, StoryPair
from wire.publishing.grouping.candidates import WINDOW

STORY_COLUMNS = {
    "id": "chatbotnews_id",
    "title": "current__headline",
    "summary": "current__summary_medium",
    "publisher": "current__original_publisher",
    "published_at": "published_at",
    "event": "event_id",
}


class Command(WireCommand):
    help = (
        "Write pairs.tsv, the pairs of stories that editors decided on (S one event, F another event of one storyline, N neither), "
        "and stories.csv, all stories of about the same days, to a folder. `fitevents` fits the weights of grouping to them."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folder", type=Path, metavar="FOLDER")

    def handle(self, **options: Any) -> None:
        with fault_explanations.explain_errors():
            decided = StoryPair.objects.exclude(label="").order_by("pk")
            pairs = list(decided.values_list("story__chatbotnews_id", "other__chatbotnews_id", "label"))
            days = {moment.date() for row in decided.values_list("story__published_at", "other__published_at") for moment in row}
            near = {day + dt.timedelta(days=apart) for day in days for apart in range(-WINDOW.days, WINDOW.days + 1)}
            live = Story.objects.live().filter(wire_date__in=near).order_by("published_at", "chatbotnews_id")
            stories = list(live.values_list(*STORY_COLUMNS.values()))
        folder: Path = options["folder"]
        folder.mkdir(parents=True, exist_ok=True)
        known = {row[0] for row in stories}
        lines = ["\t".join(pair) for pair in pairs if pair[0] in known and pair[1] in known]
        (folder / "pairs.tsv").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        with (folder / "stories.csv").open("w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(STORY_COLUMNS)
            writer.writerows(stories)
        self.stdout.write(f"Written to {folder}: {len(lines)} decided pairs, {len(stories)} stories.")
