"""Watch other wires' logs, and sign what was seen."""

import urllib.request
from argparse import ArgumentParser
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config.database import faults
from config.errors import WireError
from wire.snapshots.witness import look

LARGEST: Final = 1 << 20  # bytes of an answer


class Command(BaseCommand):
    help = (
        "Look at the log of each wire given, and sign its checkpoint if it holds all that was seen before. The signature is served "
        "at /api/log/witnessed.json. Run it as often as the other wire publishes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("urls", nargs="+", metavar="URL", help="the other wire's site, such as https://wire.example")

    def handle(self, *, urls: list[str], **_options: Any) -> None:
        wrong = []
        for url in urls:
            try:
                with faults.explaining():
                    seen = look(url, _get)
                self.stdout.write(f"{seen.origin}: {seen.size} snapshots, all that were seen before among them. Signed.")
            except WireError as error:
                wrong.append(f"{error.message} {error.hint}")
        if wrong:
            raise CommandError("\n".join(wrong))


def _get(url: str) -> bytes:
    """Raises: OSError, ValueError."""
    if urlsplit(url).scheme not in ("http", "https"):
        raise ValueError(f"{url} is no web address")
    request = urllib.request.Request(url, headers={"User-Agent": f"ChatbotNewsWire/1.0 (+{settings.WIRE_SITE_URL})"})  # noqa: S310
    with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310  the two schemes above
        body: bytes = answer.read(LARGEST + 1)
    if len(body) > LARGEST:
        raise ValueError(f"{url} answers with more than {LARGEST:,} bytes")
    return body
