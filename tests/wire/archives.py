"""Archives and whole wires for tests: files as loadwire takes them, a database told as rows, a database emptied."""

import gzip
import io
import json
import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.management import call_command
from django.db import connection, transaction

from sources import roster
from wire.models import LexiconTerm, WireState

MANAGE = Path(settings.BASE_DIR) / "manage.py"
KEPT = {LexiconTerm, WireState}


def item(number: int = 0, **values: Any) -> dict[str, Any]:
    """An item of 15 January 2026; each number has an address and a headline of its own. A value of None leaves a field out."""
    usual = {
        "title": f"Quince Robotics model number {number} learns trick {number * 7919}",
        "url": f"https://techcrunch.com/2026/01/15/story-{number}/",
        "publisher": "TechCrunch",
        "published_at": "2026-01-15T10:00:00Z",
        "summary": f"Robot {number} learned a trick. It has {number + 2} more to learn.",
    }
    return {name: value for name, value in (usual | values).items() if value is not None}


def line(number: int = 0, **values: Any) -> bytes:
    return json.dumps(item(number, **values)).encode()


def ndjson(file: Path, lines: Iterable[bytes], *, end: bytes = b"\n") -> Path:
    """A file of lines, packed when its name ends in .gz."""
    content = b"".join(line + end for line in lines)
    file.write_bytes(gzip.compress(content) if file.suffix == ".gz" else content)
    return file


def rss(*items: dict[str, str], title: str = "TechCrunch") -> str:
    """An RSS 2.0 document; values are put in as they are."""
    told = "".join("<item>" + "".join(f"<{tag}>{text}</{tag}>" for tag, text in one.items()) + "</item>" for one in items)
    return f'<?xml version="1.0"?>\n<rss version="2.0"><channel><title>{title}</title>{told}</channel></rss>\n'


def rss_item(number: int = 0, **values: str) -> dict[str, str]:
    made = item(number)
    usual = {
        "title": made["title"],
        "link": made["url"],
        "pubDate": "Thu, 15 Jan 2026 10:00:00 GMT",
        "description": made["summary"],
    }
    return usual | values


def loadwire(*paths: Path, **options: Any) -> dict[str, int]:
    """What the command reports, by name."""
    out = io.StringIO()
    call_command("loadwire", *map(str, paths), stdout=out, stderr=io.StringIO(), **options)
    return counts(out.getvalue())


def counts(report: str) -> dict[str, int]:
    """The counts in a report of loadwire that are not zero."""
    found = {name: int(number.replace(",", "")) for name, number in re.findall(r"^  (\S.*?)\s+([\d,]+)$", report, re.M)}
    return {name: number for name, number in found.items() if number}


def rejected(file: Path, **options: Any) -> list[tuple[int, str]]:
    """Line and reason of everything that loading `file` refuses."""
    rejects = file.with_name("rejects.ndjson")
    loadwire(file, rejects=rejects, **options)
    return [(row["line"], row["reason"]) for row in map(json.loads, rejects.read_text().splitlines())]


def dump(file: Path) -> bytes:
    call_command("dumpwire", str(file), stderr=io.StringIO())
    return file.read_bytes()


def verifywire(**options: Any) -> str:
    """What the command says. Raises: CommandError, naming the first break."""
    out = io.StringIO()
    call_command("verifywire", stdout=out, **options)
    return out.getvalue()


def everything() -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table of the wire and the roster, timestamps and keys included."""
    return {
        model._meta.label: [
            tuple(bytes(value) if isinstance(value, memoryview) else value for value in row)
            for row in model._base_manager.order_by("pk").values_list()
        ]
        for label in ("sources", "wire")
        for model in apps.get_app_config(label).get_models()
    }


@transaction.atomic
def empty_wire() -> None:
    """The database as the first migrate leaves it."""
    with connection.cursor() as cursor:
        for label in ("wire", "sources"):
            for model in apps.get_app_config(label).get_models():
                if model not in KEPT:
                    cursor.execute(f'DELETE FROM "{model._meta.db_table}"')  # noqa: S608  our own table names
    WireState.objects.update(version=0, is_sample=False)
    roster.found()


def own_environment(data_dir: Path) -> dict[str, str]:
    """For a process with the production settings and a SQLite database of its own."""
    names = {"WIRE_DATA_DIR": str(data_dir), "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "config.settings", "COLUMNS": "120"}
    return os.environ | names
