"""Wires as `manage.py serve` serves them, each with its data in a folder of its own, and what a program reads of them."""

import hashlib
import json
import re
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from tests.clients.server import environment, free_port, run_commands, running, services

LONG_DAY: Final = "2026-03-02"
LONG: Final = 400  # stories of that day
PATIENCE: Final = 120.0  # seconds


@dataclass(frozen=True, slots=True)
class Answer:
    status: int
    type: str
    text: str


@dataclass(frozen=True, slots=True)
class Wire:
    site: str
    said: Path

    def get(self, path: str) -> Answer:
        """What is there, an error page too; redirects are followed."""
        try:
            with urllib.request.urlopen(f"{self.site}{path}", timeout=PATIENCE) as answer:  # noqa: S310  ours
                return Answer(answer.status, answer.headers.get_content_type(), answer.read().decode(errors="replace"))
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.headers.get_content_type(), error.read().decode(errors="replace"))

    def json(self, path: str) -> Any:
        return json.loads(self.get(path).text)

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The result of a tool of the MCP door."""
        asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        request = urllib.request.Request(f"{self.site}/mcp", json.dumps(asked).encode(), headers)  # noqa: S310
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310  ours
            found: dict[str, Any] = json.load(answer)["result"]
        return found

    def password(self) -> str:
        """Of the first account, as the operator reads it on the terminal."""
        return re.search(r"^\| Password: (\S+)", self.said.read_text(encoding="utf-8"), re.M)[1]  # type: ignore[index]


@contextmanager
def serving_sample(folder: Path) -> Iterator[Wire]:
    """The sample wire with one story corrected and one withdrawn."""
    port = free_port()
    edit = (
        "from wire import queries\nfrom wire.ingest import corrections\n"
        "stories = [story for story in queries.get_today().stories if story.cross_source_count == 1]\n"
        "typed = {'headline': stories[0].headline + ' (again)', 'reason': 'A word was missing.'}\n"
        "corrections.correct_texts(stories[0].chatbotnews_id, **typed)\n"
        "corrections.withdraw_story(stories[1].chatbotnews_id, reason='It was told twice.')\n"
    )
    run_commands(_environment(folder / "live" / "sample", port), ("migrate",), ("loadsample",), ("shell", "-c", edit))
    with _serving(folder, port) as wire:
        yield wire


def superuser(wire: Wire, name: str, password: str) -> None:
    """An account of the sample wire that sees every page of the desk."""
    make = f"from django.contrib.auth.models import User; User.objects.create_superuser({name!r}, password={password!r})"
    run_commands(_environment(wire.said.parent / "live" / "sample", urlsplit(wire.site).port or 80), ("shell", "-c", make))


@contextmanager
def serving_long_day(folder: Path) -> Iterator[Wire]:
    """A live wire with many stories on one day and some on the day before."""
    port = free_port()
    archive = folder / "long.ndjson"
    archive.write_text("".join(f"{json.dumps(_item(number))}\n" for number in range(LONG)), encoding="utf-8")
    # Nobody asks this wire by meaning, and its vectors take half a minute.
    run_commands(_environment(folder / "live", port) | {"WIRE_VECTORS": "0"}, ("migrate",), ("loadwire", str(archive)))
    with _serving(folder, port) as wire:
        yield wire


@contextmanager
def _serving(folder: Path, port: int) -> Iterator[Wire]:
    """What is live in `folder`, or else the sample wire there."""
    said = folder / "serve.log"
    with running(["manage.py", "serve"], _environment(folder / "live", port), said) as site:
        yield Wire(site, said)


def _environment(data_dir: Path, port: int) -> dict[str, str]:
    """The sample wire is always in SQLite, where `serve` looks for it."""
    return environment(data_dir, port) | (services(data_dir) if data_dir.name == "live" else {})


def _item(number: int) -> Mapping[str, str]:
    fruit = ("Quince", "Medlar", "Sloe", "Damson", "Bilberry", "Rowan", "Mulberry", "Loquat")[number % 8]
    verb = ("raises a round of funding", "launches a chatbot", "publishes research on agents", "is sued over its models")[
        number % 4
    ]
    letters = hashlib.sha256(str(number).encode()).hexdigest().translate(str.maketrans("0123456789", "ghijklmnop"))
    names = " ".join(letters[at : at + 6].capitalize() for at in range(0, 24, 6))  # so that no two tell of one event
    return {
        "title": f"{fruit} {names} {verb}",
        "url": f"https://techcrunch.com/2026/03/story-{number}/",
        "publisher": "TechCrunch",
        "published_at": f"2026-03-02T{number % 24:02}:{number % 60:02}:00Z" if number >= 40 else f"2026-03-01T10:{number:02}:00Z",
        "summary": f"The AI firm {fruit}{number * 7919} said so on Monday. It has {number + 2} robots.",
    }
