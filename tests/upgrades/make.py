"""Make the data of a released version by its own code, and write down what it answered.

README.md beside this says how to run it: inside a checkout of that version, with its own libraries.
"""

import datetime as dt
import importlib
import json
import logging
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import django
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.utils import timezone

STORED: Final = dt.datetime(2026, 10, 16, 12, 0, tzinfo=dt.UTC)  # the first of the sample's four days is final then
CORRECTED: Final = STORED + dt.timedelta(hours=1)
WITHDRAWN: Final = STORED + dt.timedelta(hours=2)
STORIES: Final = 12  # of each of the sample's four days
TERMS: Final = 100


def find(*names: str) -> ModuleType:
    """Return the first of these modules that the version has."""
    for name in names:
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            if error.name is None or not name.startswith(error.name):
                raise
    raise ModuleNotFoundError(", ".join(names))


def fill(folder: Path) -> None:
    """Publish a part of the sample wire; then correct a story of the final day and one of an open day, and withdraw one."""
    timezone.now = lambda: STORED
    call_command("migrate", verbosity=0)
    archive = find("wire.archive.load")
    publishing = find("wire.publish", "wire.snapshots.publish")
    corrections = find("wire.editorial", "wire.intake.corrections")
    models = find("wire.models")
    models.WireState.objects.update(is_sample=True)
    for file in sorted(Path("fixtures/sample").glob("*.ndjson")):
        first_of_day = folder / file.name
        first_of_day.write_bytes(b"".join(file.read_bytes().splitlines(keepends=True)[:STORIES]))
        archive.load_items(first_of_day, {})
    publishing.publish_pending(now=STORED)
    days = models.Story.objects.exclude(event=None).order_by("wire_date", "chatbotnews_id")
    first, second, *_, last = days.values_list("chatbotnews_id", flat=True)
    corrections.correct(first, headline="[Fictional] A headline that was put right", reason="A name was misspelt.", now=CORRECTED)
    corrections.correct(last, author="Ada Quillfeather", reason="The byline was missing.", now=CORRECTED)
    corrections.withdraw(second, reason="The publisher took it back.", now=WITHDRAWN)


def trim() -> None:
    """Leave a hundred of 27,000 shipped terms: no answer needs them, each release brings its own, and they are most of the file."""
    terms = find("wire.models").LexiconTerm.objects.order_by("pk")
    terms.filter(pk__gt=list(terms[:TERMS])[-1].pk).delete()


def list_paths() -> list[str]:
    """Return addresses of every story, of its citations, and of every revision of every day."""
    models = find("wire.models")
    formats = list(find("citations.formats").CitationFormat)
    categories = list(find("wire.vocabulary", "wire.stories.vocabulary").Category.values)
    paths = [f"/api/categories/{category}.json?limit=5" for category in categories]
    for story in models.Story.objects.order_by("chatbotnews_id").values_list("chatbotnews_id", flat=True):
        paths += [f"/api/stories/{story}.json", *(f"/api/citations/{story}.json?format={name}" for name in formats)]
    for snapshot in models.Snapshot.objects.order_by("sequence"):
        paths += [f"/api/archive/{snapshot.wire_date}.json?revision={snapshot.revision}"]
    for day in sorted({snapshot.wire_date for snapshot in models.Snapshot.objects.all()}):
        paths += [f"/api/provenance/{day}.json", f"/api/editor-take/{day}.json"]
    return paths


def record() -> dict[str, tuple[int, Any]]:
    """Return status and body of each address, and of the second page of each list."""
    client, answers = Client(), {}
    todo = list_paths()
    while todo:
        path = todo.pop(0)
        answer = client.get(path)
        answers[path] = (answer.status_code, json.loads(answer.content))
        cursor = answers[path][1].get("next_cursor")
        if cursor and "cursor=" not in path:
            todo.append(f"{path}&cursor={cursor}")
    return answers


def main(target: str) -> None:
    settings.ALLOWED_HOSTS = ["*"]
    django.setup()
    logging.disable()
    folder = Path(target)
    fill(folder)
    trim()
    answers = json.dumps(record(), ensure_ascii=False, sort_keys=True, indent=0)
    if connection.vendor == "sqlite":
        (folder / "answers.json").write_text(answers, encoding="utf-8")
        with closing(sqlite3.connect(str(connection.settings_dict["NAME"]))) as database:
            database.execute("VACUUM INTO ?", [str(folder / "vacuumed.sqlite3")])
        return
    if answers != (folder / "answers.json").read_text(encoding="utf-8"):
        raise SystemExit("The two databases do not answer alike.")
    command = ["pg_dump", "--inserts", "--rows-per-insert=200", "--no-owner", "--no-privileges", os.environ["DATABASE_URL"]]
    with (folder / "postgres.sql").open("wb") as file:
        subprocess.run(command, stdout=file, check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
